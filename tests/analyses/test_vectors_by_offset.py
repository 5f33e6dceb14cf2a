import numpy as np
import pytest

from generator.analyses.vectors_by_offset import compute, draw_matrix
from generator.contracts import Result
from generator.encodings import RelativeTable
from generator.errors import NotApplicableError
from generator.numerics.arrays import frozen
from tests.support import LABELS, subject


def table(vectors: list[list[float]], first: int) -> RelativeTable:
    return RelativeTable(frozen(vectors), frozen(np.arange(first, first + len(vectors))))


def result_of(form: RelativeTable) -> Result:
    return compute(subject(form))


def value(form: RelativeTable, key: str) -> float | None:
    return result_of(form).value(key)


BY_HAND = table([[3.0, 0.0], [0.0, 2.0], [0.0, 5.0]], first=-1)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("adjacent", 0.5), ("mean", 1 / 3), ("sides", 0.0), ("shortest", 2.0), ("longest", 5.0)],
)
def test_three_offsets_by_hand(key: str, expected: float) -> None:
    assert value(BY_HAND, key) == pytest.approx(expected)


def test_similarity_to_offset_0_by_hand() -> None:
    assert result_of(BY_HAND).arrays["to_zero"].tolist() == [0.0, 1.0, 1.0]


def test_all_offsets_are_in_the_picture_of_their_cosines() -> None:
    axes = draw_matrix({LABELS[0]: result_of(BY_HAND)}).axes[0]
    left, right, bottom, top = axes.images[0].get_extent()
    assert (axes.get_xlim(), axes.get_ylim()) == ((left, right), (bottom, top))
    assert (left, right, bottom, top) == (-1.5, 1.5, 1.5, -1.5)


def test_a_mirror_symmetric_table_does_not_distinguish_before_and_after() -> None:
    draws = np.random.default_rng(0).normal(size=(6, 8))
    form = RelativeTable(frozen(np.concatenate([draws[:0:-1], draws])), frozen(np.arange(-5, 6)))
    assert value(form, "sides") == pytest.approx(1.0)
    assert "hardly tells before from after" in result_of(form).findings[1].text


def test_opposite_vectors_on_either_side_have_a_cosine_of_minus_one() -> None:
    assert value(table([[-1.0, 2.0], [5.0, 5.0], [1.0, -2.0]], first=-1), "sides") == pytest.approx(
        -1.0
    )


def test_offsets_without_an_opposite_are_ignored() -> None:
    assert value(
        table([[7.0, 7.0], [-1.0, 2.0], [5.0, 5.0], [1.0, -2.0]], first=-2), "sides"
    ) == pytest.approx(-1.0)


def test_a_table_of_one_side_has_no_sides() -> None:
    assert value(table([[1.0, 0.0], [0.0, 1.0]], first=0), "sides") is None


def test_without_offset_0_the_nearest_offset_is_used() -> None:
    assert result_of(table([[1.0, 0.0], [0.0, 1.0]], first=2)).arrays["to_zero"].tolist() == [
        1.0,
        0.0,
    ]


def test_a_vector_of_zeros_is_excluded() -> None:
    form = table([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], first=-1)
    assert (value(form, "adjacent"), value(form, "mean"), value(form, "sides")) == (None, 1.0, 1.0)


def test_a_single_vector_is_not_applicable() -> None:
    with pytest.raises(NotApplicableError, match="fewer than two offsets"):
        result_of(table([[1.0, 0.0]], first=0))
