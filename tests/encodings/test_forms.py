"""What holds for every form of encoding, whichever there are."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from generator.encodings import Form, all_forms
from generator.encodings.kernels import kernel_of
from generator.numerics.arrays import offsets_between
from tests.forms import FORMS

NEEDED = sorted(Form.__abstractmethods__)
ON_A_GRID = [name for name, form in FORMS.items() if form.grid is not None]
N = 24
each_on_a_grid = pytest.mark.parametrize("name", ON_A_GRID)


def made_without(names: set[str]) -> Callable[[], Form]:
    """A form that says all that is needed but this."""
    return type("Incomplete", (Form,), {name: None for name in NEEDED if name not in names})


def test_every_form_is_among_the_examples() -> None:
    assert {type(form) for form in FORMS.values()} == set(all_forms())


@pytest.mark.parametrize("name", NEEDED)
def test_a_form_that_leaves_out_what_is_asked_of_it_cannot_be_made(name: str) -> None:
    assert made_without(set())()
    with pytest.raises(TypeError, match=name):
        made_without({name})()


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_kernel_is_square_and_no_larger_than_asked_for() -> None:
    shapes = {name: form.kernel(N).shape for name, form in FORMS.items()}
    assert {
        name: shape
        for name, shape in shapes.items()
        if shape[0] == 0 or shape[1] != shape[2] or not 0 < shape[2] <= N
    } == {}


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_kernel_that_is_the_same_both_ways_is_symmetric() -> None:
    for name, kernel in {
        name: form.kernel(N) for name, form in FORMS.items() if form.is_symmetric
    }.items():
        assert_allclose(kernel, kernel.transpose(0, 2, 1), rtol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_kernel_that_depends_on_the_offset_is_the_same_along_diagonals() -> None:
    for name, kernel in {
        name: form.kernel(N)
        for name, form in FORMS.items()
        if form.depends_on_offset and form.grid is None
    }.items():
        of_offset = dict(
            zip(
                offsets_between(kernel.shape[1]).ravel(),
                kernel.reshape(len(kernel), -1).T,
                strict=True,
            )
        )
        expected = [
            [of_offset[key - query] for key in range(kernel.shape[1])]
            for query in range(kernel.shape[1])
        ]
        assert_array_equal(np.moveaxis(kernel, 0, 2), expected, err_msg=name)


def test_a_form_has_words_and_its_kernel_is_symmetric_or_of_the_offset() -> None:
    assert [
        name for name, form in FORMS.items() if not form.is_symmetric and not form.depends_on_offset
    ] == []
    words = [(name, text) for name, form in FORMS.items() for text in (form.noun, form.quantity)]
    assert [(name, text) for name, text in words if text.strip() != text or len(text) <= 3] == []


@each_on_a_grid
def test_a_grid_has_room_for_as_many_positions_as_the_form(name: str) -> None:
    form = FORMS[name]
    assert form.grid is not None
    assert form.extent == form.grid[0] * form.grid[1]


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@each_on_a_grid
def test_the_middle_of_a_grid_says_the_same_of_its_patches(name: str) -> None:
    form = FORMS[name]
    rows, columns = form.grid or (0, 0)
    inner = (-(-rows // 2), -(-columns // 2))
    down, across = ((size - shown) // 2 for size, shown in zip((rows, columns), inner, strict=True))
    patches = (
        np.arange(rows * columns)
        .reshape(rows, columns)[down : down + inner[0], across : across + inner[1]]
        .ravel()
    )
    middle = form.middle(*inner)
    assert middle.grid == inner
    assert_allclose(
        middle.kernel(patches.size),
        form.kernel(rows * columns)[:, patches[:, None], patches],
        rtol=1e-9,
        atol=1e-12,
    )


def test_of_patches_along_a_side_there_are_no_more_than_it_has_room_for() -> None:
    rooms = {
        name: N if form.extent is None else min(N, form.extent)
        for name, form in FORMS.items()
        if form.grid is None
    }
    assert {
        name: kernel_of(FORMS[name], 2 * N, N, of_patches=True).longest for name in rooms
    } == rooms
