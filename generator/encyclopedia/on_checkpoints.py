"""What the page of a checkpoint shows of the published model that it is of, or a copy of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Json, Limit, Outcome
from generator.encyclopedia import by_program, details
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_rows import growing, kind_of, limits_of, page_of, records


@dataclass(frozen=True)
class OfCheckpoint:
    """A model as in models.json, as a checkpoint's page shows it.

    address: of its page; is_original: whether the checkpoint is a copy of it; kind: see
        ``kind_of``; growing: bytes of a further token in the cache, in bf16; None where that is not
        known; titles: of schemes by key; without_windows: programs that give no layer a window;
        limits: as ``limits_of``; differ: as ``by_program.of``
    """

    model: Json
    address: str
    is_original: bool
    kind: str
    growing: int | None
    titles: Mapping[str, str]
    without_windows: Sequence[str]
    limits: Sequence[Limit]
    differ: Sequence[Json]


def of_checkpoint(atlas: Atlas, outcome: Outcome) -> OfCheckpoint | None:
    """What the page of ``outcome`` shows; None where no published model is known for it."""
    name = outcome.checkpoint.original or outcome.checkpoint.model
    found = next((model for model in records(atlas) if model["id"] == name), None)
    if found is None:
        return None
    return OfCheckpoint(
        found,
        page_of(name, ".html"),
        bool(outcome.checkpoint.original),
        kind_of(found),
        None if found["cache"] is None else growing(found),
        {scheme.key: scheme.title for scheme in atlas.schemes},
        details.without_windows(name),
        limits_of(atlas).get(name, ()),
        () if (known := known_model(name)) is None else by_program.of(known)["differ"],
    )
