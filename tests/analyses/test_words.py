"""Positions and words: how the word matrix is read, and cases with given angles."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles

from generator.analyses import positions_and_words
from generator.checkpoints.model.input_layer import subjects
from generator.contracts import Encoding, Provenance, Result
from generator.encodings import OffsetBias, PositionTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats, frozen
from tests.analyses.on import values_of
from tests.support import LABELS, DictFiles, checkpoint, subject

rng = np.random.default_rng(0)
# Words of 20 directions, each half as strong as the one before; a tenth are two directions.
FALLING = np.eye(20) * 2.0 ** -np.arange(20.0)


def result_of(positions: Floats, words: Floats) -> Result:
    """The result for positions (n_positions, d_model) and words (n_words, d_model)."""
    return positions_and_words.compute(
        replace(subject(PositionTable(frozen(positions))), word_vectors=frozen(words))
    )


def test_energy_by_direction_by_hand() -> None:
    """Length 3 along the largest direction, 1 along the smallest: 9/10 and 1/10 of the energy."""
    result = result_of(np.vstack([3.0 * np.eye(20)[:1], np.eye(20)[-1:]]), FALLING)
    assert_allclose(result.arrays["energy"], [0.9, *[0.0] * 18, 0.1], atol=1e-12)
    assert {
        key: values_of(result)[key] for key in ("top", "bottom", "chance", "tenth", "vocabulary")
    } == pytest.approx(
        {"top": 90.0, "bottom": 10.0, "chance": 10.0, "tenth": 2.0, "vocabulary": 20.0}
    )


def test_principal_angles_are_those_of_scipy_and_by_hand() -> None:
    """One position at 30° to the main direction of words, the other orthogonal to the main two."""
    positions = np.zeros((2, 20))
    positions[0, [0, 5]] = 2.0 * np.cos(np.pi / 6), 2.0 * np.sin(np.pi / 6)
    positions[1, 7] = 1.0
    result = result_of(positions, FALLING)
    assert_allclose(result.arrays["cosines"], [np.cos(np.pi / 6), 0.0], atol=1e-12)
    assert values_of(result)["smallest_angle"] == pytest.approx(30.0)
    assert values_of(result)["overlap"] == pytest.approx(37.5)
    first, second = rng.normal(size=(30, 20)), rng.normal(size=(50, 20))
    tenths = [np.linalg.svd(rows)[2][:2] for rows in (first, second)]
    assert_allclose(
        np.arccos(result_of(first, second).arrays["cosines"]),
        np.sort(subspace_angles(tenths[0].T, tenths[1].T)),
    )


@pytest.mark.parametrize(("at", "direction"), [((10.0, 90.0), 0), ((90.0, 10.0), 19)])
def test_a_sentence_on_either_tenth_is_marked_where_its_energy_is_reached(
    at: tuple[float, float], direction: int
) -> None:
    """Nine tenths of the energy lie along one direction, and a tenth along a middle one."""
    weights = np.zeros(20)
    weights[direction], weights[10] = np.sqrt(0.9), np.sqrt(0.1)
    [finding] = result_of(weights[None], FALLING).findings
    [spot] = finding.spots
    assert spot.figure in {spec.key for spec in positions_and_words.ANALYSIS.figures}
    assert (spot.x, spot.y) == pytest.approx(at)


@pytest.mark.parametrize("n_words", [3, 40, 20_000])
def test_directions_are_the_right_singular_vectors(n_words: int) -> None:
    """Also in several blocks, or with fewer rows than columns: VᵀWᵀWV is diagonal and falls."""
    words = rng.normal(size=(n_words, 12)) * 1.5 ** -np.arange(12.0)
    directions = positions_and_words.singular_directions(words)
    gram = directions @ (words.T @ words) @ directions.T
    rank = min(n_words, 12)
    assert_allclose(gram, np.diag(np.linalg.svd(words.T @ words)[1][:rank]), atol=1e-9 * gram.max())
    assert_allclose(directions @ directions.T, np.eye(rank), atol=1e-12)


def test_directions_that_no_word_has_share_their_energy() -> None:
    """Two words span two of 20 dimensions; the rest of the energy has 18 equal shares."""
    positions = np.zeros((1, 20))
    positions[0, [1, 7]] = 0.5, np.sqrt(0.75)
    result = result_of(positions, np.eye(20)[:2] * [[2.0], [1.0]])
    assert_allclose(result.arrays["energy"], [0.0, 0.25, *[0.75 / 18] * 18], atol=1e-12)
    assert values_of(result)["bottom"] == pytest.approx(100.0 * 2 * 0.75 / 18)


def test_random_directions_hold_the_share_of_chance() -> None:
    """A squared coordinate of a direction is 1/d in the mean; Wachter 1980 has the cosine."""
    random = np.random.default_rng(0)
    result = result_of(random.normal(size=(2000, 400)), random.normal(size=(1000, 400)))
    assert [values_of(result)[key] for key in ("top", "bottom", "overlap")] == pytest.approx(
        [10.0, 10.0, 10.0], abs=1.0
    )
    assert result.arrays["cosines"][0] == pytest.approx(
        positions_and_words.largest_by_chance(0.1, 0.1), abs=0.03
    )


def test_the_largest_cosine_by_chance_counts_the_directions_that_positions_have() -> None:
    """Of 400 dimensions, 8 positions have 8, against 40 of words: below the 0.6 of two tenths."""
    result = result_of(rng.normal(size=(8, 400)), rng.normal(size=(1000, 400)))
    by_chance = positions_and_words.largest_by_chance(8 / 400, 40 / 400)
    assert result.arrays["cosines"].size == 8
    assert result.arrays["cosines"][0] == pytest.approx(by_chance, abs=0.05)
    assert by_chance < 0.5
    assert f"largest by chance {by_chance:.2f}" in positions_and_words.ANALYSIS.figures[1].alt(
        {LABELS[0]: result}
    )
    assert values_of(result)["overlap"] == pytest.approx(10.0, abs=1.5)


@pytest.mark.parametrize("factors", [(1e200, 1e-200), (1e-200, 1e200)])
def test_the_size_of_either_matrix_changes_nothing(factors: tuple[float, float]) -> None:
    positions, words = rng.normal(size=(30, 20)), rng.normal(size=(50, 20))
    assert values_of(result_of(factors[0] * positions, factors[1] * words)) == pytest.approx(
        values_of(result_of(positions, words))
    )


@pytest.mark.parametrize(("positions", "words", "reason"), [
    (np.ones((3, 4)), np.ones((3, 5)), "word vectors have 5 dimensions, position vectors 4"),
    (np.zeros((3, 4)), np.ones((3, 4)), "every value of the table is zero"),
    (np.ones((3, 4)), np.zeros((3, 4)), "every value of the word matrix is zero"),
    (np.ones((3, 4)), np.full((3, 4), np.nan),
     "the word matrix has 12 values that are NaN or infinite"),
])  # fmt: skip
def test_matrices_that_are_not_comparable(positions: Floats, words: Floats, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        result_of(positions, words)


@pytest.mark.parametrize(("direction", "where"), [(0, "along"), (19, "outside"), (9, None)])
def test_the_finding_follows_the_direction_of_positions(direction: int, where: str | None) -> None:
    findings = result_of(np.eye(20)[[direction]], FALLING).findings
    expected = f"Position vectors lie mostly {where} the main directions of word vectors: 100%"
    assert [(finding.text[: len(expected)], finding.weight) for finding in findings] == (
        [(expected, 0.75)] if where else []
    )


FILES = DictFiles(
    {"model_type": "gpt2"},
    {"wpe.weight": np.ones((6, 4)), "wte.weight": np.arange(12.0).reshape(3, 4)},
)
ENCODINGS = {
    "table": Encoding("decoder", "made", PositionTable(frozen(np.ones((6, 4)))), Provenance("")),
    "patches": Encoding("vision", "made", PositionTable(frozen(np.ones((6, 4))), grid=(2, 3)),
                        Provenance(""), modality="image"),
    "bias": Encoding("encoder", "made",
                     OffsetBias(frozen([[0.0]]), frozen([0.0]), False, "constant"), Provenance("")),
}  # fmt: skip


@pytest.mark.parametrize(("encoding", "words", "tensors", "why"), [
    ("table", True, ("wpe.weight", "wte.weight"), None),
    ("table", False, ("wpe.weight", "wte.weight"), "only if the checkpoint's entry has"),
    ("patches", True, ("wpe.weight", "wte.weight"), "its positions are not word positions"),
    ("table", True, ("wpe.weight",), "there is no word table among the tensors"),
    ("bias", True, ("wpe.weight", "wte.weight"), ""),
])  # fmt: skip
def test_words_are_read_on_request(encoding: str, words: bool, tensors: Any, why: Any) -> None:
    files = replace(FILES, arrays={name: FILES.arrays[name] for name in tensors})
    (read,) = subjects(files, checkpoint(words=words), [ENCODINGS[encoding]])
    if why is None:
        assert_array_equal(read.word_vectors, FILES.arrays["wte.weight"])
    else:
        assert (read.word_vectors, why in read.no_word_vectors) == (None, True)


def test_patches_beside_a_table_have_no_words() -> None:
    read = subjects(FILES, checkpoint(words=True), [ENCODINGS["patches"], ENCODINGS["table"]])
    assert [one.word_vectors is None for one in read] == [True, False]
