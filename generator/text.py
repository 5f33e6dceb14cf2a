"""Numbers, counts and names as text."""

import math
import unicodedata

from generator.numerics.arrays import FLAT

MOST_DIGITS = 9
LEAST, MOST = 1e-4, 1e9  # Absolute values outside this range are written with a power of ten.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # Unicode categories: controls, formats, non-characters, separators.
SIGNIFICANT = 4
WHOLE = 1e-12  # Relative difference from an integer that counts as a rounding error.
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def visible(text: str) -> str:
    """``text`` with invisible characters escaped as \\uXXXX."""
    return "".join(f"\\u{ord(mark):04x}" if unicodedata.category(mark) in INVISIBLE else mark for mark in text)


def counted(count: int, total: int, noun: str, verb: str) -> str:
    """Beginning of a sentence about ``count`` of ``total``, such as “2 of 6 heads favour”. verb: in its plain form"""
    if total == 1:
        return f"The only {noun} {verb}s" if count else f"The only {noun} does not {verb}"
    if count == 0:
        return f"No {noun} {verb}s"
    if count == 1:
        return f"1 of {total} {noun}s {verb}s"
    return f"All {total} {noun}s {verb}" if count == total else f"{count} of {total} {noun}s {verb}"


def rounded(value: float | None, digits: int, *limits: float) -> str:
    """``value`` with ``digits`` digits after the point, or with more where it would otherwise read as one of ``limits``.

    Without a finite value: “not defined”.
    """
    if value is None or not math.isfinite(value):
        return "not defined"
    n_digits = digits
    while n_digits < MOST_DIGITS and any(float(f"{value:.{n_digits}f}") == limit and abs(value - limit) > FLAT for limit in limits):
        n_digits += 1
    return f"{value:z,.{n_digits}f}".replace("-", "−")


def signed(value: float, digits: int) -> str:
    """``rounded``, with a plus sign unless it has a minus sign."""
    text = rounded(value, digits)
    return text if text.startswith("−") else f"+{text}"


def significant(value: float | None, digits: int) -> str:
    """``value`` to ``digits`` significant digits, without trailing zeros. Without a finite value: “not defined”."""
    if value is None or not math.isfinite(value):
        return "not defined"
    shortened = float(f"{value:.{digits - 1}e}")
    if shortened != 0.0 and not LEAST <= abs(shortened) < MOST:
        mantissa, exponent = f"{shortened:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}".replace("-", "−")
    text = f"{shortened:,.{decimals(shortened, digits)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def fixed(value: float, digits: int) -> str:
    """``rounded``, without the point where only zeros follow it."""
    text = rounded(value, digits)
    integer, _, fraction = text.partition(".")
    return text if fraction.strip("0") else integer


def number(value: float | None) -> str:
    """``value`` as in tables: four significant digits, or all digits before the point where there are more.

    Without a finite value: “–”. Integers, up to rounding errors, have no point.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    shortened = float(f"{value:.{SIGNIFICANT - 1}e}")
    if abs(value) < 1e15 and math.isclose(value, round(value), rel_tol=WHOLE):
        text = f"{round(value):,}"
    elif LEAST <= abs(shortened) < MOST:
        text = f"{value:,.{decimals(shortened, SIGNIFICANT)}f}"
    else:
        mantissa, exponent = f"{value:.{SIGNIFICANT - 1}e}".split("e")
        text = f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return text.replace("-", "−")


def decimals(value: float, digits: int) -> int:
    """Number of digits after the point that show ``digits`` significant digits of ``value``."""
    return max(0, digits - 1 - int(f"{value:e}".split("e")[1]))


def in_words(number: float) -> str:
    """A large number as it is spoken, to two digits: “about 22 thousand”, “more than a trillion”."""
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if float(f"{number:.2g}") >= size:
            return "more than a trillion" if name == "trillion" else f"about {float(f'{number:.2g}') / size:g} {name}"
    return f"about {float(f'{number:.2g}'):g}"
