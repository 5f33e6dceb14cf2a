"""The interface of all forms of encoding.

A form that lacks an abstract member cannot be instantiated.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Literal

from generator.numerics.arrays import Floats

# What a model changes to tell positions; "" for nothing.
ActsIn = Literal["input", "logits", "queries and keys", "state", ""]


class Form(ABC):
    """The numbers of a position encoding, and the kernel that follows from them.

    Analyses declare which forms they understand.
    """

    @property
    @abstractmethod
    def noun(self) -> str:
        """The form in words, with an article, for sentences on a page."""

    @property
    @abstractmethod
    def numbers(self) -> Floats:
        """All of its numbers, in the shape and unit of the form."""

    @property
    @abstractmethod
    def grid(self) -> tuple[int, int] | None:
        """Rows and columns of patches, numbered row by row; None for a sequence."""

    @property
    @abstractmethod
    def extent(self) -> int | None:
        """The number of positions that it covers; None without a limit."""

    @property
    @abstractmethod
    def make_reference(self) -> "Callable[[], Form] | None":
        """Makes a form for comparison, which figures draw too, from the shape and the grid alone;
        None without one.
        """

    @property
    @abstractmethod
    def quantity(self) -> str:
        """The quantity and unit of the kernel. Kernels of the same quantity can be subtracted."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether the kernel is symmetric in query and key by construction."""

    @property
    @abstractmethod
    def depends_on_offset(self) -> bool:
        """Whether the kernel is a function of the offset alone, on the grid where there is one.

        Otherwise it has to be symmetric.
        """

    @property
    def acts_in(self) -> ActsIn:
        """What a model changes by it."""
        return "logits"

    @property
    def tells_position(self) -> bool:
        """False for what acts in attention beside an encoding of position."""
        return True

    @property
    def parameters(self) -> Mapping[str, object]:
        """The numbers that define it, apart from its arrays, as JSON can hold them."""
        return {}

    @abstractmethod
    def kernel(self, n_positions: int) -> Floats:
        """The kernel of the first positions, query by key: (n_heads, n, n); NaN for keys that a
        causal mask hides.

        n is ``n_positions``, limited to the extent of a table, bias, window or temperature; the
        other forms continue beyond theirs.
        """

    def middle(self, rows: int, columns: int) -> "Form":
        """The form of ``rows`` × ``columns`` patches in the middle; of one on a grid."""
        raise NotImplementedError

    @property
    def settled(self) -> "Form":
        """The form with every number computed that takes long or needs another library, so that a
        stored one has it.
        """
        return self

    @property
    def inliers(self) -> "Form":
        """The form with NaN in place of the vectors of outliers; the form itself where it has no
        vector for each position.
        """
        return self
