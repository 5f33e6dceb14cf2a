"""Addresses of values: which value has which, and the links to them."""

from collections import Counter
from dataclasses import replace
from posixpath import dirname, normpath

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas, Metric, Outcome, Tree
from tests.small_site import small_atlas, tree_of

OWN = Metric("own", "Own", 50.0)


def with_own(outcome: Outcome) -> Outcome:
    """The same with other metrics of the kernel: whole numbers from 0, in another order, after one
    that no other encoding has.
    """
    [reading] = outcome.readings
    kernel = reading.results["decay_with_distance"]
    every = enumerate(kernel.metrics)
    numbered = [replace(metric, value=float(number), unit="") for number, metric in every]
    changed = {"decay_with_distance": replace(kernel, metrics=(OWN, *numbered[::-1]))}
    return replace(outcome, readings=(replace(reading, results={**reading.results, **changed}),))


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    small = small_atlas()
    every = small.outcomes
    changed = (with_own(one) if one.checkpoint.slug == "bloom-7b1" else one for one in every)
    return replace(small, outcomes=tuple(changed))


@pytest.fixture(scope="module")
def tree(atlas: Atlas) -> Tree:
    return tree_of(atlas, drawn=False)


def html(tree: Tree, path: str) -> BeautifulSoup:
    return BeautifulSoup(tree[path], "html.parser")


def test_every_value_has_the_address_of_the_data_page(atlas: Atlas, tree: Tree) -> None:
    for outcome in atlas.outcomes:
        start = f"checkpoints/{outcome.checkpoint.slug}"
        mine = [path for path in tree if path.startswith(start) and path.endswith(".md")]
        found = Counter(
            str(row["id"]) for path in mine for row in html(tree, path).select(".pa-metrics tr[id]")
        )
        expected = Counter(
            f"{reading.encoding.key}-{key}.{metric.key}"
            for reading in outcome.readings
            for key, result in reading.results.items()
            for metric in result.metrics
        )
        assert found == expected, outcome.checkpoint.slug


def test_no_address_is_given_twice_on_a_page(tree: Tree) -> None:
    for path in (path for path in tree if path.endswith(".md")):
        counts = Counter(str(tag["id"]) for tag in html(tree, path).select("[id]"))
        assert {name for name, count in counts.items() if count > 1} == set(), path


def test_a_value_stands_below_the_heading_of_its_metric(atlas: Atlas, tree: Tree) -> None:
    table = html(tree, "analyses/decay_with_distance.md").select_one("table[data-pa-sortable]")
    assert table is not None
    _, *head = (cell.get_text() for cell in table.select("thead th"))
    titles = [text.partition(" (positions)")[0].removesuffix(" (%)") for text in head]
    row = table.select_one("tr:has(#bloom-7b1-decoder-alibi-own)")
    assert row is not None
    every = zip(titles, (cell.get_text() for cell in row.select("td")), strict=True)
    shown = {title: text for title, text in every if text != "–"}
    bloom = next(one for one in atlas.outcomes if one.checkpoint.slug == "bloom-7b1")
    metrics = bloom.readings[0].results["decay_with_distance"].metrics
    assert shown == {metric.title: f"{metric.value:.0f}" for metric in metrics}
    assert {cell["id"] for cell in row.select("td[id]")} == {
        f"bloom-7b1-decoder-alibi-{metric.key}" for metric in metrics
    }


def test_what_stands_below_a_finding_leads_to_the_row_of_its_analysis(tree: Tree) -> None:
    paths = [path for path in tree if path.startswith("checkpoints/") and path.endswith(".md")]
    links = [
        (path, str(link["href"]))
        for path in paths
        for link in html(tree, path).select(".pa-rests a")
    ]
    assert links
    for path, address in links:
        place, _, anchor = address.partition("#")
        page = normpath(f"{dirname(path)}/{place}").replace(".html", ".md")
        assert html(tree, page).select_one(f'[id="{anchor}"]'), (path, address)
