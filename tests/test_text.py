"""Numbers and counts in sentences, case by case."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from generator.text import counted, fixed, in_words, ranges, rounded, significant, uncertain
from tests.built import ROOT

COUNTS = [
    (0, 6, "No head favours"),
    (1, 6, "1 of 6 heads favours"),
    (5, 6, "5 of 6 heads favour"),
    (6, 6, "All 6 heads favour"),
    (1, 1, "The only head favours"),
    (0, 1, "The only head does not favour"),
]
ROUNDED = [  # value, digits, limits, text
    (0.9974, 2, (1.0,), "0.997"),
    (1.0, 2, (1.0,), "1.00"),
    (1.0 - 1e-15, 2, (1.0,), "1.00"),
    (0.994, 2, (1.0,), "0.99"),
    (99.98, 0, (100.0,), "99.98"),
    (99.4, 0, (100.0,), "99"),
    (0.0004, 2, (0.0,), "0.0004"),
    (-0.001, 2, (), "0.00"),
    (-0.25, 2, (), "−0.25"),
    (2105.4, 0, (), "2,105"),
    (None, 2, (), "not defined"),
    (float("nan"), 2, (0.0,), "not defined"),
]


@pytest.mark.parametrize(("count", "total", "text"), COUNTS)
def test_a_count_agrees_with_its_noun_and_verb(count: int, total: int, text: str) -> None:
    assert counted(count, total, "head", "favour") == text


@pytest.mark.parametrize(("value", "digits", "limits", "text"), ROUNDED)
def test_rounding_never_reaches_a_limit_that_the_value_does_not(
    value: float | None, digits: int, limits: tuple[float, ...], text: str
) -> None:
    assert rounded(value, digits, *limits) == text


@pytest.mark.parametrize(("value", "text"), [
    (0.25, "0.250"),
    (-0.25, "−0.250"),
    (2.0004, "2"),
    (1024.0, "1,024"),
    (0.0, "0"),
    (0.1, "0.100"),
])  # fmt: skip
def test_decimals_are_dropped_when_all_are_zero(value: float, text: str) -> None:
    assert fixed(value, 3) == text


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


@pytest.mark.parametrize(("number", "text"), [
    (22_026.0, "about 22 thousand"),
    (2.2e8, "about 220 million"),
    (9.99e8, "about 1 billion"),
    (5.9e10, "about 59 billion"),
    (2e13, "more than a trillion"),
    (12.3, "about 12"),
])  # fmt: skip
def test_large_numbers_are_written_in_words(number: float, text: str) -> None:
    assert in_words(number) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(2105.0, 2, "2,100"), (0.4213, 2, "0.42"), (1.0, 2, "1"), (4.96e-3, 2, "0.005"), (-25.04, 3,
      "−25"), (2.7e-15, 2, "2.7 × 10⁻¹⁵"), (0.0, 3, "0"), (float("nan"), 3, "not defined"), (999.6,
      3, "1,000"), (-3.1e12, 2, "−3.1 × 10¹²")],
)  # fmt: skip
def test_significant_digits_are_written_out(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


def test_runs_of_numbers_are_joined() -> None:
    assert ranges(np.array([0, 1, 2, 7, 9, 10])) == "0–2, 7, 9–10"
    assert ranges(np.arange(0, 12, 2)) == "0, 2, 4, 6 and 2 more ranges"


@pytest.mark.parametrize(("value", "spread", "digits", "text"), [
    (11.2, 0.34, 0, "11.2 ± 0.3"), (191.6, 2.4, 0, "192 ± 2"), (1.013, 0.062, 2, "1.01 ± 0.06"),
     (11.2, 0.0004, 0, "11"), (0.0, 0.0, 2, "0.00")
])  # fmt: skip
def test_an_uncertainty_is_never_written_as_zero(
    value: float, spread: float, digits: int, text: str
) -> None:
    assert uncertain(value, spread, digits) == text
