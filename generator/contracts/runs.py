"""Training runs: the numbers of a series of checkpoints of one model, step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

KERNEL_POSITIONS = 128  # over which the kernel of a run is averaged, at most
Status = Literal["ok", "failed", "not reached"]
STATUSES: tuple[Status, ...] = get_args(Status)
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
class RunMember:
    """A checkpoint of a run. name: of its folder or revision; reason: why its status is not ok"""

    step: int
    name: str
    status: Status
    reason: str | None = None


@dataclass(frozen=True)
class RunMetric:
    """A metric over the steps.

    key: as "analysis.metric"; values: one for each member, None where it has none
    """

    key: str
    title: str
    unit: str
    values: tuple[float | None, ...]

    @property
    def last(self) -> float | None:
        """The value of the last member that has one; None where none has."""
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True)
class RunEncoding:
    """An encoding over the steps.

    name: different from that of every other encoding of the run; quantity: of the kernel, with its
        unit
    kernel: for each member the mean over heads and over all pairs of the first ``KERNEL_POSITIONS``
        at each distance, from 0; empty where the member has none
    """

    key: str
    name: str
    part: str
    scheme: str
    form: str
    quantity: str
    metrics: tuple[RunMetric, ...]
    kernel: tuple[tuple[float | None, ...], ...]

    @property
    def present(self) -> tuple[int, ...]:
        """Indices of the members that have it, in ascending order."""
        return tuple(index for index, values in enumerate(self.kernel) if values)

    def metric(self, key: str) -> RunMetric | None:
        """The metric with this key; None where no member has it."""
        return next((metric for metric in self.metrics if metric.key == key), None)


@dataclass(frozen=True)
class RunUse:
    """What a part of the trained model does, over the steps. metrics: their keys as
    "measure.metric"
    """

    part: str
    metrics: tuple[RunMetric, ...]


@dataclass(frozen=True)
class Run:
    """The checkpoints of one training run, in order of their steps.

    slug: its name in addresses; source, id: where it was read from, as in the list; paper, licence,
        notes: as in the list
    uses: what its parts do, where the list asks for it
    """

    slug: str
    title: str
    source: str
    id: str
    members: tuple[RunMember, ...]
    encodings: tuple[RunEncoding, ...]
    notes: str = ""
    paper: str = ""
    licence: str = ""
    uses: tuple[RunUse, ...] = ()

    @property
    def steps(self) -> Sequence[int]:
        """The step of each member, ascending."""
        return [member.step for member in self.members]

    @property
    def unread(self) -> tuple[RunMember, ...]:
        """Members that could not be read."""
        return tuple(member for member in self.members if member.status != "ok")
