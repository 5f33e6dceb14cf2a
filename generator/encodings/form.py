"""What every form of encoding says of itself; one that lacks any of it cannot be made."""

from abc import ABC, abstractmethod

from generator.numerics.arrays import Floats


class Form(ABC):
    """The numbers by which position is told, and what they say of a pair of positions. Analyses state which forms they understand."""

    @property
    @abstractmethod
    def noun(self) -> str:
        """What it is, with an article."""

    @property
    @abstractmethod
    def numbers(self) -> Floats:
        """The numbers that make it up."""

    @property
    @abstractmethod
    def grid(self) -> tuple[int, int] | None:
        """Rows and columns of patches, where positions lie on a grid, row by row; None where they lie in a line."""

    @property
    @abstractmethod
    def extent(self) -> int | None:
        """How many positions it has room for; None where it has no end."""

    @property
    @abstractmethod
    def reference(self) -> "Form | None":
        """What it is shown beside, unless it is the same."""

    @property
    @abstractmethod
    def quantity(self) -> str:
        """What the numbers of its kernel are; those of one quantity can be taken from each other."""

    @property
    @abstractmethod
    def is_symmetric(self) -> bool:
        """Whether query and key can be exchanged, by construction."""

    @property
    @abstractmethod
    def depends_on_offset(self) -> bool:
        """Whether pairs with the same offset, on the grid if there is one, are alike; if not, the form has to be symmetric."""

    @abstractmethod
    def kernel(self, n_positions: int) -> Floats:
        """What it says of the first positions, query by key: (n_heads, n, n), n limited to what it has room for."""

    def middle(self, rows: int, columns: int) -> "Form":
        """The same of as many rows and columns in the middle of its grid."""
        raise NotImplementedError(f"{type(self).__name__}: positions on a grid {self.grid}; expected a form that tells those in its middle")

    @property
    def settled(self) -> "Form":
        """The same, with all numbers that other libraries have to be asked for."""
        return self
