"""Numbers and counts in sentences, case by case."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from generator.text import (
    between,
    counted,
    enumerated,
    fixed,
    in_words,
    measured,
    memory,
    number,
    pattern,
    plural,
    printed,
    printed_rows,
    ranges,
    rounded,
    significant,
    spans,
    uncertain,
    visible,
    with_unit,
)
from tests.built import ROOT

# What is written, and the text; by the rule that it is a case of.
CASES = {
    "a count agrees with its noun and verb": (
        (counted(0, 6, "head", "favour"), "No head favours"),
        (counted(1, 6, "head", "favour"), "1 of 6 heads favours"),
        (counted(5, 6, "head", "favour"), "5 of 6 heads favour"),
        (counted(6, 6, "head", "favour"), "All 6 heads favour"),
        (counted(1, 1, "head", "favour"), "The only head favours"),
        (counted(0, 1, "head", "favour"), "The only head does not favour"),
        (plural(1, "position"), "1 position"), (plural(2048, "position"), "2,048 positions"),
    ),
    "rounding never reaches a limit that the value does not": (
        (rounded(0.9974, 2, 1.0), "0.997"),
        (rounded(1.0, 2, 1.0), "1.00"),
        (rounded(1.0 - 1e-15, 2, 1.0), "1.00"),
        (rounded(0.994, 2, 1.0), "0.99"),
        (rounded(99.98, 0, 100.0), "99.98"),
        (rounded(99.4, 0, 100.0), "99"),
        (rounded(0.0004, 2, 0.0), "0.0004"),
        (rounded(-0.001, 2), "0.00"),
        (rounded(-0.25, 2), "−0.25"),
        (rounded(2105.4, 0), "2,105"),
        (rounded(None, 2), "not defined"),
        (rounded(float("nan"), 2, 0.0), "not defined"),
    ),
    "decimals are dropped when all are zero": (
        (fixed(0.25, 3), "0.250"), (fixed(-0.25, 3), "−0.250"), (fixed(2.0004, 3), "2"),
        (fixed(1024.0, 3), "1,024"), (fixed(0.0, 3), "0"), (fixed(0.1, 3), "0.100"),
    ),
    "large numbers are written in words": (
        (in_words(22_026.0), "about 22 thousand"), (in_words(2.2e8), "about 220 million"),
        (in_words(9.99e8), "about 1 billion"), (in_words(5.9e10), "about 59 billion"),
        (in_words(2e13), "more than a trillion"), (in_words(12.3), "about 12"),
    ),
    "significant digits are written out": (
        (significant(2105.0, 2), "2,100"), (significant(0.4213, 2), "0.42"),
        (significant(1.0, 2), "1"), (significant(4.96e-3, 2), "0.005"),
        (significant(-25.04, 3), "−25"), (significant(2.7e-15, 2), "2.7 × 10⁻¹⁵"),
        (significant(0.0, 3), "0"), (significant(float("nan"), 3), "not defined"),
        (significant(999.6, 3), "1,000"), (significant(-3.1e12, 2), "−3.1 × 10¹²"),
    ),
    "runs of numbers are joined": (
        (ranges(np.array([0, 1, 2, 7, 9, 10])), "0–2, 7, 9–10"),
        (spans([7, 8, 99, 113]), "7, 8–98, 99–112, 113 and more"),
        (ranges(np.arange(0, 12, 2)), "0, 2, 4, 6 and 2 more ranges"),
    ),
    "a list within a sentence has an end": (
        (enumerated(["a", "b", "c"]), "a, b and c"),
        (enumerated(["a"] * 64 + ["b"] * 1000 + ["c"]), f"{64 * 'a, '}1,000 others and c"),
    ),
    "layers are listed up to a number of ranges": (
        (pattern([3, 7, 11, 15]), "3, 7, … 15 (one in 4)"),
        (pattern([i for i in range(4096) if i % 4 != 3])[-27:], "252–254 and 960 more ranges"),
    ),
    "measured shares are whole per cent, with a decimal below ten": (
        (measured(86.37, "%"), "86"), (measured(5.67, "%"), "5.7"), (measured(9.96, "%"), "10"),
        (measured(100.0, "%"), "100"), (measured(99.7, "%"), "99.7"), (measured(0.04, "%"), "0.04"),
    ),
    "other measured values have three digits, and two decimals at most": (
        (measured(0.8513), "0.85"), (measured(43.93), "43.9"), (measured(508.3), "508"),
        (measured(12345.6), "12,346"), (measured(99.96), "100"), (measured(-0.12), "−0.12"),
        (measured(0.0583), "0.058"), (measured(0.0996), "0.10"), (measured(1e-6), "1 × 10⁻⁶"),
        (measured(8.0000001), "8"), (measured(0.5), "0.50"),
    ),
    "halves are rounded away from zero, and so is a decimal that is stored as less": (
        (measured(12.5, "%"), "13"), (measured(87.5, "%"), "88"), (measured(-12.5, "%"), "−13"),
        (measured(0.285), "0.29"), (measured(2.675), "2.68"), (measured(9.945, "%"), "9.9"),
        (rounded(0.125, 2), "0.13"), (rounded(-2.5, 0), "−3"), (significant(0.28535, 4), "0.2854"),
        (number(1.0005), "1.001"), (number(12345.5), "12,346"), (rounded(1e300, 1)[:2], "1,"),
    ),
    "a size has units of 1,000, and from a GB on those of 1,024 too": (
        (memory(0), "0 bytes"), (memory(1), "1 byte"), (memory(999), "999 bytes"),
        (memory(131_072), "131.1 kB"), (memory(536_870_912), "536.9 MB"),
        (memory(6_442_450_944), "6.442 GB (6 GiB)"),
        (memory(1_023_000_000), "1.023 GB (0.9527 GiB)"),
    ),
    "units that are signs follow without a space": (
        (with_unit("40", "°"), "40°"), (with_unit("26", "%"), "26%"),
        (with_unit("2", "rad"), "2 rad"), (with_unit("2", ""), "2"),
    ),
    "measured values differ from what they do not equal": (
        (measured(0.9984), "0.998"), (measured(-0.9984), "−0.998"), (measured(1.0004), "1.0004"),
        (measured(1.0 - 1e-10), "1"), (measured(3e-14), "0"), (measured(3.0), "3"),
        (measured(None), "not defined"), (between(5.67, 5.69, "%"), "5.7"),
        (between(43.9, 508.3), "43.9 to 508"),
    ),
    "of values nearer to a limit than digits tell, only their side is given": (
        (measured(99.96, "%"), "99.96"), (measured(99.996, "%"), "over 99.99"),
        (measured(0.99998), "over 0.9999"), (measured(1.00002), "under 1.0001"),
        (measured(-0.99998), "under −0.9999"), (measured(100.004, "%"), "under 100.01"),
    ),
    "what single precision cannot tell from a limit equals it": (
        (measured(0.99999998), "1"), (measured(-0.9999999), "−1"),
        (measured(100.00001, "%"), "100"),
    ),
    "an uncertain value has the decimals of its uncertainty": (
        (uncertain(11.2, 0.34), "11.2 ± 0.3"), (uncertain(191.6, 2.4), "192 ± 2"),
        (uncertain(1.013, 0.062), "1.01 ± 0.06"), (uncertain(77.34, 0.42, "%"), "77.3 ± 0.4"),
        (uncertain(77.34, 13.2, "%"), "77 ± 13"), (uncertain(0.7735, 0.0042), "0.774 ± 0.004"),
        (uncertain(11.2, 0.0004), "11.2"), (uncertain(11.2, None), "11.2"),
        (uncertain(0.0, 0.0), "0"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_numbers_and_counts_are_written_by_rules(rule: str) -> None:
    assert [(found, text) for found, text in CASES[rule] if found != text] == []


def test_whatever_character_a_text_has_xml_can_hold_what_is_visible_of_it() -> None:
    for code in (*range(0x3000), *range(0xD700, 0x10000), 0x1FFFE, 0xE0001, 0x10FFFF):
        element = ElementTree.Element("a")
        element.text = shown = visible(f"a{chr(code)}b")
        read = ElementTree.fromstring(ElementTree.tostring(element))  # noqa: S314 (our own)
        assert read.text == shown, hex(code)


def _fixed_decimals(path: Path) -> Iterator[str]:
    """Expressions in f-strings of a module that have their own number of digits."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.FormattedValue)
            and node.format_spec is not None
            and re.search(r"\.\d+[efg%]", ast.unparse(node.format_spec))
        ):
            yield f"{path.stem}: {ast.unparse(node.value)}"


@pytest.mark.parametrize("room", ["analyses", "schemes", "contracts", "site/pages"])
def test_only_one_module_formats_numbers_for_readers(room: str) -> None:
    assert [
        expression
        for path in sorted((ROOT / "generator" / room).rglob("*.py"))
        for expression in _fixed_decimals(path)
    ] == []


PRINTED: dict[str, Any] = {
    "precision": 4,
    "suppress_small": True,
    "floatmode": "fixed",
    "threshold": 0,
}


@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0])
def test_matrices_are_printed_as_by_numpy(scale: float) -> None:
    table = scale * np.random.default_rng(0).normal(size=(9, 12))
    lines = np.array2string(table, edgeitems=3, **PRINTED).splitlines()
    assert printed(table).splitlines() == lines
    assert [line.count("...") for line in lines] == [1, 1, 1, 1, 1, 1, 1]
    assert printed_rows(table[:6]) == np.array2string(table[:6], edgeitems=3, **PRINTED)
    assert len(printed_rows(table).splitlines()) == 9
