"""Links from a checkpoint to its repository and its paper."""

from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Outcome
from tests.site.test_comparing import page, rendered
from tests.support import checkpoint


def facts(**options: Any) -> BeautifulSoup:
    """The facts of a checkpoint that was not reached."""
    text = rendered(page("checkpoint", Outcome(checkpoint(**options), "not reached", "no answer")))
    strip = text[text.index('<dl class="pa-strip"') :].partition("</dl>")[0]
    return BeautifulSoup(strip, "html.parser")


def links(**options: Any) -> list[str]:
    return [str(link["href"]) for link in facts(**options).select("a[rel~=external]")]


def test_a_checkpoint_of_the_hub_leads_to_its_repository_and_a_folder_nowhere() -> None:
    there = "https://huggingface.co/owner/name"
    assert links(source="hub", id="owner/name") == [there]
    of_revision = links(source="hub", id="owner/name", revision="a" * 40)
    assert of_revision == [f"{there}/tree/{'a' * 40}"]
    assert links(source="folder", id="references/sinusoid") == []


def test_a_folder_of_a_published_model_leads_to_it_and_is_not_named() -> None:
    found = facts(source="folder", id="references/x", of="owner/name")
    assert [link["href"] for link in found.select("a[rel~=external]")] == [
        "https://huggingface.co/owner/name"
    ]
    assert "references" not in found.get_text()


def test_a_paper_and_a_licence_are_facts() -> None:
    assert links(paper="1706.03762") == ["https://arxiv.org/abs/1706.03762"]
    assert "Apache-2.0" in facts(licence="Apache-2.0").get_text()


@pytest.mark.parametrize(
    "paper",
    [
        "javascript:alert(1)", " https://a.b", "https://a.b/\nx", 'https://a.b/"x',
        "data:text/html,x", "//a.b",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_paper_is_no_link(paper: str) -> None:
    assert links(paper=paper) == []
