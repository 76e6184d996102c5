/// What becomes of characters beyond ASCII on servers and in stores that fold them (Unicode normalisation forms, case, width,
/// accents).
///
/// Folding turns `‥` (U+2025) into two dots, `／` (U+FF0F) into a slash, and drops a zero-width space. Only letters, marks and
/// decimal digits pass, by Unicode's general category, because folding gives nothing but letters, marks and digits from them.
/// Marks vanish when accents are stripped, so each must follow a letter or a digit: a name then always keeps one.
/// A test folds every character that passes, and finds no other.
enum FoldedCharacters {
    /// Whether folding leaves the name one name, and no step up.
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
        /// ASCII that is neither letter nor digit.
        case sign
        /// A letter or digit, which folding turns into letters and digits.
        case stays
        /// A mark, or a letter that is one in another form, of which folding may leave nothing or a space.
        case mayVanish
        /// Any other character: nobody knows what servers make of it.
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

    /// Whether the letter's compatibility form begins with a space (Unicode Character Database, Decomposition_Mapping): the
    /// Greek iota below, and marks and ligatures among the Arabic presentation forms.
    private static func isSpaceAndMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x037A, 0xFC5E...0xFC63, 0xFDFA...0xFDFB, 0xFE70...0xFE7F: true
        default: false
        }
    }
}
