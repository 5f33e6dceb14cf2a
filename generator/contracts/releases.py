"""What a release keeps of an atlas."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from generator.contracts.comparisons import Verdict
from generator.contracts.record import Record
from generator.contracts.runs import Status


class ReleasedMetric(TypedDict):
    """A metric in a release."""

    value: float | None
    """The number, as in atlas.json."""
    unit: str
    """Its unit, as in atlas.json."""
    values: NotRequired[list[float | None]]
    """Of a training run, its value at each step."""


class ReleasedRows(TypedDict):
    """Rows of a stored table beside those of the release before."""

    changed: int
    """Number of rows that differ."""
    compared: int
    """Number of rows that were compared: those of the published arrays."""
    every: int
    """How far apart these are in the table: 1 unless it is too large to be published whole."""
    row: int | None
    """Index in the stored tensor of the row that differs most; null if none does."""
    by: float | None
    """Norm of the difference of that row, in percent of its former norm; null if that was zero."""
    share: float
    """Norm of the difference of the whole table, as a share of its former norm, at most 1."""


class ReleasedEncoding(TypedDict):
    """An encoding in a release."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    name: str
    """Its name on every page and in every figure."""
    sha256: str | None
    """SHA-256 of its stored bytes, in hexadecimal; null without a stored tensor."""
    shape: NotRequired[list[int]]
    """Its shape, as in atlas.json."""
    dtype: NotRequired[str | None]
    """Type of its numbers, as in atlas.json."""
    parameters: NotRequired[dict[str, Any]]
    """Its parameters, as in atlas.json, without those that are lists."""
    keys: NotRequired[dict[str, list[str]]]
    """Keys of the file of settings that give each of these."""
    layers: NotRequired[list[int]]
    """Number of layers in which it acts, and of all layers of its part."""
    rows: NotRequired[ReleasedRows]
    """How many of its rows changed, if its stored bytes did."""
    metrics: dict[str, ReleasedMetric]
    """Its metrics, by `analysis.metric`."""


class ReleasedCopy(TypedDict):
    """How a checkpoint compares with its original in a release."""

    original: str
    """Slug of the original, or its id on the Hub."""
    verdict: Verdict | None
    """The verdict; null if one of the two could not be read."""


class ReleasedCheckpoint(TypedDict):
    """A checkpoint in a release."""

    slug: str
    """Its name in addresses."""
    title: str
    """Its title, as the pages show it."""
    status: Status
    """Whether it was read."""
    reason: str | None
    """Why it was not read; null if `status` is “ok”."""
    revision: str | None
    """Its revision, as in atlas.json."""
    copy: NotRequired[ReleasedCopy | None]
    """Whether it encodes position as its original does; null if it is no copy."""
    settings: NotRequired[dict[str, Any]]
    """Its settings, as in atlas.json."""
    steps: NotRequired[list[int]]
    """Of a training run, the steps of its checkpoints, ascending."""
    unread: NotRequired[dict[str, str]]
    """Of a training run, why the checkpoint of a step was not read, by step."""
    encodings: list[ReleasedEncoding]
    """Its encodings as in atlas.json, with fewer keys."""


@dataclass(frozen=True)
class Release(Record):
    """The record of a release, data/releases/<id>/release.json."""

    id: str
    """Name of its folder: the date, followed by a number if it is not the first of the day."""
    number: int
    """Its number in the order of publication, from 1."""
    date: str | None
    """Date of the data, as YYYY-MM-DD."""
    version: str | None
    """Version of the program that made it."""
    libraries: Mapping[str, str]
    """Versions of the main libraries."""
    checkpoints: Mapping[str, ReleasedCheckpoint | None]
    """Checkpoints that differ from the release before, by slug; null for one that was removed."""
