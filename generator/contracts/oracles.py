"""Values that others give, recomputed and compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from generator.contracts import InPrint, Oracle, Recomputed, Result, Subject
from generator.contracts.results import compute_alone
from generator.contracts.subjects import FormT
from generator.encodings import Form, PositionTable, Rotation, sinusoid_table
from generator.numerics.arrays import Floats
from generator.text import fixed

# Stored tables with published numbers, by the SHA-256 of their tensors.
GPT2 = "29c69587e2af826b7c159c38620a32e549a925e6d9a0dc37cb563f377f5be772"
DISTILBERT = "8db43e4accf0e974ceff418728f5bb465a116512b4054d547c5aa0c1fdadbf95"
# Versions with which other code computed its values; tests run it again, and hold these to those
# that they find installed.
VERSIONS = {"numpy": "2.4.6", "scikit-learn": "1.9.1", "scipy": "1.17.1", "transformers": "5.24.0"}
COSINES = Recomputed("scikit-learn", "sklearn.metrics.pairwise.cosine_similarity")
SINGULAR_VALUES = Recomputed("scipy", "scipy.linalg.svdvals")
NORMS = Recomputed("numpy", "numpy.linalg.norm")
ANGLES = Recomputed("transformers", "LlamaRotaryEmbedding")
RESCALED = Recomputed("numpy", "the rule of Llama 3.1 as Meta published it, written out in float64")
STRETCHED = Recomputed(
    "numpy", "the rule of Peng et al. 2023 (arXiv 2309.00071), written out in float64"
)
FLOAT32 = "angles in float32, as in the model"
SPLITS = "three standard errors of the difference between two means over random splits"
SAMPLES = "three standard errors of the difference between two means over random samples"


@cache
def paper_sinusoid() -> PositionTable:
    """The sinusoid of 512 positions by 768 dimensions, to which most published values belong."""
    return sinusoid_table(512, 768)


@cache
def phi_3_mini() -> Rotation:
    """Rotation of heads of 96 components over 2,048 positions, as of Phi-3-mini before its context
    was extended.
    """
    return Rotation(1e4, 96, 96, 2048)


@cache
def llama_2() -> Rotation:
    """Rotation of Llama 2 7B."""
    return Rotation(1e4, 128, 128, 4096)


@cache
def llama_3() -> Rotation:
    """Rotation of Llama 3 8B."""
    return Rotation(5e5, 128, 128, 8192)


@cache
def llama_3_1() -> Rotation:
    """Rotation of Llama 3.1 8B, scaled from a context of 8,192 to 131,072 positions."""
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
    }
    return Rotation(5e5, 128, 128, 131_072, {**scaling, "original_max_position_embeddings": 8192})


@cache
def linear_by_4() -> Rotation:
    """Rotation of Llama 2 7B with linear scaling by 4."""
    return Rotation(1e4, 128, 128, 16_384, {"rope_type": "linear", "factor": 4.0})


@cache
def yarn_by_16() -> Rotation:
    """Rotation of Llama 2 7B with YaRN scaling by 16."""
    return Rotation(
        1e4,
        128,
        128,
        65_536,
        {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096},
    )


def metrics(
    compute: Callable[[Subject[FormT]], Result], *keys: str
) -> Callable[[FormT], list[float]]:
    """An ``Oracle.measure``: metrics of an analysis, by key; NaN for a metric without a value."""
    return partial(_metrics, compute, keys)


def cases(
    compute: Callable[[Subject[FormT]], Result],
    source: InPrint | Recomputed,
    given: Callable[[], FormT] | str,
    printed: Mapping[str, Mapping[str, str]],
    **more: Any,
) -> tuple[Oracle, ...]:
    """Values that one source has of metrics.

    given: returns the form, or is the digest of a stored table; printed: for each quantity its
        numbers, by the key of the metric; more: as of ``Oracle``
    """
    if isinstance(given, str):
        more |= {"sha256": given}
    else:
        more |= {"given": given}
    return tuple(
        Oracle(what, tuple(numbers.values()), source, metrics(compute, *numbers), **more)
        for what, numbers in printed.items()
    )


def array(
    compute: Callable[[Subject[FormT]], Result], name: str, *indices: int
) -> Callable[[FormT], list[float]]:
    """An ``Oracle.measure``: entries of a one-dimensional array of an analysis."""
    return partial(_entries, compute, name, indices)


def _metrics(
    compute: Callable[[Subject[FormT]], Result], keys: tuple[str, ...], form: FormT
) -> list[float]:
    result = compute_alone(compute, form)
    return [np.nan if (value := result.value(key)) is None else value for key in keys]


def _entries(
    compute: Callable[[Subject[FormT]], Result], name: str, indices: tuple[int, ...], form: FormT
) -> list[float]:
    values: Floats = compute_alone(compute, form).arrays[name]
    return [float(values[index]) for index in indices]


@dataclass(frozen=True)
class Check:
    """A published value and the same quantity computed here.

    computed: None where this build does not have its table
    """

    case: Oracle
    computed: tuple[float, ...] | None

    @property
    def is_in_print(self) -> bool:
        """Whether the value stands in a publication."""
        return isinstance(self.case.source, InPrint)

    @property
    def source(self) -> str:
        """Origin of the value: a publication and the place in it, or a library with version and
        function.
        """
        source = self.case.source
        if isinstance(source, InPrint):
            return f"{source.work}, {source.place}"
        return f"{source.library} {VERSIONS[source.library]}: {source.function}"

    @property
    def printed(self) -> tuple[float, ...]:
        """The published numbers."""
        return tuple(float(text.replace(",", "")) for text in self.case.printed)

    @property
    def difference(self) -> float | None:
        """Largest absolute difference between published and computed numbers."""
        if self.computed is None:
            return None
        return max(
            abs(computed - printed)
            for computed, printed in zip(self.computed, self.printed, strict=True)
        )

    @property
    def digits(self) -> int:
        """Number of published digits after the point."""
        return max(len(text.partition(".")[2]) for text in self.case.printed)

    @property
    def margin(self) -> float:
        """Largest difference allowed: that of the case, or else half a unit of the last published
        digit.
        """
        return 0.5 * 10.0**-self.digits if self.case.margin is None else self.case.margin

    @property
    def computed_text(self) -> tuple[str, ...]:
        """Computed numbers with two digits more than the published ones; whole numbers without a
        point.
        """
        return tuple(fixed(value, self.digits + 2) for value in self.computed or ())

    @property
    def difference_text(self) -> str:
        """The difference with as many digits as ``computed_text``; "" without computed numbers."""
        return "" if self.difference is None else fixed(self.difference, self.digits + 2)

    @property
    def margin_text(self) -> str:
        """The margin without trailing zeros."""
        return f"{self.margin:.{self.digits + 2}f}".rstrip("0").rstrip(".")

    @property
    def agrees(self) -> bool:
        """Whether the difference is within the margin, up to rounding errors of float64."""
        return self.difference is not None and self.difference <= self.margin * (1.0 + 1e-9)


def check(case: Oracle, tables: Callable[[str], Form | None]) -> Check:
    """``case`` with computed values.

    tables: returns the stored table with a digest, None where this build does not have it
    """
    form = case.given() if case.given is not None else tables(case.sha256 or "")
    return Check(
        case, None if form is None else tuple(float(value) for value in case.measure(form))
    )
