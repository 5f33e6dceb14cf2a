"""One analysis of one encoding, and one of its figures, for programs in Python."""

from threadpoolctl import threadpool_limits

from generator.contracts import Analysis, DrawnFigure, Label, ReadEncoding, Result, Subject
from generator.errors import NotApplicableError, RefusedError
from generator.figures import svg
from generator.figures.style import series_colour
from generator.pipeline.evaluate import all_analyses, drawing_of, result_of
from generator.pipeline.inspect import NO_INPUT


def analyse(encoding: ReadEncoding, analysis: str) -> Result:
    """What the analysis with this key finds.

    errors: RefusedError without such an analysis, NotApplicableError where it does not apply
    """
    return _result(_analysis(analysis), encoding)


def figure(encoding: ReadEncoding, analysis: str, key: str = "") -> DrawnFigure:
    """The figure with this key, or the first one, of the analysis with the key ``analysis``.

    errors: as of ``analyse``, and RefusedError without such a figure
    """
    found = _analysis(analysis)
    specs = {spec.key: spec for spec in found.figures}
    spec = specs.get(key or next(iter(specs)))
    if spec is None:
        raise RefusedError(f"{key!r}: no figure of {analysis}; expected one of {', '.join(specs)}")
    result = _result(found, encoding)
    label = Label(encoding.name, series_colour(encoding.checkpoint))
    with threadpool_limits(1):
        drawing, alt = drawing_of(found, spec, encoding.encoding, label, result)
    return DrawnFigure(svg.parts(drawing)[0].decode(), alt)


def _analysis(key: str) -> Analysis:
    found = {analysis.key: analysis for analysis in all_analyses()}
    if key not in found:
        raise RefusedError(f"{key!r}: no analysis; expected one of {', '.join(found)}")
    return found[key]


def _result(analysis: Analysis, encoding: ReadEncoding) -> Result:
    encoding.check_numbers()
    with threadpool_limits(1):  # More threads would change the last digits.
        result = result_of(analysis, Subject(encoding.encoding, no_input=NO_INPUT))
    if result.reason is not None:
        raise NotApplicableError(
            f"{encoding.key}: “{analysis.title}” does not apply ({result.reason})"
        )
    return result
