"""The front page: the figure that it opens with, its questions, and all schemes at a glance."""

import re
from dataclasses import replace
from html import unescape
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from bs4 import BeautifulSoup

from generator.contracts import Atlas
from generator.encyclopedia import table as published
from generator.encyclopedia.known_models import known_model, known_models
from generator.encyclopedia.model_rows import FEWEST
from generator.figures import svg
from generator.numerics.arrays import Floats
from generator.site import render
from generator.site.pages import front
from generator.site.rankings.peers import peers_of
from tests import small_site
from tests.built import ROOT
from tests.encyclopedia.guests import guests
from tests.support import checkpoint, flowing, save_folder
from tests.synthetic import BUCKETS, ROTATION, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")

POSITIONS = np.arange(64)
ALONG = 4.0 * (POSITIONS / 63.0 - 0.5)
HELIX = np.stack(
    [
        8.0 * np.cos(np.pi * POSITIONS / 4), 8.0 * np.sin(np.pi * POSITIONS / 4), ALONG,
        0.01 * np.cos(POSITIONS),
    ],
    axis=1,
)  # fmt: skip


@pytest.fixture(autouse=True)
def of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front page of a list of many entries, whatever their number."""
    monkeypatch.setattr(front, "OWN", 0)


LINE = np.stack([ALONG, ALONG**2, ALONG**3, np.ones(64)], axis=1)


def atlas_of(folder: Path, **tables: Floats) -> Atlas:
    """Checkpoints with these tables, one with a bias and one with a rotation."""
    config = {"model_type": "gpt2", "n_positions": 64, "n_embd": 4, "n_layer": 1, "n_head": 2}
    rows = [
        (name, save_folder(folder / name, config, {"wpe.weight": table.astype(np.float32)}))
        for name, table in tables.items()
    ]
    for name, contents in (("buckets", BUCKETS), ("rotation", ROTATION)):
        rows.append((name, write_folder(folder / name, contents)))
    listed = [checkpoint(slug=name, title=name.title(), place=str(place)) for name, place in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svg, "encode", lambda *_: b"drawn")
        return small_site.atlas_of(*small_site.evaluated(*listed))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    """Without a curve that winds."""
    return atlas_of(tmp_path_factory.mktemp("front"), line=LINE)


def text_of(atlas: Atlas) -> str:
    pages = front.pages(atlas)
    return render.render(atlas, pages)[pages[0].path].decode()


def test_the_page_opens_with_the_curve_that_winds(tmp_path: Path) -> None:
    text = text_of(atlas_of(tmp_path, line=LINE, helix=HELIX))
    opening = text[: text.index("## One finding from each scheme")]
    assert 'src="figures/helix/decoder-learned/principal_components-curve-opening.svg"' in opening
    assert 'href="figures/helix/decoder-learned/principal_components-curve.svg"' in opening
    assert "The table is a helix of " in opening
    brief = "Its positions run round a circle, about one lap in eight tokens."
    assert brief in flowing(unescape(opening))
    assert len(brief.split()) <= 14
    assert "Nobody programmed that: training found it." in opening
    assert "<span>position 0</span><i></i><span>63</span>" in opening
    assert "figures/line/" not in opening
    counts = flowing(unescape(text[text.index("## Gallery") :]))
    assert "The list has 4 checkpoints. 4 have numbers of their own" in counts


def test_a_gallery_that_is_complete_can_be_filtered(plain: Atlas) -> None:
    """Five of a scheme, which is more than each would have of a gallery that is not."""
    text = text_of(repeated(plain, 5))
    assert text.count('<li class="pa-card"') == 5
    assert ("pa-filter" in text, "filtered and sorted" in text) == (True, False)


def test_a_gallery_of_a_part_leads_to_the_list_of_all(plain: Atlas) -> None:
    text = text_of(repeated(plain, front.MOST_CARDS + 1))
    assert ("pa-filter" in text, "filtered and sorted" in text) == (False, True)
    assert text.count('<li class="pa-card"') == front.MOST_CARDS // 2


def repeated(atlas: Atlas, times: int) -> Atlas:
    """With its last outcome alone, so many times."""
    last = atlas.outcomes[-1]
    rows = [replace(last.checkpoint, slug=f"rotation-{number}") for number in range(times)]
    return replace(atlas, outcomes=tuple(replace(last, checkpoint=row) for row in rows))


def test_the_finding_of_a_scheme_is_the_weightiest_one(plain: Atlas) -> None:
    found = vars(front.pages(plain)[0].context)["remarks"]
    assert found.keys() == {"learned", "rotary", "t5_bias"}
    for remark in found.values():
        weights = {
            finding.text: peers_of(plain).weight(reading, key, finding)
            for _, reading in plain.encodings
            if reading.encoding.scheme == remark.reading.encoding.scheme
            for key, result in reading.results.items()
            for finding in result.findings
        }
        assert weights[remark.finding.text] == max(weights.values())


def test_without_a_curve_that_winds_the_page_opens_with_words(plain: Atlas) -> None:
    text = text_of(plain)
    assert "pa-hero-figure" not in text
    assert "## One finding from each scheme" in text


def test_every_scheme_has_a_card_that_says_where_it_acts(plain: Atlas) -> None:
    ways = {
        "Learned table": "added to the input · trained",
        "Learned relative bias": "added to attention logits · trained",
        "Rotary": "rotates queries and keys · by formula",
    }
    cards = BeautifulSoup(text_of(plain), "html.parser").select(".pa-remarks > li")
    texts = [flowing(card.select(".pa-kind")[0].get_text()) for card in cards]
    assert sorted(texts) == sorted(f"{title} {way}" for title, way in ways.items())


def test_schemes_act_where_their_encodings_do(plain: Atlas) -> None:
    schemes = {scheme.key: scheme.acts_in for scheme in plain.schemes}
    acting = {
        (reading.form.load().acts_in, schemes[reading.encoding.scheme])
        for _, reading in plain.encodings
    }
    assert acting == {
        ("input", "input"), ("logits", "logits"), ("queries and keys", "queries and keys"),
    }  # fmt: skip


# Each question of the page, and what answers it where it leads.
ANSWERS = {
    "Settings of two to four models side by side": "Choose up to 4 published models",
    "What does a context cost to serve?": "KV cache per token",
    "Which models are configured for 200,000 tokens?": "configured for 200,000 tokens or more",
    "Which models use attention windows, and in which layers?": "Windows and mixed layers",
    "What does context scaling change in a rotary encoding?": "slows the most affected pair by",
    "How fast does similarity decrease with distance?": "falls halfway to its far level",
    "Which tables have a break between adjacent positions?": "the cosine of adjacent positions",
    "Which offsets does each attention head favour?": "Heads with their largest bias within one",
    "Any two encodings side by side": "Choose two to six encodings",
    "A lesson in five steps": "Attention alone",
    "Teaching notebooks, cell by cell": "notebook",
    "lint: what is wrong with my config?": "what other programs may get wrong",
    "compare: do two files encode position alike?": "lists every command",
    "Read a model in Python": "import position_atlas",
    "What is a kernel?": "Kernel",
    "Can a model do without positions?": "A causal model without any encoding learns where",
    "How do I load a table in Python?": "np.load(",
    "How do I cite a number?": "To cite a number,",
    "Check a config or a conversion in continuous integration": "In continuous integration, a",
}


def test_each_question_leads_to_a_page_that_answers_it(plain: Atlas) -> None:
    scaled = checkpoint(slug="scaled", place=str(ROOT / "references/gpt-oss-20b"))
    outcomes = (*plain.outcomes, *small_site.evaluated(scaled))
    few = list(islice(known_models(), FEWEST))
    known = known_model("MiniMaxAI/MiniMax-Text-01")
    table = published.table([known, *few] if known else [])
    atlas = replace(plain, outcomes=outcomes, guests=guests(table))
    tree = small_site.tree_of(atlas, drawn=False)
    chips = BeautifulSoup(tree["index.md"].decode(), "html.parser").select(".pa-ask a")
    missing = {
        chip.get_text(): chip["href"]
        for chip in chips
        if ANSWERS[chip.get_text()]
        not in flowing(tree[re.sub(r"\.html(#.*)?$", ".md", str(chip["href"]))].decode())
    }
    assert ({chip.get_text() for chip in chips}, missing) == ({*ANSWERS}, {})
