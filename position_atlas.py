"""How checkpoints encode position, for programs and notebooks. The guide has an example.

A source is a folder, a weights file such as ``model.gguf``, or an id of the Hub, ``owner/name`` or
``owner/name@revision``, of which headers and the tensors of positions alone are downloaded. No code
of a checkpoint runs. Nothing here starts a process, so limits of time and memory are the caller's.
Errors are subclasses of ``AtlasError``, and their message is a sentence: ``RowError`` for what
cannot be read, ``NotReachedError`` where the Hub does not answer.
"""

from pathlib import Path

from generator.contracts import (
    Comparison,
    Difference,
    DrawnFigure,
    Layer,
    LintFinding,
    Metric,
    ReadCheckpoint,
    ReadEncoding,
    Result,
)
from generator.errors import AtlasError, NotApplicableError, NotReachedError, RefusedError, RowError
from generator.libraries import need_site

__all__ = [
    "AtlasError", "Comparison", "Difference", "DrawnFigure", "Layer", "LintFinding", "Metric",
    "NotApplicableError", "NotReachedError", "ReadCheckpoint", "ReadEncoding", "RefusedError",
    "Result", "RowError", "analyse", "compare", "figure", "lint", "read",
]  # fmt: skip


def read(source: str | Path) -> ReadCheckpoint:
    """What the files of a checkpoint say of position: its encodings, layers, context and open
    questions.

    errors: RowError, NotReachedError
    """
    from generator.reading import checkpoint, named

    return named.answer(checkpoint.read, source)


def lint(source: str | Path) -> tuple[LintFinding, ...]:
    """What other programs may get wrong about a checkpoint, without facts, the gravest first, with
    the key of the rule that found it.

    errors: RowError, NotReachedError
    """
    from generator.reading import lint as linter
    from generator.reading import named

    found = named.answer(linter.linted, source)
    return tuple(one for one in found.findings if one.level != "fact")


def compare(a: str | Path, b: str | Path) -> Comparison:
    """Whether two checkpoints encode position identically, by the angles, windows, tables and
    biases that follow from their files.

    errors: RowError, NotReachedError
    """
    from generator.reading import comparison, named

    return named.answer(comparison.compare, a, b)


def analyse(encoding: ReadEncoding, analysis: str) -> Result:
    """Metrics with their units, arrays and findings of one analysis, such as ``rank``: those of a
    page, where these need no sentence. Needs the extra ``site``.

    errors: RefusedError for an unknown key or without the extra, NotApplicableError where the
        analysis is not defined for the encoding
    """
    need_site("analyse")
    from generator.pipeline import one_analysis

    return one_analysis.analyse(encoding, analysis)


def figure(encoding: ReadEncoding, analysis: str, key: str = "") -> DrawnFigure:
    """A figure of an analysis, the first one without a key: that of a page, as SVG, which a
    notebook shows. Needs the extra ``site``.

    errors: as of ``analyse``
    """
    need_site("figure")
    from generator.pipeline import one_analysis

    return one_analysis.figure(encoding, analysis, key)
