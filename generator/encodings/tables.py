"""One vector for each position."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from generator.encodings.form import Form
from generator.encodings.sinusoids import SinusoidFormula, grid_formula, sinusoid_formula
from generator.errors import NotApplicableError
from generator.numerics.arrays import (
    FLAT,
    Array,
    Floats,
    centred_slice,
    cosine_matrix,
    frozen,
    largest,
)
from generator.numerics.gram import principal, squared_singular_values
from generator.numerics.outliers import outlier_rows
from generator.numerics.structure import Structure, steps, structure

# A larger table, for whose decomposition several copies would be made, goes by its Gram matrix.
MOST_VALUES = 2**23
# rows or columns, whichever are fewer; a larger Gram matrix would be decomposed for minutes.
MOST_SHORT = 6144
LEADING = 3  # components along which the positions are placed


@dataclass(frozen=True, eq=False)
class Components:
    """Singular value decomposition of a table minus its mean row: table − mean = left ·
    diag(values) · right.

    left: (n_positions, LEADING), orthonormal columns, the first ones; values: (min(n_positions,
        d_model),), in descending order
    """

    left: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class PositionTable(Form):
    """One vector per position, without the stored rows before the first position and after the
    last.

    given: the vectors, (n_positions, d_model), or the formula from which they follow, so that only
        what needs them computes them
    first_row: index of the first position in the stored tensor; grid: rows and columns of patches,
        numbered row by row
    known_outliers: ``outliers``, where they have been computed before
    """

    given: Floats | SinusoidFormula
    first_row: int = 0
    grid: tuple[int, int] | None = None
    known_outliers: Array | None = None
    noun = "a table of vectors"
    quantity = "cosine of two position vectors"
    acts_in = "input"
    is_symmetric = True
    depends_on_offset = False

    @cached_property
    def vectors(self) -> Floats:
        """The vectors: (n_positions, d_model)."""
        return self.given.table if isinstance(self.given, SinusoidFormula) else self.given

    @property
    def formula(self) -> SinusoidFormula | None:
        """The formula from which the vectors follow; None for those of a tensor."""
        return self.given if isinstance(self.given, SinusoidFormula) else None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of positions, and d_model."""
        n_positions, d_model = self.given.shape
        return n_positions, d_model

    @property
    def numbers(self) -> Floats:
        """The vectors: (n_positions, d_model)."""
        return self.vectors

    @property
    def parameters(self) -> Mapping[str, object]:
        """Index of the first position in the stored tensor, number of positions, and rows and
        columns of patches.
        """
        return {
            "first_row": self.first_row,
            "n_positions": self.extent,
            "grid": None if self.grid is None else list(self.grid),
        }

    @property
    def extent(self) -> int:
        """Positions of the table."""
        return self.shape[0]

    @property
    def make_reference(self) -> Callable[[], Form]:
        """Makes the sinusoid of the same shape and grid."""
        return partial(sinusoid_table, *self.shape, self.grid)

    @cached_property
    def outliers(self) -> Array:
        """Positions whose vectors are of unusual norm or unlike those of their neighbours, in
        ascending order: (n_outliers,), int.
        """
        if self.known_outliers is not None:
            return self.known_outliers
        return outlier_rows(self.vectors, self.grid[1] if self.grid else len(self.vectors))

    @cached_property
    def structure(self) -> Structure:
        """What the table lacks; nothing for one by a formula, or of numbers that are not finite."""
        if self.formula is not None or not np.all(np.isfinite(self.vectors)):
            return Structure()
        return structure(self.vectors, self.outliers)

    @cached_property
    def steps(self) -> Floats | None:
        """The step of each row, (n_positions,), where values are stored in steps, as by
        quantisation; None otherwise.
        """
        if self.formula is not None or not np.all(np.isfinite(self.vectors)):
            return None
        return steps(self.vectors)

    @property
    def settled(self) -> "PositionTable":
        """The table with its outliers."""
        return replace(self, known_outliers=self.outliers)

    @property
    def inliers(self) -> "PositionTable":
        """The table with NaN in place of the vectors of outliers; a copy each time, where there are
        any, so that none stays in memory.
        """
        if not self.outliers.size:
            return self
        vectors = self.vectors.copy()
        vectors[self.outliers] = np.nan
        return PositionTable(vectors, self.first_row, self.grid)

    @property
    def without_outliers(self) -> "PositionTable":
        """The table without the vectors of outliers, in a line; itself without any, or where all
        others are zero.
        """
        if not self.outliers.size:
            return self
        others = np.delete(self.vectors, self.outliers, axis=0)
        return PositionTable(others, known_outliers=self.outliers[:0]) if np.any(others) else self

    def bridged(self, vectors: Floats) -> Floats:
        """``vectors``, (n_positions, any), with those of outliers replaced by a straight line from
        the nearest other before to the nearest after, or by the nearest at an end.
        """
        others = np.delete(np.arange(self.extent), self.outliers)
        if not self.outliers.size or not others.size:
            return vectors
        after, last = np.searchsorted(others, self.outliers), others.size - 1
        left, right = others[np.maximum(after - 1, 0)], others[np.minimum(after, last)]
        left, right = np.where(after == 0, right, left), np.where(after > last, left, right)
        share = (self.outliers - left) / np.maximum(right - left, 1)
        bridged = vectors.copy()
        lines = (1.0 - share)[:, None] * vectors[left] + share[:, None] * vectors[right]
        bridged[self.outliers] = lines
        return bridged

    @cached_property
    def singular_values(self) -> Floats:
        """Singular values of the table, not centred, in descending order: (min(n_positions,
        d_model),), relative to its largest magnitude.

        errors: NotApplicableError for a table of zeros, or one too large to decompose
        """
        unit = self._unit
        if self._is_large:
            return frozen(np.sqrt(squared_singular_values(self.vectors, unit)))
        return frozen(np.linalg.svd(self.vectors / unit, compute_uv=False))

    @cached_property
    def components(self) -> Components:
        """Principal components of the rows, relative to the table's largest magnitude.

        errors: NotApplicableError for a table of zeros or of equal rows, or one too large to
            decompose
        """
        unit = self._unit
        if np.ptp(self.vectors, axis=0).max() <= FLAT * unit:
            raise NotApplicableError("all positions have the same vector")
        if self._is_large:
            squares, along = principal(self.vectors, unit, LEADING)
            values = np.sqrt(squares)
            return Components(
                frozen(along / np.where(values[:LEADING] == 0.0, 1.0, values[:LEADING])),
                frozen(values),
            )
        centred = self.vectors / unit
        centred -= centred.mean(axis=0)
        left, values, _ = np.linalg.svd(centred, full_matrices=False)
        return Components(frozen(left[:, :LEADING]), frozen(values))

    @property
    def _is_large(self) -> bool:
        return self.vectors.size > MOST_VALUES

    @property
    def _unit(self) -> float:
        """The largest magnitude.

        errors: NotApplicableError for a table of zeros, or one too large to decompose
        """
        if min(self.vectors.shape) > MOST_SHORT:
            raise NotApplicableError(
                f"a table of {self.vectors.shape[0]:,} × {self.vectors.shape[1]:,} is too large to"
                " decompose"
            )
        unit = largest(self.vectors)
        if unit == 0.0:
            raise NotApplicableError("every value of the table is zero")
        return unit

    def kernel(self, n_positions: int) -> Floats:
        """Cosine similarity of the first ``n_positions`` vectors: (1, n, n), n limited to the
        table.
        """
        return cosine_matrix(self.vectors[:n_positions])[None]

    def middle(self, rows: int, columns: int) -> "PositionTable":
        """The vectors of the ``rows`` × ``columns`` patches in the middle."""
        return self.windows(rows, columns)[0]

    def windows(self, rows: int, columns: int) -> tuple["PositionTable", ...]:
        """The vectors of ``rows`` × ``columns`` patches in the middle of the grid, in its first
        corner and in its last.

        A sequence is a grid of one row.
        """
        n_rows, n_columns = self.grid or (1, len(self.vectors))
        patches = self.vectors.reshape(n_rows, n_columns, -1)
        down, across = centred_slice(n_rows, rows), centred_slice(n_columns, columns)
        blocks = (
            patches[down, across],
            patches[:rows, :columns],
            patches[max(n_rows - rows, 0) :, max(n_columns - columns, 0) :],
        )
        return tuple(
            PositionTable(
                block.reshape(-1, block.shape[2]),
                grid=None if self.grid is None else block.shape[:2],
            )
            for block in blocks
        )


def sinusoid_table(
    n_positions: int, d_model: int, grid: tuple[int, int] | None = None
) -> PositionTable:
    """The sinusoid of a shape."""
    return PositionTable(
        sinusoid_formula(n_positions, d_model) if grid is None else grid_formula(grid, d_model),
        grid=grid,
    )
