"""What a release keeps of an atlas."""

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import TypedDict

from generator.contracts.record import Record
from generator.contracts.runs import Status


class ReleasedMetric(TypedDict):
    """A metric in a release."""

    value: float | None
    """As in atlas.json."""
    unit: str
    """As in atlas.json."""


class ReleasedEncoding(TypedDict):
    """An encoding in a release."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    name: str
    """As on every page."""
    sha256: str | None
    """Digest of its stored bytes."""
    metrics: dict[str, ReleasedMetric]
    """By `analysis.metric`."""


class ReleasedCheckpoint(TypedDict):
    """A checkpoint in a release."""

    slug: str
    """Its name in addresses."""
    title: str
    """As it is shown."""
    status: Status
    """Whether it was read."""
    reason: str | None
    """Why it was not read; null for `ok`."""
    revision: str | None
    """As in atlas.json."""
    encodings: list[ReleasedEncoding]
    """As in atlas.json, with fewer keys."""


@dataclass(frozen=True)
class Release(Record):
    """The record of a release, data/releases/<id>/release.json."""

    id: str
    """Its folder: the date, with a number where that is not the first of the day."""
    number: int
    """From 1, in the order of publication."""
    date: str | None
    """Date of the data, as YYYY-MM-DD."""
    version: str | None
    """Version of the program that made it."""
    libraries: Mapping[str, str]
    """Versions of the main libraries."""
    checkpoints: Mapping[str, ReleasedCheckpoint | None]
    """By slug, those that differ from the release before; null for one that is gone."""
