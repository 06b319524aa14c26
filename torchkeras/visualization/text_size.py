"""How wide a text may become, in a font that is not known: rather too wide than too narrow."""

from __future__ import annotations

import unicodedata

# Letters by their width in parts of the font's size, in DejaVu Sans, a wide one of the fonts that a viewer may take.
LETTERS = {
    0.3: "'IJijl",
    0.35: " ,./:;\\|",
    0.4: "()-[]ft",
    0.45: "!r",
    0.5: '"*_`',
    0.55: "?csz",
    0.6: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.7: "ABCKRVXZ",
    0.75: "NU",
    0.8: "&DGHOQ·",
    0.85: "#+<=>^w~",
    0.9: "M",
    1.0: "%@Wm…",
}
WIDTHS = {letter: width for width, letters in LETTERS.items() for letter in letters}
OTHER = 1.1  # other scripts: a square, and some more
BOLD = 1.2


def width(text: str, size: float, bold: bool = False) -> float:
    """An upper bound of the width of a line."""
    return sum(map(_letter, text)) * size * (BOLD if bold else 1)


def _letter(letter: str) -> float:
    return WIDTHS.get(letter, 0.0 if unicodedata.combining(letter) else OTHER)


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
