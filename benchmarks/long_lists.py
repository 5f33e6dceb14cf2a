"""The largest pages of an atlas of many entries: ``python -m benchmarks.long_lists [ENTRIES]``.

Three references without weights are evaluated once. Their outcomes stand for any number of entries,
each with its own names and values: no entry is evaluated, no figure is drawn, and of each list its
part of the page is made, without the frame of the theme.
"""

from collections.abc import Mapping
from dataclasses import replace
from gzip import compress
from typing import Annotated

import typer

from generator import ROOT
from generator.contracts import (
    Atlas,
    Checkpoint,
    Outcome,
    PageKind,
    Result,
    discovery,
    names,
)
from generator.pipeline import evaluate
from generator.reading import lint, plan
from generator.reading.find import all_schemes
from generator.site import pages, render
from generator.site.html.long_tables import shortened
from generator.site.html.minify import compact

REFERENCES = ("llama-2-7b", "bloom-7b1", "mistral-7b")
KINDS = ("catalogue", "analysis", "status")
MOST_SHOWN = 8  # pages


def outcomes(n_entries: int) -> tuple[Outcome, ...]:
    """Outcomes of this many entries, in the order of their slugs."""
    made = [evaluate.outcome_of(plan.Task(_row(name), offline=True)) for name in REFERENCES]
    return tuple(_copy(made[number % len(made)], number, n_entries) for number in range(n_entries))


def _row(name: str) -> Checkpoint:
    return Checkpoint(name, "folder", name, str(ROOT / "references" / name), name)


def _copy(outcome: Outcome, number: int, n_entries: int) -> Outcome:
    """An outcome under other names, and with other values."""
    title = f"Copy {number:05} of {outcome.checkpoint.title}"
    slug = f"copy-{number:05}-of-{outcome.checkpoint.slug}"
    factor = 1.0 + number / n_entries
    readings = tuple(
        replace(reading, results=_scaled(reading.results, factor)) for reading in outcome.readings
    )
    row = replace(outcome.checkpoint, slug=slug, id=slug, title=title)
    return replace(outcome, checkpoint=row, readings=readings)


def _scaled(results: Mapping[str, Result], factor: float) -> dict[str, Result]:
    return {
        key: replace(
            result,
            metrics=tuple(
                replace(one, value=None if one.value is None else one.value * factor)
                for one in result.metrics
            ),
        )
        for key, result in results.items()
    }


def rendered(n_entries: int) -> dict[str, str]:
    """The pages of lists of this many entries, in Markdown, by path."""
    schemes = all_schemes()
    atlas = Atlas(
        names.named(outcomes(n_entries), schemes),
        evaluate.all_analyses(),
        schemes,
        rules=lint.all_rules(),
    )
    kinds = [kind for kind in discovery.load(pages, PageKind) if kind.key in KINDS]
    every = [page for kind in kinds for page in kind.pages(atlas)]
    tree = render.render(atlas, every, draw=lambda _: b"<svg/>")
    return {page.path: tree[page.path].decode() for page in every}


def main(n_entries: Annotated[int, typer.Argument()] = 1000) -> None:
    """Print the sizes of the largest pages, as they would be whole, as they are, and compressed."""
    sizes = []
    for path, text in rendered(n_entries).items():
        whole = compact(text)
        short, others = shortened(whole, "others.js")
        sizes.append((len(whole), len(short), len(compress(short.encode())), len(others), path))
    for n_whole, shown, packed, script, path in sorted(sizes, reverse=True)[:MOST_SHOWN]:
        typer.echo(f"{path}: {n_whole:,} bytes whole; {shown:,} as shown, {packed:,} compressed;"
                   f" {script:,} in its script")  # fmt: skip


if __name__ == "__main__":
    typer.run(main)
