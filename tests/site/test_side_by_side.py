"""Many encodings of one scheme: the page that has all but the first side by side, and the former
addresses of their values.
"""

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas, Outcome, Page, names
from generator.site import moved
from tests.site.test_comparing import ANALYSES, SCHEMES, every_page, outcome, rendered, table

PARTS = [f"layer {number}, attention" for number in range(6)]


@pytest.fixture(scope="module")
def layered() -> Outcome:
    """Six tables of which each has one analysis."""
    one = outcome("row", table(1), title="Row")
    plain = [outcome("row", table(seed)).readings[0] for seed in range(len(PARTS))]
    readings = [
        replace(reading, encoding=replace(reading.encoding, part=part))
        for reading, part in zip(plain, PARTS, strict=True)
    ]
    return names.named([replace(one, readings=tuple(readings))], SCHEMES)[0]


@pytest.fixture(scope="module")
def pages(layered: Outcome) -> list[Page]:
    return every_page("checkpoint", layered)


def test_all_but_the_first_have_every_value_on_page_two(
    pages: list[Page], layered: Outcome
) -> None:
    assert [page.path for page in pages] == ["checkpoints/row.md", "checkpoints/row/layers.md"]
    first, second = (BeautifulSoup(rendered(page), "html.parser") for page in pages)
    of_readings = [
        {
            f"{reading.encoding.key}-{key}.{metric.key}"
            for key, result in reading.results.items()
            for metric in result.metrics
        }
        for reading in layered.readings
    ]
    ids = [{str(tag["id"]) for tag in soup.find_all(id=True)} for soup in (first, second)]
    assert all(of_readings)
    assert of_readings[0] <= ids[0]
    assert set().union(*of_readings[1:]) <= ids[1]
    assert {reading.encoding.key for reading in layered.readings[1:]} <= ids[1]


def test_the_first_page_links_each_of_the_others(pages: list[Page], layered: Outcome) -> None:
    text = rendered(pages[0])
    for reading in layered.readings[1:]:
        assert f"checkpoints/row/layers.html#{reading.encoding.key}" in text


def test_a_finding_of_several_layers_stands_once_with_their_names(pages: list[Page]) -> None:
    [group] = vars(pages[1].context)["groups"]
    compared = group.compared
    shown = [(finding.text, parts) for one in compared for _, finding, parts in one.findings]
    assert shown
    assert len({text for text, _ in shown}) == len(shown)
    told = sum(len(section.result.findings) for one in compared for _, section in one.members)
    assert sum(len(parts) for _, parts in shown) == told


def test_former_addresses_lead_to_where_their_values_are_now(layered: Outcome) -> None:
    many = [outcome(f"m{number:02}", table(number)) for number in range(40)]
    made = moved.makers(Atlas((layered, *many), ANALYSES, SCHEMES))
    key = layered.readings[1].encoding.key
    targets = {
        path: str(BeautifulSoup(make(), "html.parser").select("link")[0]["href"])
        for path, make in made.items()
    }
    assert targets[f"checkpoints/row/{key}.html"] == f"layers.html#{key}"
    assert targets["checkpoints/list/2.html"] == "../index.html"
    applied = next(key for key, result in many[0].readings[0].results.items() if not result.reason)
    assert [path for path in targets if path.startswith(f"analyses/{applied}/")] == [
        f"analyses/{applied}/{number}.html" for number in (2, 3)
    ]
    assert targets[f"analyses/{applied}/3.html"] == f"../{applied}.html"
