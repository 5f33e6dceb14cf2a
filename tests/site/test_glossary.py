"""Terms of the glossary: each in a sentence and a picture, and marked where a page first has it."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas
from generator.site import glossary, render
from generator.site.pages.glossary import pages
from tests.built import ROOT

SVG = "{http://www.w3.org/2000/svg}"
PATH = "checkpoints/one.html"
DRAWN = {f"{SVG}{name}" for name in ("path", "circle", "text")}


def marked(body: str, path: str = PATH) -> Any:
    """The links to terms of a page with this ``body``."""
    html = glossary.with_terms(f"<body><article>{body}</article></body>", path)
    return BeautifulSoup(html, "html.parser").find_all("a", class_="pa-word")


def keys(body: str, path: str = PATH) -> list[str]:
    return [link["href"].partition("#")[2] for link in marked(body, path)]


def test_a_term_has_one_sentence() -> None:
    meanings = [term.meaning for term in glossary.TERMS]
    assert [text for text in meanings if ". " in text or not text.endswith((".", "?"))] == []


def test_a_term_has_a_picture_of_its_own() -> None:
    root = ET.parse(ROOT / "site_src/assets/words.svg").getroot()  # noqa: S314 (our own)
    views = root.findall(f"{SVG}svg")
    drawn = [[(part.tag, *part.attrib.values(), part.text) for part in each] for each in views]
    assert [view.attrib["id"] for view in root.findall(f"{SVG}view")] == [
        term.key for term in glossary.TERMS
    ]
    assert all({tag for tag, *_ in parts} <= DRAWN and len(parts) > 1 for parts in drawn)
    assert len({str(parts) for parts in drawn}) == len(glossary.TERMS)


def test_the_page_has_every_word_with_its_sentence_and_its_picture() -> None:
    atlas = Atlas((), (), (), {})
    text = render.render(atlas, pages(atlas))["learn/glossary.md"].decode()
    assert "search:\n  boost: 4\n" in text.split("---")[1]
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == sorted(titles, key=lambda title: title.split(" {")[0].lower())
    assert {title.split("#")[-1].strip(" }") for title in titles} == {
        term.key for term in glossary.TERMS
    }
    for term in glossary.TERMS:
        assert f'<img src="../assets/words.svg#{term.key}" alt=""' in text


def test_terms_of_others_name_their_source() -> None:
    sources = {term.key for term in glossary.TERMS if term.source.startswith("https://")}
    assert sources == {
        "r-squared", "nat", "yarn", "longrope", "latent-attention", "recurrent-state",
        "rotary-base", "kv-cache", "causal-mask", "gguf",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "key"),
    [("An R² of 0.9", "r-squared"), ("0.1 nats", "nat"), ("static YaRN", "yarn"),
     ("the rotary base", "rotary-base"), ("a recurrent state", "recurrent-state"),
     ("the KV cache", "kv-cache"), ("a causal mask", "causal-mask"), ("a GGUF file", "gguf")],
)  # fmt: skip
def test_words_of_models_lead_to_their_meaning_on_pages_of_models(text: str, key: str) -> None:
    assert keys(f"<p>{text}</p>", "models/one.html") == [key]


def test_a_first_use_is_a_link_with_the_sentence() -> None:
    [link] = marked("<p>Its Kernels and other kernels</p>")
    assert link.text == "Kernels"
    assert link["href"] == "../learn/glossary.html#kernel"
    assert link["title"] == glossary.TERMS[0].meaning


@pytest.mark.parametrize(
    "element", ["a", "code", "h1", "h4", "button", "summary", "pre", "svg", "math", "nav"]
)
def test_a_use_in_another_element_is_left_as_it_is(element: str) -> None:
    other = f"<{element}>kernel</{element}>"
    assert keys(f"<p>{other}</p>{other}") == []
    [link] = marked(f"<p>{other} and the kernel</p>")
    assert link.previous_sibling == " and the "


def test_a_part_of_another_word_is_no_use() -> None:
    texts = ("non-kernel", "kernel-like", "kernel.weight", "xkernel", "&kernel;")
    assert [text for text in texts if keys(f"<p>{text}</p>")] == []


def test_a_use_in_plain_sight_comes_before_a_folded_one() -> None:
    [link] = marked("<details><p>A kernel</p></details><p>The kernel</p>")
    assert link.previous_sibling == "The "
    assert keys("<details><p>A kernel</p></details>") == ["kernel"]


def test_a_longer_word_wins_over_one_within_it() -> None:
    assert keys("<p>Half way to its far level</p>") == ["half-distance"]
    assert keys("<p>Sine and cosine</p>") == []


def test_attributes_stay_as_they_are() -> None:
    body = '<p><img alt="a > kernel" src="x"><em title="kernel">kernel</em></p>'
    assert str(marked(body)[0].parent).startswith('<em title="kernel"><a class="pa-word"')


def test_a_page_marks_few_words_those_first_that_most_need_it() -> None:
    every = "".join(f"<p>{term.title}</p>" for term in reversed(glossary.TERMS))
    hardest = [term.key for term in glossary.TERMS[: glossary.MOST_MARKED]]
    assert sorted(keys(every)) == sorted(hardest)


def test_pages_of_other_kinds_stay_as_they_are() -> None:
    paths = ("guide/faq.html", "data/index.html", "learn/glossary.html")
    assert [path for path in paths if keys("<p>kernel</p>", path)] == []
