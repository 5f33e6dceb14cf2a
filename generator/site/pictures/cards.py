"""Cards of pages: what each shows.

They are made where the address of the site is known, which readers of Open Graph need to find them.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

from generator.cache import fingerprint
from generator.contracts import Analysis, Atlas, Card, Metric, Outcome, Reading, Scheme
from generator.contracts.wording import Wording
from generator.site.pictures import card_drawing
from generator.site.pictures.card_drawing import Content
from generator.site.pictures.value_strips import values_of
from generator.text import measured, with_unit

WORDING = Wording("wording/site.jinja")
MOST_PICTURES = 4
MOST_VALUES = 120


def of_checkpoint(atlas: Atlas, outcome: Outcome, finding: str) -> Card | None:
    """Kernels of its first encodings, with the first ``finding`` of its page; None where no numbers
    of an encoding of position were read, or the site has no address.
    """
    titles = {scheme.key: scheme.title for scheme in atlas.schemes if scheme.tells_position}
    readings = [reading for reading in outcome.readings if reading.encoding.scheme in titles]
    if not readings:
        return None
    schemes = ", ".join(dict.fromkeys(titles[reading.encoding.scheme] for reading in readings))
    row = outcome.checkpoint
    alt = WORDING("card_alt", title=row.title, schemes=schemes)
    lines = tuple(line for line in (schemes, finding) if line)
    return _card(
        atlas,
        f"cards/checkpoints/{row.slug}.png",
        alt,
        lambda: Content(row.title, lines, _pictures(readings)),
    )


def of_scheme(atlas: Atlas, scheme: Scheme, readings: Sequence[Reading]) -> Card | None:
    """Kernels of the first encodings that use it; None where the site has no address."""
    shown = readings[:MOST_PICTURES]
    kernels = (
        f" Heat maps of {', '.join(reading.label.title for reading in shown)}." if shown else ""
    )
    alt = f"{scheme.title}: {scheme.summary}{kernels}"
    return _card(
        atlas,
        f"cards/schemes/{scheme.key}.png",
        alt,
        lambda: Content(scheme.title, (scheme.summary,), _pictures(shown)),
    )


def of_analysis(atlas: Atlas, analysis: Analysis, metric: Metric | None) -> Card | None:
    """Values of ``metric``, in ascending order, of many only some; the question alone where there
    are fewer than two; None where the site has no address.
    """
    values = values_of(atlas).get((analysis.key, metric.key), ()) if metric else ()
    last, count = len(values) - 1, min(len(values), MOST_VALUES)
    shown = (
        tuple(values[last * point // (count - 1)] for point in range(count)) if count > 1 else ()
    )
    lines = [analysis.question]
    if metric and shown:
        low, high = (measured(value, metric.unit) for value in (values[0], values[-1]))
        scale = ", on a logarithmic scale" if card_drawing.is_logarithmic(shown) else ""
        lines.append(
            f"{metric.title}: {len(values)} encodings,"
            f" {low} to {with_unit(high, metric.unit)}{scale}"
        )
    alt = f"{analysis.title}: {' '.join(lines)}"
    return _card(
        atlas,
        f"cards/analyses/{analysis.key}.png",
        alt,
        lambda: Content(analysis.title, tuple(lines), values=shown),
    )


def _pictures(readings: Sequence[Reading]) -> tuple[bytes, ...]:
    return tuple(reading.drawings["thumbnail"] for reading in readings[:MOST_PICTURES])


def _card(atlas: Atlas, path: str, alt: str, make: Callable[[], Content]) -> Card | None:
    if not atlas.address:
        return None
    content = make()
    digests = [hashlib.sha256(drawing).hexdigest() for drawing in content.drawings]
    identity = fingerprint.of_parts((content.title, content.lines, digests, content.values))
    return Card(
        path,
        alt,
        atlas.submit(f"{path} {identity}", partial(card_drawing.encode, content)),
        card_drawing.SIZE,
    )
