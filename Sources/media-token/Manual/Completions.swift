internal import CommandShell

/// Scripts by which a shell completes the commands, options and words of the program.
enum Completions: String, CaseIterable {
    case bash, zsh, fish

    /// The text that the shell reads.
    func script(of program: Command) -> String {
        switch self {
        case .bash: Self.bash(program)
        case .zsh: Self.zsh(program)
        case .fish: Self.fish(program)
        }
    }

    private static func bash(_ program: Command) -> String {
        let paths = program.all.dropFirst().map { "\"\($0.syntax.name)\"" }.joined(separator: "|")
        let words = program.all.map { command in
            let options = command.syntax.options.map { "--\($0.name)\($0.value == nil ? "" : "=")" }
            let words = command.choices + options
            return "    \"\(command.syntax.name)\") words=\"\(words.joined(separator: " "))\" ;;"
        }
        // An option without words has a file, which bash completes by itself if nothing is offered.
        let values = program.all.flatMap { command in
            command.syntax.options.filter { $0.value != nil }.map { option in
                let offer = option.words.map { "words=\"\($0.joined(separator: " "))\"" } ?? "return"
                return "    \"\(command.syntax.name) --\(option.name)\") \(offer) ;;"
            }
        }
        return """
            # Completions of media-token for bash.
            _media_token() {
              local path=\(program.name) words='' word option='' i
              local current=${COMP_WORDS[COMP_CWORD]}
              for ((i = 1; i < COMP_CWORD; i++)); do
                word=${COMP_WORDS[i]}
                case "$path $word" in \(paths)) path="$path $word" ;; esac
              done
              # Bash splits --option=value into three words.
              if [[ $current == '=' ]]; then
                option=${COMP_WORDS[COMP_CWORD-1]} current=''
              elif [[ ${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then
                option=${COMP_WORDS[COMP_CWORD-2]}
              elif [[ ${COMP_WORDS[COMP_CWORD-1]} == --* ]]; then
                option=${COMP_WORDS[COMP_CWORD-1]}
              fi
              case "$path $option" in
            \(values.joined(separator: "\n"))
              esac
              if [[ -z $words ]]; then
                case "$path" in
            \(words.joined(separator: "\n"))
                esac
              fi
              COMPREPLY=($(compgen -W "$words" -- "$current"))
              [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
            }
            complete -o default -F _media_token media-token
            """
    }

    private static func zsh(_ program: Command) -> String {
        let functions = program.all.map { command in
            let options = command.syntax.options.map { option in
                let values = option.words.map { "(\($0.joined(separator: " ")))" } ?? "_files"
                let value = option.value.map { ":\($0.zshEscaped):\(values)" } ?? ""
                return "'*--\(option.name)\(value.isEmpty ? "" : "=")[\(option.help.zshEscaped)]\(value)'"
            }
            let names = command.commands.map { "\($0.name)\\:\"\($0.syntax.summary.zshEscaped)\"" }
            let first = command.choices.isEmpty ? "_files" : "(\(command.choices.joined(separator: " ")))"
            let operands =
                names.isEmpty
                ? ["'1:operand:\(first)'", "'*:operand:_files'"]
                : ["'1:command:((\(names.joined(separator: " "))))'", "'*::argument:->rest'"]
            let rest =
                names.isEmpty
                ? ""
                : "\n  [[ $state == rest ]] && (( $+functions[\(command.function)_${words[1]}] )) && \(command.function)_${words[1]}"
            return """
                \(command.function)() {
                  local state
                  _arguments \((options + operands).joined(separator: " \\\n    "))\(rest)
                }
                """
        }
        return "#compdef media-token\n" + functions.joined(separator: "\n") + "\n\(program.function) \"$@\""
    }

    private static func fish(_ program: Command) -> String {
        // A command with subcommands is completed only right after its name; any other command is also completed after
        // operands.
        let conditions = """
            # Completions of media-token for fish.
            function __media_token_words
              string join ' ' (string match -v -- '-*' (commandline -opc)[2..])
            end
            function __media_token_is
              test "$(__media_token_words)" = "$argv"
            end
            function __media_token_calls
              string match -q -- "$argv *" "$(__media_token_words) "
            end

            """
        let lines = program.all.flatMap { command in
            let words = command.words.joined(separator: " ")
            let inner = command.commands.map(\.name)
            let condition =
                "complete -c media-token -n '__media_token_\(inner.isEmpty ? "calls" : "is") \(words)'"
            let names =
                inner.isEmpty
                ? command.choices.map { "\(condition) -a \($0)" }
                : command.commands.map { "\(condition) -f -a \($0.name) -d '\($0.syntax.summary.fishEscaped)'" }
            let options = command.syntax.options.map { option in
                let value =
                    option.words.map { " -x -a '\($0.joined(separator: " "))'" }
                    ?? (option.value == nil ? "" : " -r")
                return "\(condition) -l \(option.name)\(value) -d '\(option.help.fishEscaped)'"
            }
            return names + options
        }
        return conditions + lines.joined(separator: "\n")
    }
}

extension CommandOption {
    /// The words that are the option's only values; `nil` if it has others.
    fileprivate var words: [String]? {
        // A placeholder, as in FILE|DIR, has capitals.
        guard let value, value.contains("|"), value == value.lowercased() else { return nil }
        return value.split(separator: "|").map(String.init)
    }
}

extension Command {
    /// The words of which the first operand is one: the names of its commands, or those that its syntax lists.
    fileprivate var choices: [String] {
        commands.isEmpty ? syntax.firstOperands : commands.map(\.name)
    }

    /// The name of the command's function in a script.
    fileprivate var function: String {
        "_" + syntax.name.map { $0 == " " || $0 == "-" ? "_" : String($0) }.joined()
    }
}

extension String {
    /// The text as it is written between single quotes in a specification of zsh's `_arguments`.
    fileprivate var zshEscaped: String {
        map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined().replacing("'", with: "'\\''")
    }

    /// The text as it is written between single quotes in a command of fish.
    fileprivate var fishEscaped: String { replacing("\\", with: "\\\\").replacing("'", with: "\\'") }
}
