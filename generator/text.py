"""Words and numbers as they are shown: counts with their nouns, rounding that claims no more than there is, and marks that cannot be seen."""

import math
import unicodedata

from generator.numerics.arrays import FLAT

MOST_DIGITS = 9
LEAST, MOST = 1e-4, 1e9  # Sizes between which a number is written out.
UNSEEN = frozenset(
    {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
)  # Unicode's categories of controls, marks of format, ends of lines, and what is no character.
SIGNIFICANT = 4
WHOLE = 1e-12  # How far rounding may leave a whole number from one, as a share of it.
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def visible(text: str) -> str:
    """``text`` with what cannot be seen spelt out as \\uXXXX."""
    return "".join(f"\\u{ord(mark):04x}" if unicodedata.category(mark) in UNSEEN else mark for mark in text)


def counted(count: int, total: int, noun: str, verb: str) -> str:
    """How many of ``total`` do what ``verb`` (in its plain form) says, as the beginning of a sentence."""
    if total == 1:
        return f"The only {noun} {verb}s" if count else f"The only {noun} does not {verb}"
    if count == 0:
        return f"No {noun} {verb}s"
    if count == 1:
        return f"1 of {total} {noun}s {verb}s"
    return f"All {total} {noun}s {verb}" if count == total else f"{count} of {total} {noun}s {verb}"


def rounded(value: float | None, digits: int, *limits: float) -> str:
    """``value`` with ``digits`` after the point, or as many more as it takes not to read as one of ``limits`` where it is none.

    “not defined” where there is no value.
    """
    if value is None or not math.isfinite(value):
        return "not defined"
    wanted = digits
    while wanted < MOST_DIGITS and any(float(f"{value:.{wanted}f}") == limit and abs(value - limit) > FLAT for limit in limits):
        wanted += 1
    return f"{value:z,.{wanted}f}".replace("-", "−")


def signed(value: float, digits: int) -> str:
    """``rounded`` with a plus before what has no minus."""
    text = rounded(value, digits)
    return text if text.startswith("−") else f"+{text}"


def significant(value: float | None, digits: int) -> str:
    """``value`` to so many significant digits, thousands separated, never with an "e"; “not defined” where it is none."""
    if value is None or not math.isfinite(value):
        return "not defined"
    near = float(f"{value:.{digits - 1}e}")
    if near != 0.0 and not LEAST <= abs(near) < MOST:
        mantissa, exponent = f"{near:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}".replace("-", "−")
    text = f"{near:,.{decimals(near, digits)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def fixed(value: float, digits: int) -> str:
    """``rounded`` without a point where only zeros would follow it."""
    text = rounded(value, digits)
    whole, _, after = text.partition(".")
    return text if after.strip("0") else whole


def number(value: float | None) -> str:
    """Four significant digits or all before the point, thousands separated, a true minus sign; "–" for what is none.

    What is whole but for rounding has no point.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    near = float(f"{value:.{SIGNIFICANT - 1}e}")
    if abs(value) < 1e15 and math.isclose(value, round(value), rel_tol=WHOLE):
        text = f"{round(value):,}"
    elif LEAST <= abs(near) < MOST:
        text = f"{value:,.{decimals(near, SIGNIFICANT)}f}"
    else:
        mantissa, exponent = f"{value:.{SIGNIFICANT - 1}e}".split("e")
        text = f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return text.replace("-", "−")


def decimals(value: float, digits: int) -> int:
    """How many digits after the point leave ``digits`` significant ones."""
    return max(0, digits - 1 - int(f"{value:e}".split("e")[1]))


def in_words(number: float) -> str:
    """A large number as it is spoken, to two digits: 22 thousand, 220 million, more than a trillion."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if float(f"{number:.2g}") >= size:
            return "more than a trillion" if name == "trillion" else f"about {float(f'{number:.2g}') / size:g} {name}"
    return f"about {float(f'{number:.2g}'):g}"
