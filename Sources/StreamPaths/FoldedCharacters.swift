/// Tells how servers and stores that fold characters change those beyond ASCII: by Unicode's normalization forms, by
/// case, by dropping accents, or by the best fit of a common Windows code page.
///
/// Folding turns `‥` (U+2025) into two dots, `／` (U+FF0F) into a slash, `¥` into a backslash, and drops a zero-width
/// space. A name with such a character is rejected. All other letters, digits, punctuation and symbols are accepted.
/// Transliteration, which turns `¿` into a question mark, is not folding; only the slashes and backslashes that it
/// makes are rejected. A test folds every accepted character, and compares the lists below with public data
/// (`Tests/StreamPaths/signs.py`).
enum FoldedCharacters {
    /// Checks that the name is still a single name after folding, and not a step up to the parent folder.
    static func check(_ name: String) throws(PathNameError) {
        var (followsLetter, followsEmoji) = (false, false)
        // The name in ASCII: letters for what stays, and spaces for those beyond ASCII.
        var folded: [UInt8] = []
        for scalar in name.unicodeScalars {
            switch fate(of: scalar) {
            case .becomesSign: throw .folds(scalar)
            case .unknown: throw .unknown(scalar)
            case .sign, .space:
                (followsLetter, followsEmoji) = (false, false)
                folded.append(scalar.isASCII ? UInt8(truncatingIfNeeded: scalar.value) : UInt8(ascii: " "))
            case .stays:
                (followsLetter, followsEmoji) = (true, scalar.properties.isEmoji)
                folded.append(UInt8(ascii: "x"))
            case .mayVanish: guard followsLetter else { throw .vanishes(scalar) }
            case .joinsEmoji: guard followsEmoji else { throw .vanishes(scalar) }
            }
        }
        guard !PathName.bare(folded[...]).isEmpty else { throw .stepsUp }
    }

    enum Fate {
        /// An ASCII character that is neither a letter nor a digit.
        case sign
        /// A space or a plus sign beyond ASCII, which folding turns into that of ASCII.
        case space
        /// A letter, digit, symbol or punctuation mark, of which folding leaves something that is no sign of a path.
        case stays
        /// A mark, or a letter or symbol whose compatibility form is one. Folding may leave nothing of it, or a space.
        case mayVanish
        /// A character that joins emoji into one, or selects how one looks. Folding may drop it.
        case joinsEmoji
        /// A character that folding turns into `.`, `/`, `\`, `%`, `;`, `?`, `#`, `:` or `*`, or into text with one of
        /// these.
        case becomesSign
        /// Any other character. How servers fold it is not known, or they drop it.
        case unknown
    }

    static func fate(of scalar: Unicode.Scalar) -> Fate {
        switch scalar.value {
        case 0x00A5, 0x00B4, 0x00B7, 0x00BC...0x00BE, 0x00F7, 0x013F...0x0140, 0x037E, 0x0387, 0x0589, 0x066A, 0x1FFD,
            0x2022, 0x2024...0x2026, 0x2030, 0x2044, 0x2047...0x2049, 0x20A9, 0x2100...0x2101, 0x2105...0x2106,
            0x2150...0x215F, 0x2189, 0x2215...0x2217, 0x2236, 0x2488...0x249B, 0x2571...0x2572, 0x27CB, 0x27CD,
            0x29F5, 0x29F8...0x29F9, 0x2A74, 0x3002, 0x33A7...0x33A8, 0x33AE...0x33AF, 0x33C2, 0x33C6...0x33C7,
            0x33D8, 0x33DE...0x33DF, 0xFE12...0xFE14, 0xFE16, 0xFE19, 0xFE30, 0xFE52, 0xFE54...0xFE56, 0xFE5F, 0xFE61,
            0xFE68, 0xFE6A, 0xFF03, 0xFF05, 0xFF0A, 0xFF0E...0xFF0F, 0xFF1A...0xFF1B, 0xFF1F, 0xFF3C, 0xFF61,
            0xFFE5...0xFFE6, 0x1F100:
            return .becomesSign
        // The compatibility form has a plus sign, which some servers read as a space.
        case 0x207A, 0x208A, 0xFB29, 0xFE62, 0xFF0B: return .space
        // The compatibility form has a space: the Greek iota below, overlines, marks and ligatures of Arabic.
        case 0x037A, 0x2017, 0x203E, 0xFC5E...0xFC63, 0xFDFA...0xFDFB, 0xFE49...0xFE4C, 0xFE70...0xFE74,
            0xFE76...0xFE7F:
            return .mayVanish
        // The zero-width joiner, the two selectors of a presentation, and the tag letters of a flag (UTS 51, 1.4).
        case 0x200D, 0xFE0E...0xFE0F, 0xE0061...0xE007A, 0xE007F: return .joinsEmoji
        // U+FFFC and U+FFFD stand for what some program could not read.
        case 0xFFFC...0xFFFD: return .unknown
        default: break
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case _ where properties.isDefaultIgnorableCodePoint: return .unknown
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
            return properties.isGraphemeExtend ? .mayVanish : .stays
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mayVanish
        case _ where scalar.isASCII: return .sign
        case .spaceSeparator: return .space
        // Accents that stand alone, such as `¨`, are a space and a mark; skin tones follow an emoji.
        case .modifierSymbol: return .mayVanish
        case .letterNumber, .otherNumber, .mathSymbol, .currencySymbol, .otherSymbol, .connectorPunctuation,
            .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation, .finalPunctuation,
            .otherPunctuation:
            return .stays
        default: return .unknown
        }
    }
}
