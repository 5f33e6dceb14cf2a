"""Numbers, counts and names as text: rounding that never overstates, counts with their nouns, and
visible control characters.
"""

import json
import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from itertools import pairwise

import numpy as np

from generator.numerics.arrays import FLAT, Array

MOST_DIGITS = 9
LEAST, MOST = 1e-4, 1e9  # Magnitudes between which a number is written without a power of ten.
# Unicode categories: controls, format characters, line separators, surrogates, private use,
# unassigned.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
SIGNIFICANT = 4
MEASURED = 3  # significant digits
TENTH, TEN = 0.1, 10.0  # Below them, values have fewer digits, and per cent a decimal.
MORE = 2  # Most decimals beyond the usual ones, of an uncertain value or of one near a limit.
SINGLE = 1e-6  # Relative rounding error of arithmetic in single precision.
MOST_WHOLE = 1e15
# What a value that is not equal to it is never written as; of per cent the second.
LIMITS = ((1.0, -1.0), (100.0,))
ENDS, PRINTED = 3, 4  # of a matrix: rows and columns at either end; decimals
MOST_PRINTED = 400  # characters of a line of it
EXACT = Context(prec=400, rounding=ROUND_HALF_UP)  # Has all digits of any number.
WHOLE = 1e-12  # Relative rounding error up to which a number counts as an integer.
LONGEST_NAME = 40  # characters
MOST_OF_VALUE = 60  # characters of a setting
MOST_LISTED = 64  # things in a sentence
LONGEST_SLUG = 80  # characters; it is part of addresses
CLOSE = frozenset({"%", "°"})  # Units without a space before them.
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
GIB = 2**30  # bytes
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# What a sentence says beside its claim: in brackets, after a colon, a semicolon or the end of the
# first sentence, and in a clause that gives a reason or another number.
BRACKETS, EVIDENCE = re.compile(r" ?\([^()]*\)"), re.compile(r"[:;.](?: |$)")
REASON = re.compile(
    r", (?:against|although|as if|as many|because|by a factor|a factor|slows|so|that of|where) "
)
BUT = re.compile(", but ")
OF_MARKUP = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})


def slugify(text: str) -> str:
    """``text`` as lower-case ASCII words joined by hyphens, at most ``LONGEST_SLUG`` characters;
    empty without ASCII letters or digits.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_SLUG]


def visible(text: str) -> str:
    """``text`` with invisible characters escaped as \\uXXXX."""
    return "".join(
        f"\\u{ord(character):04x}" if unicodedata.category(character) in UNSEEN else character
        for character in text
    )


def json_in_markup(packed: str) -> str:
    """JSON in ASCII for within HTML, XML or a script, whose element it does not end."""
    return packed.translate(OF_MARKUP)


def short(name: str, most: int = LONGEST_NAME) -> str:
    """``name``, shortened in the middle where it has more than ``most`` characters."""
    half = most // 2
    return name if len(name) <= most else f"{name[: most - half - 1]}…{name[-half:]}"


def as_json(value: object, most: int = MOST_OF_VALUE) -> str:
    """A setting as a file has it, shortened in the middle."""
    return short(json.dumps(value, default=str), most)


def times(shape: Sequence[int]) -> str:
    """The sizes of an array without axes of length 1, as in 512 × 64."""
    return " × ".join(f"{size:,}" for size in shape if size != 1) or "1"


def tensor_in_words(name: str, shape: Sequence[int]) -> str:
    """A tensor as sentences name it, as in “wpe.weight” (512 × 64)."""
    return f"“{short(name)}” ({times(shape)})"


def short_title(title: str, most: int) -> str:
    """``title`` with its first words and its last one where it has more than ``most`` characters;
    cut within a word only where no two fit.
    """
    if len(title) <= most:
        return title
    *words, last = title.split(" ")
    start = ""
    for word in words:
        longer = f"{start} {word}".strip()
        if len(f"{longer} … {last}") > most:
            break
        start = longer
    return f"{start.rstrip(',')} … {last}" if start else short(title, most)


def claim(text: str) -> str:
    """The claim of a finding, without its evidence: what stands before the first colon, semicolon
    or full stop, and before a reason, without brackets.
    """
    return REASON.split(EVIDENCE.split(BRACKETS.sub("", text), maxsplit=1)[0], maxsplit=1)[0]


def first_clause(text: str) -> str:
    """What a finding begins with, up to the first colon, semicolon or full stop, with it, or to
    the comma before a reason or an objection; whatever stands in brackets.
    """
    plain = BRACKETS.sub(lambda inner: "_" * len(inner[0]), text)
    ends = [found.end() for found in [EVIDENCE.search(plain)] if found]
    ends += [found.start() + 1 for found in [REASON.search(plain), BUT.search(plain)] if found]
    return text[: min(ends, default=len(text))]


def plural(count: int, noun: str, many: str = "") -> str:
    """``count`` of what ``noun`` names, such as 1 row or 2 rows. many: the plural, unless with s"""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


def with_unit(shown: str, unit: str) -> str:
    """A number as it is shown, and its unit: 3 positions, 26%, 40°, 2."""
    return f"{shown}{'' if unit in CLOSE else ' '}{unit}".strip()


def thousands(count: int) -> str:
    """An integer with thousands separators."""
    return f"{count:,}"


def enumerated(items: Sequence[str]) -> str:
    """``items``, one at least, as a list within a sentence: one, two and three. Of more than
    ``MOST_LISTED``, the first ones, how many others there are, and the last.
    """
    if len(items) > MOST_LISTED:
        items = [*items[:MOST_LISTED], f"{len(items) - MOST_LISTED - 1:,} others", items[-1]]
    return " and ".join(text for text in (", ".join(items[:-1]), items[-1]) if text)


def counted(count: int, total: int, noun: str, verb: str) -> str:
    """Subject and verb of a sentence on how many of ``total`` do something: "3 of 8 heads look".

    noun: in the singular; verb: in the plural
    """
    if total == 1:
        return f"The only {noun} {verb}s" if count else f"The only {noun} does not {verb}"
    if count == 0:
        return f"No {noun} {verb}s"
    if count == 1:
        return f"1 of {total} {noun}s {verb}s"
    return f"All {total} {noun}s {verb}" if count == total else f"{count} of {total} {noun}s {verb}"


def _at(value: float, n_decimals: int) -> Decimal:
    """``value`` with so many decimals, halves away from zero: 12.5 is 13. What is rounded is the
    shortest decimal that means it, so that 0.285, which is stored as 0.28499…, is 0.29.
    """
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-n_decimals), context=EXACT)


def _nearest(value: float, digits: int) -> float:
    """``value`` to so many significant digits, rounded as by ``_at``."""
    return float(Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(repr(float(value))))


def rounded(value: float | None, digits: int, *limits: float) -> str:
    """``value`` with ``digits`` decimals, or as many more, up to ``MOST_DIGITS``, as it takes to
    differ from each of ``limits`` that it does not equal up to ``FLAT``.

    “not defined” for None and values that are not finite.
    """
    if value is None or not math.isfinite(value):
        return "not defined"
    n_decimals = digits
    while n_decimals < MOST_DIGITS and any(
        float(_at(value, n_decimals)) == limit and abs(value - limit) > FLAT for limit in limits
    ):
        n_decimals += 1
    return f"{_at(value, n_decimals):z,.{n_decimals}f}".replace("-", "−")


def measured(value: float | None, unit: str = "") -> str:
    """A measured value as every sentence and table of a site writes it, without its unit: per cent
    whole, and with one decimal below ten; others to three significant digits, two below a tenth,
    and two decimals at most; whole numbers in full, and no decimals that are all zero. As many
    more digits as tell it from 0, 1, −1 and 100%, unless it equals the last three up to ``SINGLE``;
    where that takes over ``MORE`` of them, only on which side it is, as in over 99.99; powers of
    ten for extreme values.

    “not defined” for None and values that are not finite.
    """
    if value is None or not math.isfinite(value):
        return "not defined"
    nearby = math.isclose(value, round(value), rel_tol=WHOLE, abs_tol=FLAT)
    if abs(value) < MOST_WHOLE and nearby:
        return f"{round(value):,}".replace("-", "−")
    nearest = abs(_nearest(value, MEASURED))
    if not LEAST <= nearest < MOST:
        return significant(value, MEASURED)
    n_decimals = _decimals_of(abs(value) if unit == "%" else nearest, unit)
    for limit in LIMITS[unit == "%"]:
        if math.isclose(value, limit, rel_tol=SINGLE):
            return f"{limit:.0f}".replace("-", "−")
        if rounded(value, n_decimals + MORE) == rounded(limit, n_decimals + MORE):
            return _beyond(value, limit, n_decimals + MORE)
    return fixed(value, n_decimals, 0.0, *LIMITS[unit == "%"])


def _beyond(value: float, limit: float, n_decimals: int) -> str:
    """On which side of ``limit`` a ``value`` is that has its first decimals: over 0.9999."""
    step = math.copysign(10.0**-n_decimals, value - limit)
    return f"{'under' if step > 0.0 else 'over'} {rounded(limit + step, n_decimals)}"


def _decimals_of(size: float, unit: str) -> int:
    """Decimals of a ``measured`` value of this size."""
    if unit == "%":
        return int(_at(size, 1) < TEN)
    if size < TENTH:
        return decimals(_nearest(size, MEASURED - 1), MEASURED - 1)
    return min(MEASURED - 1, decimals(size, MEASURED))


def uncertain(value: float, spread: float | None, unit: str = "") -> str:
    """A measured ``value`` ± its ``spread``, with the decimals of the first digit of the spread;
    ``measured`` alone without a spread, or with one of more than two decimals more.
    """
    alone = measured(value, unit)
    if spread is None or not math.isfinite(spread) or spread <= 0.0 or not math.isfinite(value):
        return alone
    n_decimals = decimals(_nearest(spread, 1), 1)
    if n_decimals > _decimals_of(abs(value), unit) + MORE:
        return alone
    return f"{rounded(value, n_decimals)} ± {rounded(spread, n_decimals)}"


def significant(value: float | None, digits: int) -> str:
    """``value`` to ``digits`` significant digits, with thousands separators, and powers of ten for
    extreme values.

    “not defined” for None and values that are not finite.
    """
    if value is None or not math.isfinite(value):
        return "not defined"
    nearest = _nearest(value, digits)
    if nearest != 0.0 and not LEAST <= abs(nearest) < MOST:
        mantissa, exponent = f"{nearest:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}".replace(
            "-", "−"
        )
    text = f"{nearest:,.{decimals(nearest, digits)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def fixed(value: float, digits: int, *limits: float) -> str:
    """``rounded`` without decimals that are all zero."""
    text = rounded(value, digits, *limits)
    integer, _, fraction = text.partition(".")
    return text if fraction.strip("0") else integer


def number(value: float | None) -> str:
    """Four significant digits, or all before the decimal point, with thousands separators; “–” for
    None, NaN and infinity.

    Integers up to rounding have no decimals, other extreme values powers of ten.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    nearest = _nearest(value, SIGNIFICANT)
    if abs(value) < MOST_WHOLE and math.isclose(value, round(value), rel_tol=WHOLE):
        text = f"{round(value):,}"
    elif LEAST <= abs(nearest) < MOST:
        n_decimals = decimals(nearest, SIGNIFICANT)
        text = f"{_at(value, n_decimals):,.{n_decimals}f}"
    else:
        mantissa, exponent = f"{nearest:.{SIGNIFICANT - 1}e}".split("e")
        text = f"{mantissa} × 10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    return text.replace("-", "−")


def decimals(value: float, digits: int) -> int:
    """Number of decimals that gives ``digits`` significant digits."""
    return max(0, digits - 1 - int(f"{value:e}".split("e")[1]))


def memory(count: int) -> str:
    """A number of bytes: in units of 1,000 and to four significant digits, as in 131.1 kB, and from
    1 GB on also in those of 1,024, in which programs count memory, as in 6.442 GB (6 GiB).
    """
    size, name = next(((size, name) for size, name in BYTES if count >= size), (1.0, ""))
    text = f"{significant(count / size, SIGNIFICANT)} {name}" if name else plural(count, "byte")
    return f"{text} ({significant(count / GIB, SIGNIFICANT)} GiB)" if size == BYTES[0][0] else text


def in_words(number: float) -> str:
    """A number as spoken, to two digits: about 22 thousand, about 220 million, more than a
    trillion.
    """
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if _nearest(number, 2) >= size:
            return (
                "more than a trillion"
                if name == "trillion"
                else f"about {_nearest(number, 2) / size:g} {name}"
            )
    return f"about {_nearest(number, 2):g}"


def ranges(indices: Array, most: int = 4) -> str:
    """Ascending integers (n,), one at least, as text, with runs joined: “0–9, 1023”; at most
    ``most`` runs are listed.
    """
    runs = np.split(indices, np.flatnonzero(np.diff(indices) > 1) + 1)
    texts = [f"{run[0]}" if run.size == 1 else f"{run[0]}–{run[-1]}" for run in runs[:most]]
    more = len(runs) - most
    return ", ".join(texts) + (f" and {plural(more, 'more range')}" if more > 0 else "")


def spans(starts: Sequence[int]) -> str:
    """Ranges that follow each other, by their ascending first numbers: “8–11, 12–15, 16 and
    more”.
    """
    closed = [ranges(np.arange(first, after)) for first, after in pairwise(starts)]
    return ", ".join([*closed, f"{starts[-1]} and more"])


def pattern(indices: Sequence[int]) -> str:
    """Ascending integers as text: “3, 7, … 47 (one in 4)” where they are evenly spaced, else
    their ``ranges``, at most ``MOST_LISTED``.
    """
    steps = set(np.diff(indices).tolist())
    if len(indices) > 3 and len(steps) == 1 and steps != {1}:
        return f"{indices[0]}, {indices[1]}, … {indices[-1]} (one in {steps.pop()})"
    return ranges(np.array(indices), most=MOST_LISTED)


def between(low: float | None, high: float | None, unit: str = "") -> str:
    """The range of two measured values; the one that both are."""
    first, last = measured(low, unit), measured(high, unit)
    return first if first == last else f"{first} to {last}"


def printed(table: Array) -> str:
    """A matrix as numpy prints one: the first and last ``ENDS`` rows and columns, with four
    decimals.
    """
    return np.array2string(
        np.asarray(table, dtype=np.float64),
        precision=PRINTED,
        suppress_small=True,
        threshold=0,
        edgeitems=ENDS,
        floatmode="fixed",
        max_line_width=MOST_PRINTED,
    )


def printed_rows(rows: Array) -> str:
    """Every row of a matrix, each as ``printed`` shows it: (n_rows, n_columns)."""
    shown = np.concatenate([rows[:, :ENDS], rows[:, -ENDS:]], axis=1)
    width = max(len(f"{value:.{PRINTED}f}") for value in shown.flat)
    lines = (
        np.array2string(
            row,
            threshold=0,
            edgeitems=ENDS,
            formatter={"float_kind": lambda value: f"{value:{width}.{PRINTED}f}"},
            max_line_width=MOST_PRINTED,
        )
        for row in np.asarray(rows, dtype=np.float64)
    )
    return "[" + "\n ".join(lines) + "]"
