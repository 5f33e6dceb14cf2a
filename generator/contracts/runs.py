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
    """Step of training at which it was saved."""
    name: str
    """Of its folder or revision."""
    status: Status
    """Whether it was read."""
    reason: str | None = None
    """Why it was not read; null for `ok`."""


@dataclass(frozen=True)
class RunMetric(Record):
    """A metric over the steps."""

    key: str
    """`analysis.metric`, or `measure.metric` of what the model does."""
    title: str
    """As it is shown."""
    unit: str
    """Its unit; empty for plain numbers."""
    values: tuple[float | None, ...]
    """One for each member, null where it has none."""

    @property
    def last(self) -> float | None:
        """The value of the last member that has one; None where none has."""
        return next((value for value in reversed(self.values) if value is not None), None)


@dataclass(frozen=True)
class RunEncoding(Record):
    """An encoding over the steps."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    name: str
    """Different from that of every other encoding of the run."""
    part: str
    """The part of the model that it serves."""
    scheme: str
    """How position is encoded: the key of a scheme."""
    form: str
    """What kind of thing it is."""
    quantity: str
    """What the kernel is, with its unit."""
    metrics: tuple[RunMetric, ...]
    """Those that any member has."""
    kernel: tuple[tuple[float | None, ...], ...]
    """For each member, the mean of the kernel over heads and over all pairs of the first 128
    positions at distances 0, 1, 2 …; empty where it does not have the encoding.
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
    """What a part of the trained model does, over the steps."""

    part: str
    """Encoder, decoder, or vision."""
    metrics: tuple[RunMetric, ...]
    """Those that any member has."""


@dataclass(frozen=True)
class Run(Record):
    """The numbers of a training run."""

    slug: str
    """Its name in addresses."""
    title: str
    """As it is shown."""
    source: str
    """The key of the list by which its checkpoints were read."""
    id: str
    """As in the list."""
    members: tuple[RunMember, ...]
    """Its checkpoints, in order of their steps."""
    encodings: tuple[RunEncoding, ...]
    """What its checkpoints have."""
    notes: str = ""
    """A note of the list."""
    paper: str = ""
    """The paper that describes it, as in the list."""
    licence: str = ""
    """Licence of its weights, as in the list."""
    uses: tuple[RunUse, ...] = ()
    """What its parts do, where the list asks for it."""

    @property
    def steps(self) -> Sequence[int]:
        """The step of each member, ascending."""
        return [member.step for member in self.members]

    @property
    def unread(self) -> tuple[RunMember, ...]:
        """Members that could not be read."""
        return tuple(member for member in self.members if member.status != "ok")
