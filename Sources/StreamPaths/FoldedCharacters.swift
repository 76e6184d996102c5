/// Tells how servers and stores that fold characters (Unicode normalization forms, case, width, accents) change those
/// beyond ASCII.
///
/// Folding turns `‥` (U+2025) into two dots, `／` (U+FF0F) into a slash, and drops a zero-width space. Only letters,
/// marks and decimal digits are accepted, by Unicode's general category, because they fold only to letters, marks and
/// digits. Marks vanish when accents are stripped, so each mark must follow a letter or a digit; the name then always
/// keeps one of those. A test folds every accepted character and verifies this.
enum FoldedCharacters {
    /// Whether the name is still a single name after folding, and not a step up to the parent folder.
    static func keepItsParts(_ name: String) -> Bool {
        var followsLetter = false
        for scalar in name.unicodeScalars {
            switch fate(of: scalar) {
            case .unknown: return false
            case .sign: followsLetter = false
            case .stays: followsLetter = true
            case .mayVanish: guard followsLetter else { return false }
            }
        }
        return true
    }

    enum Fate {
        /// An ASCII character that is neither a letter nor a digit.
        case sign
        /// A letter or digit, which folding turns into letters and digits.
        case stays
        /// A mark, or a letter that is a compatibility form of one. Folding may leave nothing of it, or a space.
        case mayVanish
        /// Any other character. How servers fold it is not known.
        case unknown
    }

    static func fate(of scalar: Unicode.Scalar) -> Fate {
        let properties = scalar.properties
        switch properties.generalCategory {
        case _ where properties.isDefaultIgnorableCodePoint: return .unknown
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber:
            return properties.isGraphemeExtend || isSpaceAndMark(scalar) ? .mayVanish : .stays
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mayVanish
        default: return scalar.isASCII ? .sign : .unknown
        }
    }

    /// Whether the letter's compatibility form begins with a space (Unicode Character Database, Decomposition_Mapping).
    /// This applies to the Greek iota below, and to marks and ligatures among the Arabic presentation forms.
    private static func isSpaceAndMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x037A, 0xFC5E...0xFC63, 0xFDFA...0xFDFB, 0xFE70...0xFE7F: true
        default: false
        }
    }
}
