"""Positions against words: where a checkpoint's words come from, and cases with known angles."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from generator.analyses import word_directions
from generator.checkpoints.model.input_layer import subjects
from generator.contracts import Encoding, Provenance, Result
from generator.encodings import OffsetBias, PositionTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats, frozen
from tests.support import DictFiles, checkpoint, subject

draws = np.random.default_rng(0)
# 20 directions, in each of which words are half as large as in the one before; a tenth are two.
FALLING = np.eye(20) * 2.0 ** -np.arange(20.0)


def asked(positions: Floats, words: Floats) -> Result:
    return word_directions.compute(replace(subject(PositionTable(frozen(positions))), words=frozen(words)))


def values(result: Result) -> dict[str, float | None]:
    return {metric.key: metric.value for metric in result.metrics}


def test_energy_in_each_direction_by_hand() -> None:
    """Positions of length 3 along the largest direction and of length 1 along the smallest: 9/10 and 1/10 of the energy."""
    found = asked(np.vstack([3.0 * np.eye(20)[:1], np.eye(20)[-1:]]), FALLING)
    np.testing.assert_allclose(found.arrays["energy"], [0.9, *[0.0] * 18, 0.1], atol=1e-12)
    assert {key: values(found)[key] for key in ("top", "bottom", "chance", "tenth", "vocabulary")} == pytest.approx(
        {"top": 90.0, "bottom": 10.0, "chance": 10.0, "tenth": 2.0, "vocabulary": 20.0}
    )


def test_principal_angles_by_hand() -> None:
    """One position at 30° to the largest direction of words, the other at right angles to both of their main ones."""
    positions = np.zeros((2, 20))
    positions[0, [0, 5]] = 2.0 * np.cos(np.pi / 6), 2.0 * np.sin(np.pi / 6)
    positions[1, 7] = 1.0
    found = asked(positions, FALLING)
    np.testing.assert_allclose(found.arrays["cosines"], [np.cos(np.pi / 6), 0.0], atol=1e-12)
    assert values(found)["smallest_angle"] == pytest.approx(30.0)
    assert values(found)["overlap"] == pytest.approx(37.5)


def test_principal_angles_are_those_of_scipy() -> None:
    first, second = draws.normal(size=(30, 20)), draws.normal(size=(50, 20))
    tenths = [np.linalg.svd(rows)[2][:2] for rows in (first, second)]
    np.testing.assert_allclose(np.arccos(asked(first, second).arrays["cosines"]), np.sort(subspace_angles(tenths[0].T, tenths[1].T)))


@pytest.mark.parametrize("n_words", [3, 40, 20_000])
def test_directions_are_the_right_singular_vectors(n_words: int) -> None:
    """Also where the matrix is taken in several blocks, or has fewer rows than columns: VᵀWᵀWV is diagonal and falls."""
    words = draws.normal(size=(n_words, 12)) * 1.5 ** -np.arange(12.0)
    found = word_directions.singular_directions(words)
    gram = found @ (words.T @ words) @ found.T
    np.testing.assert_allclose(gram, np.diag(np.linalg.svd(words.T @ words)[1]), atol=1e-9 * gram.max())
    np.testing.assert_allclose(found @ found.T, np.eye(12), atol=1e-12)


def test_directions_drawn_by_lot_hold_what_chance_says() -> None:
    """The mean of a squared coordinate of a direction in d dimensions is 1/d; the largest cosine is at most about 0.6 (Wachter 1980)."""
    found = asked(draws.normal(size=(2000, 400)), draws.normal(size=(1000, 400)))
    assert [values(found)[key] for key in ("top", "bottom", "overlap")] == pytest.approx([10.0, 10.0, 10.0], abs=1.0)
    assert found.arrays["cosines"][0] == pytest.approx(word_directions.largest_by_chance(0.1), abs=0.03)


@pytest.mark.parametrize("factors", [(1e200, 1e-200), (1e-200, 1e200)])
def test_the_size_of_either_matrix_changes_nothing(factors: tuple[float, float]) -> None:
    positions, words = draws.normal(size=(30, 20)), draws.normal(size=(50, 20))
    assert values(asked(factors[0] * positions, factors[1] * words)) == pytest.approx(values(asked(positions, words)))


@pytest.mark.parametrize(
    ("positions", "words", "reason"),
    [
        (np.ones((3, 4)), np.ones((3, 5)), "word vectors have 5 dimensions, position vectors 4"),
        (np.zeros((3, 4)), np.ones((3, 4)), "every value of the table is zero"),
        (np.ones((3, 4)), np.zeros((3, 4)), "every value of the word matrix is zero"),
        (np.ones((3, 4)), np.full((3, 4), np.nan), "the word matrix has 12 values that are NaN or infinite"),
    ],
)
def test_what_cannot_be_compared(positions: Floats, words: Floats, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        asked(positions, words)


@pytest.mark.parametrize(
    ("place", "said"),
    [(0, ["Positions share the directions"]), (19, ["Positions use directions that words leave free"]), (9, ["Positions prefer neither"])],
)
def test_what_is_said_of_positions_along_one_direction(place: int, said: list[str]) -> None:
    findings = asked(np.eye(20)[[place]], FALLING).findings
    assert [text for finding, text in zip(findings, said, strict=True) if finding.text.startswith(text)] == said
    assert findings[0].weight == (0.2 if place == 9 else 0.75)


FILES = DictFiles({"model_type": "gpt2"}, {"wpe.weight": np.ones((6, 4)), "wte.weight": np.arange(12.0).reshape(3, 4)})
TABLE = Encoding("decoder", "made for a test", PositionTable(frozen(np.ones((6, 4)))), Provenance(""))
PATCHES = Encoding("vision", "made for a test", PositionTable(frozen(np.ones((6, 4))), grid=(2, 3)), Provenance(""))
BIAS = Encoding("encoder", "made for a test", OffsetBias(frozen([[0.0]]), frozen([0.0]), False, "constant"), Provenance(""))


def test_words_are_read_where_the_row_asks_for_them() -> None:
    (found,) = subjects(FILES, checkpoint(words=True), [TABLE])
    np.testing.assert_array_equal(found.words, FILES.arrays["wte.weight"])


def test_without_being_asked_for_words_are_not_read() -> None:
    (found,) = subjects(FILES, checkpoint(), [TABLE])
    assert found.words is None
    assert "which is large; “words: true” in the checkpoint's row asks for it" in found.no_words


def test_patches_have_no_words() -> None:
    found = subjects(FILES, checkpoint(words=True), [PATCHES, TABLE])
    assert [each.words is None for each in found] == [True, False]
    assert found[0].no_words == "its positions are not those of words"


def test_without_a_word_matrix_the_reason_is_told() -> None:
    (found,) = subjects(replace(FILES, arrays={"wpe.weight": np.ones((6, 4))}), checkpoint(words=True), [TABLE])
    assert (found.words, found.no_words) == (None, "there is no word table among the tensors")


def test_a_bias_does_not_have_the_word_matrix_read() -> None:
    (found,) = subjects(FILES, checkpoint(words=True), [BIAS])
    assert found.words is None
