"""Published models as a guest of a site: what a build and other pages may ask of them."""

from collections.abc import Mapping
from functools import partial

from generator.contracts import Atlas, Guest, Maker, PageKind, discovery
from generator.encyclopedia import (
    compared_models,
    expected,
    model_files,
    model_rows,
    on_checkpoints,
    pages,
    table,
    turning,
)
from generator.encyclopedia.expected_schema import OF_EXPECTED
from generator.encyclopedia.known_models import config_of
from generator.encyclopedia.models_schema import OF_MODELS
from generator.site.data.downloads import encoded_csv


def _files(atlas: Atlas) -> Mapping[str, Maker]:
    made = next(guest.table for guest in atlas.guests if guest.key == model_rows.KEY)
    return {
        "data/models.json": made,
        "data/models.csv": partial(_csv, atlas),
        "data/positions.js": partial(turning.script, atlas),
        "data/beside.js": partial(compared_models.script, atlas),
        **expected.makers(atlas),
        **model_files.makers(atlas),
    }


def _csv(atlas: Atlas) -> bytes:
    columns = dict(model_rows.table(atlas))
    return encoded_csv(tuple(columns), (list(row) for row in zip(*columns.values(), strict=True)))


GUEST = Guest(
    key=model_rows.KEY,
    table=table.make,
    of_models=table.of_models,
    shipped=table.shipped,
    kinds=discovery.load(pages, PageKind),
    files=_files,
    named=model_rows.named,
    of_checkpoint=on_checkpoints.of_checkpoint,
    users=model_rows.users,
    records={"of_models": OF_MODELS, "of_expected": OF_EXPECTED},
    config=config_of,
)
