"""The front page: the figure that it opens with, and all schemes at a glance."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generator.contracts import Atlas, Outcome, Reading, Result
from generator.figures import svg
from generator.numerics.arrays import Floats
from generator.site import render
from generator.site.pages import front
from tests import small_site
from tests.support import checkpoint, save_folder
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
    opening = text[: text.index("## Position encoding schemes")]
    assert 'src="figures/helix/decoder-learned/principal_components-curve.svg"' in opening
    assert "The table is a helix of " in opening
    assert "figures/line/" not in opening


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


def weighted(outcome: Outcome, weight: float) -> Outcome:
    """With this weight of every finding."""

    def of_result(result: Result) -> Result:
        return replace(
            result, findings=tuple(replace(one, weight=weight) for one in result.findings)
        )

    def of_reading(reading: Reading) -> Reading:
        results = {key: of_result(result) for key, result in reading.results.items()}
        return replace(reading, results=results)

    return replace(outcome, readings=tuple(of_reading(reading) for reading in outcome.readings))


@pytest.mark.parametrize(("weight", "n_remarks"), [(0.45, 0), (0.5, 3)])
def test_what_one_would_expect_is_not_on_the_page(
    plain: Atlas, weight: float, n_remarks: int
) -> None:
    """A probe of order gives 0.45 to what it tells of most tables, that it succeeds, and 0.5 to the
    opposite; one remark is shown of each checkpoint.
    """
    atlas = replace(plain, outcomes=tuple(weighted(outcome, weight) for outcome in plain.outcomes))
    assert len(front.pages(atlas)[0].context["remarks"]) == n_remarks


def test_without_a_curve_that_winds_the_page_opens_with_words(plain: Atlas) -> None:
    text = text_of(plain)
    assert "pa-hero-figure" not in text
    assert "## Position encoding schemes" in text


def test_every_scheme_says_where_it_acts_and_whether_it_is_learned(plain: Atlas) -> None:
    ways = {
        "Learned table": "added to the input · trained",
        "Learned relative bias": "added to attention logits · trained",
        "Rotary": "rotates queries and keys · by formula",
    }
    text = text_of(plain)
    for title, way in ways.items():
        assert f'<strong>{title}</strong></a>\n<span class="pa-kind">{way}</span>' in text


def test_schemes_act_where_their_encodings_do(plain: Atlas) -> None:
    schemes = {scheme.key: scheme.acts_in for scheme in plain.schemes}
    acting = {
        (reading.form.load().acts_in, schemes[reading.encoding.scheme])
        for _, reading in plain.encodings
    }
    assert acting == {
        ("input", "input"), ("logits", "logits"), ("queries and keys", "queries and keys"),
    }  # fmt: skip
