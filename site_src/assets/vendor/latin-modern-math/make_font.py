"""Make atlas-math.woff2 from latinmodern-math.otf, beside which this is run; README.txt says what
it changes, and why.
"""

from fontTools import subset
from fontTools.ttLib import TTFont

CHARACTERS = (
    "20-7E,A0,AC,B1,B7,D7,F7,391-3A9,3B1-3C9,3D1,3D5,3F5,2013,2014,2016,2026,2032,"
    "2061-2064,210E,2113,2190-2194,21A6,21D2,"
    "2202,2207,2208,220F,2211-2213,2217,221A,221D,221E,2223,2225,2229-222B,2248,2260,2261,"
    "2264,2265,226A,226B,2295,2297,"
    "22A4,22A5,22C5,22EF,2308-230B,27E8,27E9,1D434-1D467,1D6A4,1D6A5,1D6E4-1D71B"
)
ITALICS = range(0x1D434, 0x1D71C)
NAMES = {1: "Atlas Math", 3: "Atlas Math 1.959", 4: "Atlas Math", 6: "AtlasMath-Regular"}

font = TTFont("latinmodern-math.otf", recalcTimestamp=False)
for table in font["cmap"].tables:
    table.cmap[0x2032] = "minute.st"

constants, glyphs = font["MATH"].table.MathConstants, font["MATH"].table.MathGlyphInfo
constants.SubscriptBaselineDropMin.Value, constants.SuperscriptBaselineDropMax.Value = 50, 386
corrections = dict(
    zip(
        glyphs.MathItalicsCorrectionInfo.Coverage.glyphs,
        glyphs.MathItalicsCorrectionInfo.ItalicsCorrection,
        strict=True,
    )
)
for glyph in {font.getBestCmap().get(character) for character in ITALICS} & corrections.keys():
    width, left = font["hmtx"][glyph]
    font["hmtx"][glyph] = (width + corrections[glyph].Value, left)
    corrections[glyph].Value = 0

subsetter = subset.Subsetter(subset.Options(layout_features=[], hinting=False))
subsetter.populate(unicodes=subset.parse_unicodes(CHARACTERS))
subsetter.subset(font)
for number, name in NAMES.items():
    font["name"].setName(name, number, 3, 1, 0x409)
font["CFF "].cff.fontNames = [NAMES[6]]
font.flavor = "woff2"
font.save("atlas-math.woff2")
