"""Training runs: the numbers of a series of checkpoints of one model, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from generator.contracts.record import Record

KERNEL_POSITIONS = 128  # over which the kernel of a run is averaged, at most
Status = Literal["ok", "failed", "not reached"]
Ending = Literal["ok", "stale", "failed", "not reached"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)


@dataclass(frozen=True)
class Series:
    """The run that a checkpoint belongs to.

    slug, title: of the run; step: of training at which the checkpoint was saved; name: of the
        folder or revision, which holds the step
    """

    slug: str
    title: str
    step: int
    name: str


@dataclass(frozen=True)
class RunMember(Record):
    """A checkpoint of a training run."""

    step: int
    """Training step at which it was saved."""
    name: str
    """Name of its folder or revision."""
    status: Status
    """Whether it was read."""
    reason: str | None = None
    """Why it was not read; null if `status` is “ok”."""


@dataclass(frozen=True)
class RunMetric(Record):
    """A metric over the training steps."""

    key: str
    """`analysis.metric`, or `measure.metric` for a measure of the trained model."""
    title: str
    """Its title, as the pages show it."""
    unit: str
    """Its unit; empty for plain numbers."""
    values: tuple[float | None, ...]
    """One value for each member; null if it has none."""

    @property
    def last(self) -> float | None:
        """The value of the last member that has one; None where none has."""
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True)
class RunEncoding(Record):
    """An encoding over the training steps."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    name: str
    """Its name; no two encodings of the run have the same."""
    part: str
    """Part of the model in which it acts: encoder, decoder, vision …"""
    scheme: str
    """Key of the scheme, which says how position is encoded."""
    form: str
    """Form of the encoding."""
    quantity: str
    """Quantity that the kernel is, with its unit."""
    metrics: tuple[RunMetric, ...]
    """Metrics that any member has."""
    kernel: tuple[tuple[float | None, ...], ...]
    """For each member, the mean of the kernel over heads and over all pairs of the first 128
    positions at distances 0, 1, 2 …; empty if the member does not have the encoding.
    """

    @property
    def present(self) -> tuple[int, ...]:
        """Indices of the members that have it, in ascending order."""
        return tuple(index for index, values in enumerate(self.kernel) if values)

    def metric(self, key: str) -> RunMetric | None:
        """The metric with this key; None where no member has it."""
        return next((metric for metric in self.metrics if metric.key == key), None)


@dataclass(frozen=True)
class RunUse(Record):
    """How a part of the trained model uses position, over the training steps."""

    part: str
    """Part of the model: encoder, decoder or vision."""
    metrics: tuple[RunMetric, ...]
    """Metrics that any member has."""

    def metric(self, key: str) -> RunMetric | None:
        """The metric with this key; None where no member has it."""
        return next((metric for metric in self.metrics if metric.key == key), None)


@dataclass(frozen=True)
class Run(Record):
    """The numbers of a training run."""

    slug: str
    """Its name in addresses."""
    title: str
    """Its title, as the pages show it."""
    source: str
    """Key of the list that says where its checkpoints are."""
    id: str
    """Value of that key in the list."""
    members: tuple[RunMember, ...]
    """Its checkpoints, in the order of their steps."""
    encodings: tuple[RunEncoding, ...]
    """Encodings that any of its checkpoints has."""
    notes: str = ""
    """Notes on it, as in the list."""
    paper: str = ""
    """The paper that describes it, as in the list."""
    licence: str = ""
    """Licence of its weights, as in the list."""
    uses: tuple[RunUse, ...] = ()
    """How its parts use position, if the list asks for it."""

    @property
    def steps(self) -> Sequence[int]:
        """The step of each member, ascending."""
        return [member.step for member in self.members]

    @property
    def unread(self) -> tuple[RunMember, ...]:
        """Members that could not be read."""
        return tuple(member for member in self.members if member.status != "ok")
