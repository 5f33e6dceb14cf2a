"""One vector for each position."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from generator.encodings.form import Form
from generator.encodings.sinusoids import grid_sinusoid, sinusoid
from generator.errors import NotApplicableError
from generator.numerics.arrays import FLAT, Floats, centred_slice, cosine_matrix, frozen

MOST_WORK = 4e10  # 16,384 × 1,024 and 2,048 × 9,216 are within; a larger table would be decomposed for minutes.
LEADING = 3  # components along which positions are kept


@dataclass(frozen=True, eq=False)
class Components:
    """Of the singular value decomposition of a table less its mean row: table − mean = scores · diag(values) · directions.

    scores: (n_positions, LEADING), the first columns; values: (min(n_positions, d_model),) from the largest
    """

    scores: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class PositionTable(Form):
    """One vector for each position. Stored rows before the first position and after the last are not part of it.

    vectors: (n_positions, d_model); grid: rows and columns of patches, where positions lie on one, row by row
    """

    vectors: Floats
    first_row: int = 0
    grid: tuple[int, int] | None = None
    noun = "a table of vectors"
    quantity = "cosine of two positions' vectors"
    is_symmetric = True
    depends_on_offset = False

    @property
    def numbers(self) -> Floats:
        return self.vectors

    @property
    def extent(self) -> int:
        return len(self.vectors)

    @cached_property
    def reference(self) -> "PositionTable | None":
        """The sinusoid of the same shape, over the same grid, which every other table is shown beside."""
        table = reference(*self.vectors.shape, self.grid)
        return None if np.array_equal(table.vectors, self.vectors) else table

    @cached_property
    def singular_values(self) -> Floats:
        """Of the table as it is, from the largest, in units of its largest value: (min(n_positions, d_model),).

        errors: NotApplicableError where every value is zero, or it is too large
        """
        return frozen(np.linalg.svd(self._in_own_units, compute_uv=False))

    @cached_property
    def components(self) -> Components:
        """The decomposition of the table less its mean row, in units of its largest value.

        errors: NotApplicableError where every value is zero, all rows are the same, or it is too large
        """
        scaled = self._in_own_units
        centred = scaled - scaled.mean(axis=0)
        if np.max(np.abs(centred)) <= FLAT:
            raise NotApplicableError("all positions have the same vector")
        scores, values, _ = np.linalg.svd(centred, full_matrices=False)
        return Components(frozen(scores[:, :LEADING]), frozen(values))

    @property
    def _in_own_units(self) -> Floats:
        if self.vectors.size * min(self.vectors.shape) > MOST_WORK:
            raise NotApplicableError(f"a table of {self.vectors.shape[0]:,} × {self.vectors.shape[1]:,} takes too long to decompose")
        largest = float(np.max(np.abs(self.vectors), initial=0.0))
        if largest == 0.0:
            raise NotApplicableError("every value of the table is zero")
        return np.asarray(self.vectors / largest)

    def kernel(self, n_positions: int) -> Floats:
        """Cosine similarity of the first ``n_positions`` vectors: (1, n, n), n limited to what the table holds."""
        return cosine_matrix(self.vectors[:n_positions])[None]

    def middle(self, rows: int, columns: int) -> "PositionTable":
        n_rows, n_columns = self.grid or (1, len(self.vectors))
        block = self.vectors.reshape(n_rows, n_columns, -1)[centred_slice(n_rows, rows), centred_slice(n_columns, columns)]
        return PositionTable(block.reshape(-1, block.shape[2]), grid=(rows, columns))


@lru_cache(maxsize=2)
def reference(n_positions: int, d_model: int, grid: tuple[int, int] | None) -> PositionTable:
    """One and the same for all tables of a shape, so that what is measured of it need not be measured again."""
    return PositionTable(sinusoid(n_positions, d_model) if grid is None else grid_sinusoid(grid, d_model), grid=grid)
