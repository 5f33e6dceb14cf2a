"""Code that is not the program's, within bounds: where it raises, takes too long or returns what
cannot be shown, a sentence says so in place of what it makes.
"""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import current_thread, main_thread
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from generator.contracts.checkpoints import Encoding, Files, Scheme
from generator.contracts.model_config import Json
from generator.contracts.own import folders
from generator.contracts.results import (
    Analysis,
    Finding,
    Metric,
    Overview,
    Result,
    Results,
)
from generator.contracts.rules import Examined, Rule
from generator.contracts.wording import FigureTexts, Wording
from generator.encodings import Form
from generator.errors import AtlasError, NotApplicableError, RowError
from generator.text import short, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


WORDING = Wording("wording/own.jinja")
SECONDS = 60.0  # that one call may take
MOST_SHOWN = 160  # characters of what an exception says

P = ParamSpec("P")
T = TypeVar("T")


class OwnCodeError(Exception):
    """What is wrong with code that is not the program's, as a part of a sentence."""


class TooLongError(BaseException):
    """Code that takes longer than SECONDS. Not an Exception, which that code might catch."""


def guarded(record: Any, kind: str) -> Any:
    """``record`` of a kind of extensions, whose functions raise nothing that ends a row."""
    if isinstance(record, Analysis):
        figures = tuple(
            replace(
                spec,
                draw=partial(_drawn, spec.draw, kind),
                varies=partial(_or, spec.varies, kind, True),
                appeal=partial(_or, spec.appeal, kind, 0.0),
                texts=_Texts(spec.texts, kind),
            )
            for spec in record.figures
        )
        overview = partial(_or, record.overview, kind, Overview())
        compute = partial(_computed, record, kind)
        return replace(record, compute=compute, figures=figures, overview=overview)
    if isinstance(record, Rule):
        return replace(record, find=partial(_checked, record, kind))
    if isinstance(record, Scheme):
        find, asks = partial(_found, record, kind), partial(_questions, record, kind)
        return replace(record, find=find, asks=asks)
    return record


def _call(kind: str, function: Callable[P, T], *inputs: P.args, **named: P.kwargs) -> T:
    """errors: OwnCodeError; MemoryError and those that a user can act on"""
    try:
        with redirect_stdout(sys.stderr), limited():
            return function(*inputs, **named)
    except (MemoryError, AtlasError):
        raise
    except TooLongError:
        raise OwnCodeError(WORDING("too_long", seconds=f"{SECONDS:g}")) from None
    # Whatever it does, the row has a page.
    except (Exception, SystemExit) as error:  # noqa: BLE001
        said = short(visible(" ".join(str(error).split())), MOST_SHOWN)
        name = type(error).__name__
        reason = WORDING("raised", place=_place(error, kind), error=name, said=said)
        raise OwnCodeError(reason) from None


def _place(error: BaseException, kind: str) -> str:
    """The file and the line of that code, without the folders of this machine."""
    frames = [
        f"{kind}/{Path(frame.filename).relative_to(folder).as_posix()}:{frame.lineno}"
        for frame in extract_tb(error.__traceback__)
        for folder in folders(kind)
        if Path(frame.filename).is_relative_to(folder)
    ]
    return frames[-1] if frames else kind


@contextmanager
def limited() -> Iterator[None]:
    """Interrupt the block after SECONDS, where the system and the thread have such a timer.

    errors: TooLongError
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise TooLongError

    handler = signal.signal(signal.SIGALRM, end)
    # Again each second, for code that catches everything.
    left, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, left)


def _or(function: Callable[..., T], kind: str, otherwise: T, *inputs: Any) -> T:
    with suppress(OwnCodeError):
        return _call(kind, function, *inputs)
    return otherwise


def _computed(analysis: Analysis, kind: str, subject: Any) -> Result:
    """errors: NotApplicableError"""
    try:
        result = _call(kind, analysis.compute, subject)
        _check(result)
        for head in analysis.shown:
            _call(kind, head.placed, result)
    except OwnCodeError as error:
        return Result(reason=str(error))
    except RowError as error:
        raise NotApplicableError(str(error)) from None
    return result


def _check(result: Any) -> None:
    """errors: OwnCodeError for what no page can show"""
    _expect(result, Result, "a Result")
    for values, of_type in ((result.metrics, Metric), (result.findings, Finding)):
        for value in values:
            _expect(value, of_type, f"a {of_type.__name__}")
    for name, array in result.arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
            raise OwnCodeError(
                WORDING("wrong", found=f"{name} of another type", expected="an array of numbers")
            )
    known = {metric.key for metric in result.metrics}
    for finding in result.findings:
        if unknown := [key for key in finding.rests_on if key not in known]:
            found = f"a finding on {short(str(unknown[0]))}"
            raise OwnCodeError(WORDING("wrong", found=found, expected="the key of a metric"))


def _expect(value: Any, of_type: type, expected: str) -> None:
    """errors: OwnCodeError"""
    if not isinstance(value, of_type):
        found = f"a value of type {type(value).__name__}"
        raise OwnCodeError(WORDING("wrong", found=found, expected=expected))


def _drawn(draw: "Callable[[Results], Drawing]", kind: str, results: Results) -> "Drawing":
    """The figure, or one with the sentence that says why there is none."""
    from matplotlib.figure import Figure as Drawing

    try:
        drawing = _call(kind, draw, results)
        _expect(drawing, Drawing, "a figure of matplotlib")
        _call(kind, drawing.draw_without_rendering)
    except OwnCodeError as error:
        drawing = Drawing(figsize=(7.0, 1.0))
        drawing.text(0.5, 0.5, f"{WORDING('no_figure')} {error}.", ha="center", wrap=True)
    return drawing


@dataclass(frozen=True)
class _Texts:
    """The texts of a figure, whose alternative text may fail."""

    texts: FigureTexts
    kind: str

    @property
    def caption(self) -> str:
        return self.texts.caption

    @property
    def how_to_read(self) -> str:
        return self.texts.how_to_read

    @property
    def of_several(self) -> "_Texts":
        return _Texts(self.texts.of_several, self.kind)

    def alt(self, results: Results, /) -> str:
        try:
            return _call(self.kind, self.texts.alt, results)
        except OwnCodeError as error:
            return f"{WORDING('no_figure')} {error}."


def _checked(rule: Rule, kind: str, examined: Examined) -> Iterator[tuple[str, Json]]:
    """What a rule finds, whose words exist. errors: OwnCodeError with a sentence"""

    def every() -> Sequence[tuple[str, Json]]:
        found = list(rule.find(examined))
        for one, values in found:
            rule.wording(one, **values)
            rule.levels[one]
        return found

    try:
        found = _call(kind, every)
    except OwnCodeError as error:
        raise OwnCodeError(WORDING("of_rule", key=rule.key, reason=str(error))) from None
    yield from found


def _found(scheme: Scheme, kind: str, files: Files) -> list[Encoding[Form]]:
    return _or(partial(_encodings, scheme), kind, [], files)


def _encodings(scheme: Scheme, files: Files) -> list[Encoding[Form]]:
    """errors: OwnCodeError"""
    found = list(scheme.find(files))
    for one in found:
        _expect(one, Encoding, "an Encoding")
        if one.scheme != scheme.key:
            found_key = f"an encoding of {short(str(one.scheme))}"
            raise OwnCodeError(WORDING("wrong", found=found_key, expected=scheme.key))
    return found


def _questions(scheme: Scheme, kind: str, files: Files) -> Iterable[str]:
    """What the settings ask for, or that the scheme could not look."""
    try:
        _call(kind, _encodings, scheme, files)
        return _call(kind, lambda: list(scheme.asks(files)))
    except OwnCodeError as error:
        return [WORDING("of_scheme", title=scheme.title, reason=str(error))]
