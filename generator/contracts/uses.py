"""What a trained model does with position: measures, and their results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.contracts.checkpoints import Scope
from generator.contracts.results import FigureSpec, Finding, Overlay, Result, Results


@dataclass(frozen=True, eq=False)
class UseResult:
    """A measure of one part of a model.

    key: of the ``Use``; part: as in the layer map; second: values of its metrics in a run with
        another seed, by key
    drawings: files by key of the figure; alts: alternative texts by the same keys
    """

    key: str
    part: str
    result: Result
    second: Mapping[str, float | None] = field(default_factory=dict)
    drawings: Mapping[str, bytes] = field(default_factory=dict)
    alts: Mapping[str, str] = field(default_factory=dict)

    def is_of(self, part: str) -> bool:
        """Whether an encoding of ``part`` is in this part of the model."""
        return self.part in part.split()

    @property
    def path(self) -> str:
        """Its name in paths and addresses, unlike that of any other of the checkpoint."""
        return f"{self.part}-{self.key}"


@dataclass(frozen=True)
class Use:
    """A question about what a trained model does with position.

    scope: how much of a model it needs; order: its rank on pages
    units: of its main metrics, by key, which every part has, with a reason where it has no value
    compute(stack, seed): of one part, a ``LiveStack`` of ``checkpoints.model.live``. errors:
        NotApplicableError
    findings(first, second): sentences that both runs support
    across: the figure of all models, on the page that tells of them; None where it has none there
    overlay: the line by which the compare page lays models over each other; None without one
    sentence: returns the sentence beside that figure, from the results in it, "" without one
    """

    key: str
    title: str
    question: str
    source: str
    order: int
    scope: Scope
    units: Mapping[str, str]
    compute: Callable[[Any, int], Result]
    findings: Callable[[Result, Result], tuple[Finding, ...]]
    figures: tuple[FigureSpec, ...] = ()
    across: FigureSpec | None = None
    overlay: Overlay | None = None
    sentence: Callable[[Results], str] = lambda _: ""
