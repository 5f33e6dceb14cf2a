"""Data of training runs: a file for each, which a list of checkpoints may name in turn."""

from collections.abc import Callable
from functools import partial

from generator.checkpoints import run_file
from generator.contracts import Atlas, Run, paper_address
from generator.site.data.schema import TrainingRun


def path_of(run: Run) -> str:
    """Path of the file of a run, below the docs folder."""
    return f"data/runs/{run.slug}.json"


def makers(atlas: Atlas) -> dict[str, Callable[[], bytes]]:
    """Functions that return the content of each file, by path."""
    return {path_of(run): partial(run_file.encoded, run) for run in atlas.runs}


def record(run: Run) -> TrainingRun:
    """A run, as in atlas.json: what it is, and where its numbers are."""
    return {
        "slug": run.slug,
        "title": run.title,
        "source": run.source,
        "id": run.id,
        "paper": paper_address(run.paper) or None,
        "licence": run.licence or None,
        "steps": list(run.steps),
        "unread": [
            {"step": member.step, "status": member.status, "reason": member.reason}
            for member in run.unread
        ],
        "encodings": [
            {
                "key": encoding.key,
                "part": encoding.part,
                "scheme": encoding.scheme,
                "form": encoding.form,
                "metrics": {
                    metric.key: {"value": metric.last, "unit": metric.unit}
                    for metric in encoding.metrics
                },
            }
            for encoding in run.encodings
        ],
        "data": path_of(run),
    }
