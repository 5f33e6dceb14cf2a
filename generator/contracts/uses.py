"""What a trained model does with position: measures, and their results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from generator.contracts.published_record import Published
from generator.contracts.results import FigureSpec, Finding, Result
from generator.contracts.use_options import Scope


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


@dataclass(frozen=True)
class Use:
    """A question about what a trained model does with position.

    scope: how much of a model it needs; order: its rank on pages
    compute(stack, seed): of one part, a ``Stack`` of ``checkpoints.model.live``. errors:
        NotApplicableError
    findings(first, second): sentences that both runs support
    published: values that it must reproduce
    """

    key: str
    title: str
    question: str
    source: str
    order: int
    scope: Scope
    compute: Callable[[Any, int], Result]
    findings: Callable[[Result, Result], tuple[Finding, ...]]
    figures: tuple[FigureSpec, ...] = ()
    published: tuple[Published, ...] = ()
