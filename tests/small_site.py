"""A small site for tests of comparisons: references from the repository, two biases, a table, and
one checkpoint that fails.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from generator.contracts import (
    Atlas,
    Checkpoint,
    Outcome,
    Page,
    PageKind,
    Reading,
    Tree,
    discovery,
)
from generator.encodings import PositionTable
from generator.pipeline import evaluate
from generator.pipeline.packing import pack, unpack
from generator.reading import lint, plan
from generator.reading.find import all_schemes
from generator.site import pages, render, write
from generator.site.html import mkdocs_build
from generator.site.kinds import every_kind
from generator.site.materials import OURS, Materials
from tests.built import ROOT, once
from tests.encyclopedia.guests import guests
from tests.support import checkpoint
from tests.synthetic import BROKEN, BUCKETS, TABLE, write_folder

REFERENCES = {"sinusoid": "Sinusoid", "llama-2-7b": "Llama 2", "bloom-7b1": "BLOOM"}
SINUSOID, LLAMA, BLOOM = (
    "sinusoid/encoder-sinusoidal", "llama-2-7b/decoder-rotary", "bloom-7b1/decoder-alibi",
)  # fmt: skip
ENCODER, TINY = "buckets/encoder-t5_bias", "table/decoder-learned"


def evaluated(*rows: Checkpoint) -> tuple[Outcome, ...]:
    return tuple(evaluate.outcome_of(plan.Task(row, offline=True)) for row in rows)


def atlas_of(*outcomes: Outcome, **more: Any) -> Atlas:
    """An atlas with all analyses and schemes and no published model, of version 1.0."""
    versions = {"position-atlas": "1.0"}
    return Atlas(
        outcomes,
        evaluate.all_analyses(),
        all_schemes(),
        versions,
        **{"rules": lint.all_rules(), "guests": guests(), **more},
    )


def every_page(atlas: Atlas) -> list[Page]:
    of_guests = (kind for guest in atlas.guests for kind in guest.kinds)
    kinds = (*discovery.load(pages, PageKind), *of_guests)
    return [page for kind in kinds for page in kind.pages(atlas)]


def absent(atlas: Atlas) -> list[str]:
    """The places of kinds of pages of which an atlas has none."""
    return [place for kind in every_kind() if not kind.pages(atlas) for place in kind.places]


def tree_of(atlas: Atlas, materials: Materials = OURS, *, drawn: bool = True) -> Tree:
    """The docs folder, with figures that are empty unless they are to be drawn."""
    draw = render.drawing if drawn else lambda _: b""
    return render.render(atlas, every_page(atlas), materials, draw, absent(atlas))


def small_atlas() -> Atlas:
    """Checkpoints that are evaluated once for a run; the tables have coordinates (cos p, sin p, p)
    at position p.
    """
    packed = once("small", _small_outcomes) / "outcomes"
    return atlas_of(*(_with_curves(outcome) for outcome in unpack(packed.read_bytes())))


def _small_outcomes(folder: Path) -> None:
    synthetic = {"broken": BROKEN, "buckets": BUCKETS, "table": TABLE}
    rows = [
        checkpoint(slug=slug, place=str(ROOT / "references" / slug), title=title)
        for slug, title in REFERENCES.items()
    ]
    rows += [
        checkpoint(slug=slug, place=str(write_folder(folder / slug, contents)), title=slug)
        for slug, contents in synthetic.items()
    ]
    (folder / "outcomes").write_bytes(pack(evaluated(*rows)))


def _with_curves(outcome: Outcome) -> Outcome:
    analyses = evaluate.all_analyses()
    derived = (reading.deriving(analyses) for reading in outcome.readings)
    return replace(outcome, readings=tuple(_with_curve(reading) for reading in derived))


def _with_curve(reading: Reading) -> Reading:
    form = reading.form.load()
    if not isinstance(form, PositionTable):
        return reading
    position = np.arange(len(form.vectors))
    key, result = next(
        (key, result) for key, result in reading.results.items() if result.reason is None
    )
    curve = np.stack([np.cos(position), np.sin(position), position], axis=1)
    return replace(
        reading,
        results={
            **reading.results,
            key: replace(result, arrays={**result.arrays, "coordinates": curve}),
        },
    )


def build(atlas: Atlas, folder: Path) -> Path:
    """Build the HTML site of ``atlas`` below ``folder``; returns its path."""
    write.write(tree_of(atlas), folder / "docs")
    mkdocs_build.build(OURS.settings, folder / "docs", folder / "site", None)
    return folder / "site"


def small() -> Path:
    """A folder with the docs and the site of the small atlas, made once for a run."""
    return once("small-site", lambda folder: build(small_atlas(), folder))
