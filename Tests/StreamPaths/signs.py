#!/usr/bin/env python3
"""Prints the characters beyond ASCII that some server turns into a sign of a path, a plus sign or a space; `StreamPathTests`
compares FoldedCharacters.swift with these lists.

A server folds a character by a normalization form of Unicode, by its case, or by the best fit of a Windows code page, and the next
server may fold what comes out. So each character is folded until nothing new comes out. Letters without a decomposition, a case
and a best fit stay as they are. Transliteration is not folding: what only it turns into a sign is not printed, apart from the
characters at the end of the list.
"""
import sys
import unicodedata

SIGNS = set("./\\%;?#:*")

# Best fits to a sign that no normalization form gives, of the code pages that are the default of some Windows locale (874, 932,
# 936, 949, 950, 1250 to 1258; of consoles 437, 720, 737, 775, 850, 852, 855, 857, 862, 866) and of ASCII and ISO 8859 as Windows
# has them (20127, 28591 to 28605). Sources: the tables bestfit*.txt at unicode.org (Public/MAPPINGS/VENDORS/MICSFT/WindowsBestFit),
# and for all pages the files c_*.nls of Wine 8.0. Pages 860, 861, 863 and 865, which no current locale has, are left out: 860, 861
# and 865 turn an acute accent (U+0301) into a slash.
BEST_FITS = {
    0x00A5: "\\",  # 932
    0x00B4: "/",  # 1253
    0x00B7: ".",  # 20127, 28592, 28594 to 28596
    0x0589: ":",  # 437, 775, 850, 852, 857, 862, 1250, 1252, 1254
    0x066A: "%",  # the same
    0x2022: ".",  # 20127, 28591 to 28605
    0x2026: ".:",  # "." in 437, 850, 862, 20127, 28591 to 28605; ":" in 855 and 866
    0x2030: "%",  # 437, 775, 850, 852, 855, 857, 862, 866
    0x2044: "/",  # 437, 775, 850, 852, 857, 862, 1250, 1252, 1254
    0x20A9: "\\",  # 949, 1361
    0x2215: "/",  # as 2044
    0x2216: "\\/",  # "/" in 850; otherwise as 2044
    0x2217: "*",  # as 2044
    0x2236: ":",  # as 2044
    # No best fit: a dot in the name of a host (UTS 46, 4.5), and in no path.
    0x3002: ".",
    # No best fit: all that glibc 2.36 transliterates to a slash or a backslash (iconv -t ascii//TRANSLIT), and nothing above gives.
    0x00F7: "/", 0x2571: "/", 0x2572: "\\", 0x27CB: "/", 0x27CD: "\\", 0x29F5: "\\", 0x29F8: "/", 0x29F9: "\\",
}


def forms(text):
    """All that becomes of a text."""
    found, left = {text}, [text]
    while left:
        text = left.pop()
        folded = {unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")}
        folded |= {text.upper(), text.lower(), text.casefold()}
        for place, letter in enumerate(text):
            folded |= {text[:place] + sign + text[place + 1:] for sign in BEST_FITS.get(ord(letter), "")}
        left += folded - found
        found |= folded
    return found


for code in range(0x80, sys.maxunicode + 1):
    character = chr(code)
    category = unicodedata.category(character)
    if category[0] in "CMZ":
        continue
    folded = "".join(forms(character))
    if SIGNS & set(folded):
        print("sign", code)
    elif "+" in folded:
        print("plus", code)
    elif " " in folded:
        print("space", code)
