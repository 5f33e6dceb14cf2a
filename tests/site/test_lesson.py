"""The lesson: its numbers, and its pages for any list."""

import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from generator.analyses import anatomy_of_the_input
from generator.contracts import Encoding, InputLayer, Page, Provenance, Result, Sentence, Subject
from generator.encodings import PositionTable
from generator.numerics.arrays import Floats, frozen
from generator.schemes.sinusoidal.picture import SAME
from generator.site import render
from generator.site.data import lesson_numbers as lesson_data
from generator.site.materials import OURS
from generator.site.pages import lesson
from generator.site.pictures.scheme_pictures import picture_of
from tests.site.test_status import atlas_of
from tests.small_site import evaluated
from tests.support import checkpoint, flowing
from tests.synthetic import BUCKETS, ROTATION, write_folder

pytestmark = pytest.mark.usefixtures("blank_figures")

random = np.random.default_rng(0)
WORDS, POSITIONS = random.normal(size=(9, 6)), random.normal(size=(20, 6))
LEXICON = (("dog", 7), ("cat", 2), ("the", 5))


def result_of(
    words: Floats | None = WORDS, grid: tuple[int, int] | None = None, scale: float = 1.0
) -> Result:
    sentence = Sentence(("the", "dog"), (5, 7), (False, False), frozen(WORDS[[5, 7]]))
    layer = InputLayer(sentence, sentence, "wte.weight", word_scale=scale, lexicon=LEXICON)
    encoding = Encoding(
        "encoder", "learned", PositionTable(frozen(POSITIONS), grid=grid), Provenance("")
    )
    return anatomy_of_the_input.compute(Subject(encoding, layer, word_vectors=words))


@pytest.mark.parametrize("scale", [1.0, 8.0])
@pytest.mark.parametrize(("i", "m", "j", "n"), [(0, 0, 1, 1), (2, 15, 0, 3), (1, 4, 1, 9)])
def test_four_parts_add_up_to_the_score(i: int, m: int, j: int, n: int, scale: float) -> None:
    arrays = result_of(scale=scale).arrays
    places = {"words": [(i, j)], "positions": [(i, n), (j, m)], "order": [(m, n)]}
    parts = [arrays[f"lexicon_{name}"][at] for name, each in places.items() for at in each]
    first, second = (
        scale * WORDS[LEXICON[word][1]] + POSITIONS[place] for word, place in ((i, m), (j, n))
    )
    assert sum(parts) == pytest.approx(first @ second, rel=1e-12)


def test_without_the_word_matrix_or_on_a_grid_there_is_no_lexicon() -> None:
    assert "lexicon_tokens" not in result_of(words=None).arrays
    assert "lexicon_tokens" not in result_of(grid=(4, 5)).arrays


def test_rotations_and_biases_are_those_of_the_checkpoints(tmp_path: Any) -> None:
    """Pairs of the rotation are each 8 times slower than the one before; the bias of a bucket is a
    power of two.
    """
    rows = [
        checkpoint(slug=name, id=name, place=str(write_folder(tmp_path / name, files)))
        for name, files in (("rotation", ROTATION), ("buckets", BUCKETS))
    ]
    found: Any = lesson_data.numbers(lesson_data.of(atlas_of(*evaluated(*rows))))
    assert found["rotations"][0]["frequencies"] == [1.0, 0.125, 0.015625, 0.001953125]
    assert found["biases"][0]["values"][0][-found["biases"][0]["first"]] == 1.0
    assert found["vocabulary"] is None


def test_any_list_has_five_steps() -> None:
    pages: list[Page] = lesson.pages(atlas_of())
    tree = render.render(atlas_of(), pages)
    texts = [tree[page.path].decode() for page in pages]
    assert len(texts) == 5
    assert all("so this step has no figure" in text for text in texts)
    [with_waves] = [text for text in texts if "4. **Rotary.**" in text]
    assert "figures/schemes/sinusoidal-waves" in with_waves
    data = tree[lesson_data.PATH].decode().partition(".lesson = ")[2].removesuffix(";\n")
    assert json.loads(data)["words"] == []


def test_one_line_names_both_encodings_whose_numbers_a_figure_can_show() -> None:
    make: Any = (
        render.environment_of(*OURS.templates)
        .get_template("pages/lesson_macros.jinja")
        .make_module()
    )
    both = [SimpleNamespace(address=f"{name}.html", title=name.upper()) for name in ("a", "b")]
    one, two = (flowing(make.source(each, str)) for each in (both[:1], both))
    assert re.sub("<[^>]*>", "", one) == "The figure shows numbers of A."
    assert re.sub("<[^>]*>", "", two) == "The figure shows numbers of A or, if chosen there, of B."


def test_the_picture_of_waves_has_the_values_that_its_text_names() -> None:
    """sin 30° = sin 150° = 0.5, and cos 30° = −cos 150° = 0.866."""
    [scheme] = [each for each in atlas_of().schemes if each.key == "sinusoidal"]
    waves = picture_of(scheme).further["waves"].numbers()
    sine, cosine = (wave[[10 * position for position in SAME]] for wave in waves.values())
    assert sine == pytest.approx([0.5, 0.5])
    assert cosine == pytest.approx([0.75**0.5, -(0.75**0.5)])
