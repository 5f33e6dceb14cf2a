"""How ours compares with values that others give: each case of every extension, asked again."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from generator.contracts import Published, Result, Subject
from generator.contracts.by_itself import FormT, compute_alone
from generator.encodings import Form, PositionTable, Rotation, reference
from generator.numerics.arrays import Floats
from generator.text import fixed

# Stored tables whose numbers others have given, by the SHA-256 of their bytes.
GPT2 = "29c69587e2af826b7c159c38620a32e549a925e6d9a0dc37cb563f377f5be772"
DISTILBERT = "8db43e4accf0e974ceff418728f5bb465a116512b4054d547c5aa0c1fdadbf95"
OTHER_CODE, STORED = "computed from the formula by other code", "computed from the stored table by other code"
# What gives them again; the tests ask it where that takes no stored table.
COSINES, RANKS, LENGTHS = "; again by scikit-learn's cosine_similarity", "; again from scipy's svdvals", "; again by numpy's linalg.norm"
COMPONENTS, TURNING = "; again by scikit-learn's PCA", "; again by transformers' LlamaRotaryEmbedding"
PROTOCOL = " after Wang and Chen 2020 (arXiv 2010.04903) with scikit-learn's "


def paper_sinusoid() -> PositionTable:
    """The sinusoid of 512 positions by 768 dimensions, to which most reference values belong; BERT's table is shown beside it too."""
    return reference(512, 768, None)


@cache
def llama_2() -> Rotation:
    """The rotation of Llama 2, 7B."""
    return Rotation(1e4, 128, 128, 4096)


@cache
def llama_3() -> Rotation:
    """That of Llama 3, 8B."""
    return Rotation(5e5, 128, 128, 8192)


@cache
def llama_3_1() -> Rotation:
    """That of Llama 3.1, 8B, rescaled for a longer context."""
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    return Rotation(5e5, 128, 128, 131_072, {**scaling, "original_max_position_embeddings": 8192})


@cache
def linear_by_4() -> Rotation:
    """That of Llama 2 slowed evenly, fourfold."""
    return Rotation(1e4, 128, 128, 16_384, {"rope_type": "linear", "factor": 4.0})


@cache
def yarn_by_16() -> Rotation:
    """That of Llama 2 stretched sixteenfold by YaRN."""
    return Rotation(1e4, 128, 128, 65_536, {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096})


def metrics(compute: Callable[[Subject[FormT]], Result], *keys: str) -> Callable[[FormT], list[float]]:
    """A measure of ``Published``: the metrics under ``keys`` of what an analysis says of a form; NaN where one has no value."""
    return partial(_metrics, compute, keys)


def array(compute: Callable[[Subject[FormT]], Result], name: str, *places: int) -> Callable[[FormT], list[float]]:
    """A measure of ``Published``: entries of an array of what an analysis says of a form."""
    return partial(_entries, compute, name, places)


def _metrics(compute: Callable[[Subject[FormT]], Result], keys: tuple[str, ...], form: FormT) -> list[float]:
    result = compute_alone(compute, form)
    return [np.nan if (value := result.value(key)) is None else value for key in keys]


def _entries(compute: Callable[[Subject[FormT]], Result], name: str, places: tuple[int, ...], form: FormT) -> list[float]:
    values: Floats = compute_alone(compute, form).arrays[name]
    return [float(values[place]) for place in places]


@dataclass(frozen=True)
class Check:
    """A case beside what we have; ``ours`` is None where its table is at hand nowhere."""

    case: Published
    ours: tuple[float, ...] | None

    @property
    def printed(self) -> tuple[float, ...]:
        """The printed numbers."""
        return tuple(float(text.replace(",", "")) for text in self.case.printed)

    @property
    def apart(self) -> float | None:
        """The largest difference from the printed numbers."""
        return None if self.ours is None else max(abs(ours - value) for ours, value in zip(self.ours, self.printed, strict=True))

    @property
    def digits(self) -> int:
        """How many digits are printed after the point."""
        return max(len(text.partition(".")[2]) for text in self.case.printed)

    @property
    def margin(self) -> float:
        """How far ours may be away: half a unit of the last printed digit, where the case says nothing else."""
        return 0.5 * 10.0**-self.digits if self.case.margin is None else self.case.margin

    @property
    def shown(self) -> tuple[str, ...]:
        """Ours with two digits more than theirs, which rounding does not reach; whole numbers as such."""
        return tuple(fixed(value, self.digits + 2) for value in self.ours or ())

    @property
    def shown_apart(self) -> str:
        """The largest difference, in the same way."""
        return "" if self.apart is None else fixed(self.apart, self.digits + 2)

    @property
    def shown_margin(self) -> str:
        """The margin without zeros at its end."""
        return f"{self.margin:.{self.digits + 2}f}".rstrip("0").rstrip(".")

    @property
    def agrees(self) -> bool:
        """Whether ours rounds to what is printed; a rounding error of float64 beyond the margin does not count."""
        return self.apart is not None and self.apart <= self.margin * (1.0 + 1e-9)


def check(case: Published, tables: Callable[[str], Form | None]) -> Check:
    """``case`` asked again. ``tables`` gives the stored table with a digest, where it is at hand."""
    given = case.given() if case.given is not None else tables(case.sha256 or "")
    return Check(case, None if given is None else tuple(float(value) for value in case.measure(given)))
