"""Every number in a sentence of the built site is one of those on which it rests."""

import csv
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup

from generator import ROOT
from generator.pipeline.evaluate import all_analyses

NUMBER = re.compile(r"(?<![\w.,])[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
# Of a template: what is no text.
CODE = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
MOST_VALUES = 16  # of an array of decimals, among which a number is no chance
SHOWN_RANGES = 4  # of positions, before "and 12 more ranges"
PLACE = re.compile(r"(?:(?:[Hh]ead|[Ll]ayer|dimension|keys) |[Hh]eads [\d–, ]*)$")
STEPS = re.compile(r" of the first (\d+) steps")
WORDS = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
POWER = re.compile(r" × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def value_of(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def step_of(text: str) -> float:
    """What one more in the last digit is."""
    if "." in text:
        return float(10.0 ** -len(text.split(".")[1]))
    digits = text.lstrip("−-").replace(",", "")
    return float(10.0 ** min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 2, 0)))


def is_printed_as(number: float, text: str) -> bool:
    """Up to its sign, which words may give."""
    return abs(abs(number) - abs(value_of(text))) <= 0.501 * step_of(text)


@cache
def limits(analysis: str) -> frozenset[str]:
    """What is the same in every sentence: numbers in its words, and constants of its module."""
    source = (ROOT / f"templates/analyses/{analysis}.md.jinja").read_text(encoding="utf-8")
    of_sentences, _, _ = source.partition("{% macro method")
    constants = vars(import_module(f"generator.analyses.{analysis}")).values()
    numbers = (value for value in constants if isinstance(value, int | float))
    return frozenset({*NUMBER.findall(CODE.sub(" ", of_sentences)), *map(str, numbers)})


class Numbers:
    """What the sentences of an analysis on an encoding may say."""

    def __init__(self, encoding: Any, analysis: str, arrays: Path) -> None:
        self.analysis = analysis
        metrics = {
            key: (metric["value"], metric["unit"])
            for key, metric in encoding["metrics"].items()
            if metric["value"] is not None
        }
        own = [pair for key, pair in metrics.items() if key.startswith(f"{analysis}.")]
        self.metrics = [value for value, _ in own]
        self.by_key = {key.partition(".")[2]: value for key, (value, _) in metrics.items()}
        self.shares = [value for value, unit in own if unit == "%"]
        counts = [value for value, unit in metrics.values() if not unit and value == int(value)]
        self.counts = {int(value) for value in counts}  # of outliers, of any analysis
        self.given = [*encoding["shape"], *_numbers(encoding["parameters"])]
        self.ends = {size - back for size in encoding["shape"] for back in (1, 2)}
        self.places, self.decimals, self.longest = set[int](), list[float](), 0
        self.lines: list[Any] = []
        with np.load(arrays) as stored:
            keys = [key for key in stored.files if key.startswith(f"{analysis}.")]
            found = [stored[key] for key in keys if not key.endswith("distances")]  # An axis.
        for array in found:
            self.places |= set(array.shape)
            self.longest = max((self.longest, *array.shape))
            if array.dtype.kind in "iu" and not _is_a_range(array):
                self.places |= {int(value) + more for value in array.ravel() for more in (0, 1)}
                n_ranges = 1 + int(np.count_nonzero(np.diff(array.ravel()) > 1))
                self.places.add(n_ranges - SHOWN_RANGES)
            elif array.dtype.kind == "f" and array.size <= MOST_VALUES:
                self.decimals += array.ravel().tolist()
            if array.dtype.kind == "f" and array.ndim == 1:
                self.lines.append(array)

    def has(self, text: str, before: str, after: str) -> bool:
        """Whether a number is one of them. before, after: the rest of the sentence"""
        number, whole = value_of(text), "." not in text
        if text in limits(self.analysis):
            return True
        at = {int(value_of(each)) for each in NUMBER.findall(before + after) if "." not in each}
        near = {place for each in at for place in (each - 1, each)}
        named = [line[place] for line in self.lines for place in near if 0 <= place < line.size]
        every = [*self.given, *self.decimals, *named]
        power = POWER.match(after)
        times = (1.0, 100.0) if power is None else (10.0 ** -int(power[1].translate(DIGITS)),)
        every += [value * factor for value in self.metrics for factor in times]
        if before.endswith("falls in ") and (steps := STEPS.match(after)):
            firsts = [line[: int(steps[1]) + 1] for line in self.lines]
            return any(np.count_nonzero(np.diff(first) < 0.0) == number for first in firsts)
        if before.endswith(("from 1 to ", " falls below ")):  # Half way to the far level.
            every += [(1.0 + value) / 2.0 for value in self.metrics]
        if re.search(r"all pairs of \w+ $", before):  # In the last quarter of the distances.
            every.append(3 * (int(NUMBER.findall(after)[0]) + 1) // 4)
        if any(is_printed_as(value, text) for value in every):
            return True
        if size := WORDS.get(after.strip().split(" ")[0].rstrip(".,")):
            factors = (math.exp(min(value, 99.0)) for value in self.metrics)
            return any(is_printed_as(factor / size, text) for factor in factors)
        return whole and self._has_count(int(number), before, after)

    def _has_count(self, number: int, before: str, after: str) -> bool:
        if number in self.places | self.counts | self.ends:
            return True
        if PLACE.search(before) and number < max(self.longest, *self.given):
            return True
        if total := re.match(r" of (?:its |the table's )?(\d+)", after):
            share = 100.0 * number / int(total[1])
            if any(math.isclose(share, other, abs_tol=0.01) for other in self.shares):
                return True
        if before.endswith("osition ") and number - 1 in self.metrics:
            return True  # Of a step, the position behind it.
        if before.endswith("other "):
            return any(number == one - other for one in self.metrics for other in self.metrics)
        return any(number == math.ceil(size / 2) for size in self.given)


def _is_a_range(array: Any) -> bool:
    """Whether it has every number between two, so that any would be in it."""
    every = np.arange(array.min(), array.max() + 1) if array.size > 16 else array
    return array.size > 16 and np.array_equal(np.sort(array.ravel()), every)


def _numbers(parameters: Any) -> Iterator[float]:
    for value in parameters.values():
        if isinstance(value, dict):
            yield from _numbers(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield value
        elif isinstance(value, list) and all(isinstance(one, int) for one in value):
            yield from [*value, *np.diff(value).tolist()]  # Layers, and how many from one on.


def sentences(built: Path) -> Iterator[tuple[str, str, Numbers]]:
    """Every finding that a page prints beside its figures, with its page."""
    rows = json.loads((built / "site/data/atlas.json").read_text(encoding="utf-8"))["checkpoints"]
    for row in rows:
        page = BeautifulSoup(
            (built / f"site/checkpoints/{row['slug']}.html").read_text(encoding="utf-8"),
            "html.parser",
        )
        encodings = {encoding["key"]: encoding for encoding in row["encodings"]}
        for found in page.select("p.pa-found"):
            heading = found.find_previous("h4")
            assert heading is not None
            key, _, analysis = str(heading["id"]).rpartition("-")
            for spot in found.select(".pa-number"):
                spot.extract()
            if key in encodings:
                arrays = built / f"site/data/{row['slug']}/{key}.npz"
                text = " ".join(found.get_text().split())
                yield row["slug"], text, Numbers(encodings[key], analysis, arrays)


def test_every_number_in_a_sentence_is_a_measure_of_it(of_each_list: Path) -> None:
    n_numbers, unknown = 0, []
    for slug, text, numbers in sentences(of_each_list):
        for match in NUMBER.finditer(text):
            n_numbers += 1
            if not numbers.has(match[0], text[: match.start()], text[match.end() :]):
                unknown.append((slug, numbers.analysis, match[0], text))
    assert n_numbers > 100
    assert unknown == []


def test_most_numbers_that_are_another_are_found_out(of_each_list: Path) -> None:
    n_changed, n_passed = 0, 0
    for _, text, numbers in sentences(of_each_list):
        for match in NUMBER.finditer(text):
            other = f"{match[0][:-1]}{(int(match[0][-1]) + 4) % 10}"
            n_changed += 1
            n_passed += numbers.has(other, text[: match.start()], text[match.end() :])
    assert n_passed < n_changed / 3, (n_passed, n_changed)


# "0.69 (A) to 44.6 positions (B and 1 more)"
END = r"([−\d.,]+)%?(?: \w+)? \(((?:[^()]|\([^()]*\))+?)(?: and \d+ more)?\)"
BY_CHANCE = re.compile(r"; [^;()]+ by chance")
RANGE = re.compile(f"{END} to {END}")


def test_the_ends_of_a_ranking_are_those_of_the_table_of_metrics(of_each_list: Path) -> None:
    values: dict[str, dict[str, float]] = defaultdict(dict)
    path = of_each_list / "site/data/metrics.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["value"]:
                values[row["metric"]][row["name"]] = float(row["value"])
    n_read = 0
    for analysis in all_analyses():
        page = of_each_list / f"site/analyses/{analysis.key}.html"
        if analysis.answering is None or not page.exists():
            continue
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        verdict = soup.select_one(".pa-verdict")
        found = RANGE.search(BY_CHANCE.sub("", verdict.get_text())) if verdict else None
        if found is None:
            continue
        measured = values[f"{analysis.key}.{analysis.answering.metric}"]
        low, high = measured[found[2]], measured[found[4]]
        assert is_printed_as(low, found[1])
        assert is_printed_as(high, found[3])
        if chance := analysis.answering.chance:
            by_chance = values[f"{analysis.key}.{chance.metric}"]
            low, high = (
                (value - by_chance[name]) / abs(chance.best - by_chance[name])
                for value, name in ((low, found[2]), (high, found[4]))
            )
        assert low < high
        n_read += 1
    assert n_read >= 5


@pytest.mark.parametrize(("number", "text", "expected"), [
    (0.8513, "0.85", True), (0.8513, "0.86", False), (1_234.0, "1,230", True), (127.0, "127", True),
    (128.0, "127", False), (-0.09, "0.09", True), (130_241.0, "130", False),
])  # fmt: skip
def test_a_number_is_printed_as_its_last_digit_says(
    number: float, text: str, expected: bool
) -> None:
    assert is_printed_as(number, text) == expected
