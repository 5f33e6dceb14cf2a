"""The records of the data files: the guide is made from them, and the JSON Schema of atlas.json."""

import json
from collections.abc import Mapping
from types import GenericAlias
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from generator.contracts import (
    Mixer,
    Release,
    ReleasedCheckpoint,
    ReleasedEncoding,
    ReleasedMetric,
    Run,
    RunEncoding,
    RunMember,
    RunMetric,
    RunUse,
    Status,
)
from generator.history import releases

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PATH = "data/atlas.schema.json"
SCHEME = "How position is encoded: the key of a scheme."


class Metric(TypedDict):
    """A number that an analysis gives."""

    value: float | None
    """The number; null where it is not applicable, or not finite."""
    unit: str
    """Its unit; empty for plain numbers."""
    reason: str | None
    """Why it is not applicable."""


class UseMetric(TypedDict):
    """A number that a measure of the trained model gives."""

    value: float | None
    """The number; null where it is not applicable, or not finite."""
    unit: str
    """Its unit; empty for plain numbers."""
    reason: str | None
    """Why it is not applicable."""
    second: float | None
    """The same in a second run, on other sequences; null where no sentence rests on it."""
    sequences: int | None
    """How many sequences, or images, were read for it."""


class Unmeasured(TypedDict):
    """An encoding in the family's code in transformers, and in weights that were not read."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """The part of the model that it serves."""
    scheme: str
    """How position is encoded: the key of a scheme."""
    shape: list[int]
    """Shape of the tensor that the code makes."""
    tensor: str
    """Name of that tensor."""


class Encoding(TypedDict):
    """A position encoding of a checkpoint."""

    name: str
    """As on every page and in every figure; no two encodings of the atlas have the same."""
    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """The part of the model that it serves."""
    scheme: str
    """How position is encoded: the key of a scheme."""
    form: str
    """What kind of thing it is: a table, a bias, a rotation …"""
    shape: list[int]
    """Shape of the stored tensor, or of the numbers that follow from the configuration; empty
    without either.
    """
    tensor: str | None
    """Name of the stored tensor; null where it follows from the configuration."""
    dtype: str | None
    """Type of its numbers, as stored."""
    sha256: str | None
    """Digest of its stored bytes, hexadecimal."""
    parameters: dict[str, Any]
    """What defines it, by its form; see below."""
    arrays: str | None
    """Path of its .npz file below the site; null without one."""
    metrics: dict[str, Metric]
    """By `analysis.metric`. An analysis that does not apply gives none."""


class RotationOfLayer(TypedDict):
    """The rotation that acts in a layer."""

    base: float
    """Base of the frequencies."""
    rotary_dim: int
    """Components of a head that are rotated."""
    scaling: dict[str, Any] | None
    """The rule of rescaling and its settings; null without one."""
    attention_factor: float
    """Factor on queries and keys that the rule brings; 1 without one."""


class Layer(TypedDict):
    """A layer of a stack."""

    part: str
    """Its stack: encoder, decoder, vision …"""
    index: int
    """From 0, within the stack."""
    type: str
    """Its kind in config.json, as transformers resolves it."""
    kinds: list[Mixer]
    """How it mixes positions. Attention: to all (`full`), to a window (`sliding`) or to the same
    chunk (`chunked`). Or to keys that the query chooses (`sparse`), or that each stand for several
    positions (`compressed`). A state (`recurrent`), a `convolution`, a Fourier transform
    (`fourier`), or `none`.
    """
    before: int | None
    """Largest distance that it sees before a position, in positions; null without a limit. Also
    null where no setting gives that of a window.
    """
    after: int | None
    """The same after a position."""
    chosen: int | None
    """Most keys that a query chooses, where it does; null where not known."""
    positions_per_key: int | None
    """Positions that one key represents, where keys are compressed."""
    encodings: list[str] | None
    """The `key` of each encoding that acts in it. Null where no weights were read, so that they are
    not known.
    """
    at_input: list[str]
    """The `key` of each encoding that enters before the first layer of its stack."""
    rotation: RotationOfLayer | None
    """The rotation that acts in it."""


class Checkpoint(TypedDict):
    """An entry of the list of checkpoints."""

    slug: str
    """Its name in addresses."""
    title: str
    """As it is shown."""
    source: str
    """The key of the list by which it was read: a folder, or the Hub."""
    id: str
    """The id on the Hub; or the folder as the list has it, an absolute one by its last part."""
    revision: str | None
    """The full commit when it was read from the Hub; else the revision that the list names, or
    null.
    """
    paper: str | None
    """Address of the paper that describes it."""
    licence: str | None
    """Licence of its weights."""
    status: Status
    """Whether it was read."""
    reason: str | None
    """Why it was not read; null for `ok`."""
    stale: str | None
    """Why its source was not asked again, where all this is what an earlier build read; null
    otherwise.
    """
    described_by: str | None
    """The source of the published config that describes a checkpoint which was not reached. Null
    otherwise.
    """
    layers: list[Layer]
    """Every layer of every stack for text or audio. Also of an image model where attention is to
    all patches in every layer. Empty where the family is not known, or the checkpoint could not be
    read.
    """
    unmeasured: list[Unmeasured]
    """Encodings whose numbers are in weights that were not read."""
    unresolved: list[str]
    """Sentences on what stays open: a scheme of the configuration that was not found, or weights
    that were not read. Where it is not empty, nothing follows from what `encodings` lacks.
    """
    use: dict[str, dict[str, UseMetric]] | None
    """What the trained model does with position: by part, numbers by `measure.metric`. Null where
    the list does not ask for it.
    """
    no_use: str | None
    """Why nothing of that could be measured."""
    encodings: list[Encoding]
    """Empty where none was found, or the checkpoint could not be read."""


class UnreadMember(TypedDict):
    """A checkpoint of a training run that could not be read."""

    step: int
    """Step of training at which it was saved."""
    status: Status
    """Why it has no numbers, in one word."""
    reason: str | None
    """The same in a sentence."""


class LastOfRun(TypedDict):
    """A metric at the last step that has a value."""

    value: float | None
    """Null where no step has one."""
    unit: str
    """Its unit; empty for plain numbers."""


class EncodingOfRun(TypedDict):
    """An encoding of a training run."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """The part of the model that it serves."""
    scheme: str
    """How position is encoded: the key of a scheme."""
    form: str
    """What kind of thing it is."""
    metrics: dict[str, LastOfRun]
    """Its numbers at the end, by `analysis.metric`; its own file has all steps."""


class TrainingRun(TypedDict):
    """A training run, whose checkpoints are not among those of atlas.json."""

    slug: str
    """Its name in addresses."""
    title: str
    """As it is shown."""
    source: str
    """The key of the list by which it was read."""
    id: str
    """As in the list."""
    paper: str | None
    """Address of the paper that describes it."""
    licence: str | None
    """Licence of its weights."""
    steps: list[int]
    """Step of training of each checkpoint, ascending."""
    unread: list[UnreadMember]
    """Checkpoints that could not be read."""
    encodings: list[EncodingOfRun]
    """What its checkpoints have, in any of them."""
    data: str
    """Path of the file with its numbers, from the folder of the site."""


class Atlas(TypedDict):
    """The outermost object of atlas.json."""

    schema: int
    """Number of this format. Something may be added under the same number; nothing is renamed or
    taken away.
    """
    date: str | None
    """Date of the data, as YYYY-MM-DD: of the newest revision that was read from the Hub. Else it
    is that of the list, else of the program. Null where that is unknown. A publisher may set it by
    `SOURCE_DATE_EPOCH`.
    """
    version: str | None
    """Version of the program."""
    libraries: dict[str, str]
    """Versions of the main libraries."""
    licence: str
    """Licence of the data."""
    address: str | None
    """Address of the site, ending with “/”; null where that is unknown."""
    checkpoints: list[Checkpoint]
    """In the order of `slug`."""
    runs: NotRequired[list[TrainingRun]]
    """Training runs, in the order of `slug`."""
    parts: NotRequired[list[str]]
    """Paths of further files like this one, from the folder of the site, that hold the checkpoints
    in order. `checkpoints` is then empty. Empty where all checkpoints fit into 5 MB.
    """


class Table(TypedDict):
    """Parameters of a PositionTable."""

    first_row: int
    """Index of the first row of the stored tensor that is a position."""
    n_positions: int
    """Number of positions."""
    grid: list[int] | None
    """Rows and columns of patches; null for a sequence."""


class Bias(TypedDict):
    """Parameters of an OffsetBias. What a bias lacks is left out."""

    heads: int
    """Number of heads."""
    causal: bool
    """Whether later keys are hidden."""
    slopes: NotRequired[list[float]]
    """Of a linear bias: logits per position, by head."""
    buckets: NotRequired[int]
    """Of a bias in buckets: how many."""
    max_distance: NotRequired[int]
    """Of a bias in buckets: the distance up to which their widths grow, in positions. The last
    begins before it.
    """


class Rotation(TypedDict):
    """Parameters of a Rotation."""

    base: float
    """Base of the frequencies."""
    rotary_dim: int
    """Components of a head that are rotated."""
    scaling: dict[str, Any] | None
    """The rule of rescaling and its settings; null without one."""
    attention_factor: float
    """Factor on queries and keys that the rule brings; 1 without one."""
    head_dim: int
    """Components of a head."""
    inverse_frequencies: list[float]
    """Angle of each pair for one position, in radians."""
    window: int | None
    """Positions visible to one side, the query's included; null without a limit."""


class Decay(TypedDict):
    """Parameters of a Decay."""

    unit: str
    """What has its own rate: a head, a channel …"""
    n_units: int
    """How many of these a layer has."""
    at_zero_input: bool
    """Whether the rates are those without input."""


class ReleaseEntry(TypedDict):
    """A release in data/releases/index.json, which is a list of them, the first release first."""

    id: str
    """Its folder: the date, with a number where that is not the first of the day."""
    date: str | None
    """Date of the data, as YYYY-MM-DD."""
    version: str | None
    """Version of the program that made it."""


class RunFile(TypedDict):
    """The outermost object of data/runs/<run>.json, which an entry `run:` can name."""

    format: int
    """Number of this format."""
    about: NotRequired[dict[str, Any]]
    """How its checkpoints were made, where that is told."""
    run: Run
    """Its numbers."""


PARAMETERS: Mapping[str, type] = {
    "PositionTable": Table,
    "OffsetBias": Bias,
    "Rotation": Rotation,
    "Decay": Decay,
}
OF_ATLAS = (
    Atlas,
    Checkpoint,
    Layer,
    RotationOfLayer,
    Encoding,
    Metric,
    UseMetric,
    Unmeasured,
    TrainingRun,
    EncodingOfRun,
    LastOfRun,
    UnreadMember,
)
OF_RUNS = (RunFile, Run, RunMember, RunEncoding, RunMetric, RunUse)
OF_RELEASES = (ReleaseEntry, Release, ReleasedCheckpoint, ReleasedEncoding, ReleasedMetric)
COLUMNS: Mapping[str, str] = {
    "checkpoint": "The slug.",
    "title": "As it is shown.",
    "source": "As in atlas.json.",
    "id": "As in atlas.json.",
    "revision": "As in atlas.json.",
    "part": "The part of the model.",
    "scheme": SCHEME,
    "form": "What kind of thing the encoding is.",
    "metric": "`analysis.metric`.",
    "value": "Empty where it is not applicable.",
    "unit": "Empty for plain numbers.",
    "reason": "Why it is not applicable.",
    "name": "Name of the encoding.",
}
FILES_OF_A_RELEASE = (releases.RECORD, *(f"{name}.gz" for name in releases.DATA))


def schemas(*records: Any) -> dict[str, Any]:
    """The JSON Schemas of records, and those of the records in them, by their names. The text below
    each key is its description there.

    Further keys are allowed: a later version of the program may add some.
    """
    every: Any = GenericAlias(tuple, records)
    described = TypeAdapter(every, config=ConfigDict(use_attribute_docstrings=True))
    text = json.dumps(described.json_schema()["$defs"])
    found: dict[str, Any] = json.loads(text.replace(r"\n", " "))  # Lines end in the code alone.
    return found


def json_schema() -> bytes:
    """The JSON Schema of atlas.json."""
    parts = schemas(Atlas)
    schema = {"$schema": DIALECT, "$defs": parts, **parts.pop(Atlas.__name__)}
    schema["title"] = "Position Atlas: atlas.json"
    for name in ("parts", "runs"):
        schema["properties"][name]["default"] = []
    return (json.dumps(schema, indent=1, ensure_ascii=False) + "\n").encode()
