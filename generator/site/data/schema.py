"""The records of the data files: the guide is made from them, and the JSON Schema of atlas.json."""

import json
from collections.abc import Mapping
from types import GenericAlias
from typing import Any, NotRequired

from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from generator.contracts import (
    Limit,
    LintFinding,
    Mixer,
    Origin,
    Release,
    ReleasedCheckpoint,
    ReleasedCopy,
    ReleasedEncoding,
    ReleasedMetric,
    ReleasedRows,
    Run,
    RunEncoding,
    RunMember,
    RunMetric,
    RunUse,
    Status,
    Verdict,
)
from generator.site.history import releases

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PATH = "data/atlas.schema.json"
SCHEME = "Key of the scheme, which says how position is encoded."


class Metric(TypedDict):
    """A number that an analysis computes."""

    value: float | None
    """The number; null if it is not applicable or not finite."""
    unit: str
    """Its unit; empty for plain numbers."""
    reason: str | None
    """Why it is not applicable; otherwise null."""


class UseMetric(TypedDict):
    """A number that a measure of the trained model computes."""

    value: float | None
    """The number; null if it is not applicable or not finite."""
    unit: str
    """Its unit; empty for plain numbers."""
    reason: str | None
    """Why it is not applicable; otherwise null."""
    second: float | None
    """Its value in a second run, on other sequences; null if no sentence rests on it."""
    sequences: int | None
    """Number of sequences, or of images, that were read for it."""


class Copy(TypedDict):
    """Whether a checkpoint encodes position as that one does which it is said to be a copy of."""

    original: str
    """Slug of the other, or its id on the Hub."""
    verdict: Verdict | None
    """The verdict; null if one of the two could not be read."""
    differences: list[str]
    """What is known to differ, a sentence each: A is the original, B the copy."""
    untold: list[str]
    """What one of the two does not tell, a sentence each."""
    notes: list[str]
    """Parts that one of them has alone, and values that are equal but for rounding."""
    reason: str | None
    """Why it was not compared, or source of the record of a config that stands for the original;
    otherwise null.
    """


class Unmeasured(TypedDict):
    """An encoding that transformers' code for the family has, in weights that were not read."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """Part of the model in which it acts: encoder, decoder, vision …"""
    scheme: str
    """Key of the scheme, which says how position is encoded."""
    shape: list[int]
    """Shape of the tensor that the code makes."""
    tensor: str
    """Name of that tensor."""


class Encoding(TypedDict):
    """A position encoding of a checkpoint."""

    name: str
    """Its name on every page and in every figure; no two encodings of the atlas have the same."""
    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """Part of the model in which it acts: encoder, decoder, vision …"""
    scheme: str
    """Key of the scheme, which says how position is encoded."""
    form: str
    """Form of the encoding: a table, a bias, a rotation …"""
    shape: list[int]
    """Shape of the stored tensor, or of the numbers that follow from the configuration; empty if
    there are neither.
    """
    tensor: str | None
    """Name of the stored tensor; null if the numbers follow from the configuration."""
    dtype: str | None
    """Type of its numbers, as stored; null without a stored tensor."""
    sha256: str | None
    """SHA-256 of its stored bytes, in hexadecimal; null without a stored tensor."""
    parameters: dict[str, Any]
    """Parameters that define it, which depend on its form; see below."""
    origins: dict[str, Origin]
    """Where each of these comes from, for an encoding that follows from settings."""
    arrays: str | None
    """Path of its .npz file, from the folder of the site; null without one."""
    metrics: dict[str, Metric]
    """Its metrics, by `analysis.metric`. An analysis that does not apply gives none."""


class RotationOfLayer(TypedDict):
    """The rotation that acts in a layer."""

    base: float
    """Base of the frequencies."""
    rotary_dim: int
    """Components of a head that are rotated."""
    scaling: dict[str, Any] | None
    """Rule by which the frequencies are scaled, and its settings; null without one."""
    attention_factor: float
    """Factor by which that rule multiplies queries and keys; 1 without one."""


class Layer(TypedDict):
    """A layer of a stack."""

    part: str
    """Its stack: encoder, decoder, vision …"""
    index: int
    """Its number within the stack, from 0."""
    type: str
    """Its kind in config.json, as transformers resolves it."""
    kinds: list[Mixer]
    """How it mixes positions. Attention may reach all positions (`full`), a window (`sliding`), the
    same chunk (`chunked`), keys that the query chooses (`sparse`), or keys that each represent
    several positions (`compressed`). Other layers have a state (`recurrent`), a `convolution` or a
    Fourier transform (`fourier`), or mix no positions (`none`).
    """
    before: int | None
    """Largest distance that it reaches before a position, in positions. Null without a limit, or if
    no setting gives that of a window.
    """
    after: int | None
    """Largest distance that it reaches after a position, as for `before`."""
    chosen: int | None
    """Largest number of keys that a query chooses, if it chooses any; null if not known."""
    positions_per_key: int | None
    """Positions that one key represents, where keys are compressed."""
    encodings: list[str] | None
    """The `key` of each encoding that acts in it; null if they are not known, because no weights
    were read.
    """
    at_input: list[str]
    """The `key` of each encoding that is added before the first layer of its stack."""
    rotation: RotationOfLayer | None
    """The rotation that acts in it; null without one."""


class Checkpoint(TypedDict):
    """An entry of the list of checkpoints."""

    slug: str
    """Its name in addresses."""
    title: str
    """Its title, as the pages show it."""
    source: str
    """Key of the list that says where it is: `folder` or `hub`."""
    id: str
    """Its id on the Hub, or its folder as in the list; of an absolute path, only the last part."""
    of: str | None
    """Id on the Hub of the published model that the list says it is of; null for none."""
    revision: str | None
    """The full commit if it was read from the Hub; otherwise the revision in the list, or null."""
    paper: str | None
    """Address of the paper that describes it; null without one."""
    licence: str | None
    """Licence of its weights; null if the list gives none."""
    status: Status
    """Whether it was read."""
    reason: str | None
    """Why it was not read; null if `status` is “ok”."""
    stale: str | None
    """Why its source was not read again, if these are the results of an earlier build; otherwise
    null.
    """
    described_by: str | None
    """Source of the published config that describes the checkpoint, if it was not reached;
    otherwise null.
    """
    layers: list[Layer]
    """Every layer of every stack for text or audio, and of an image model whose attention reaches
    all patches in every layer. Empty if the family is not known, or the checkpoint could not be
    read.
    """
    unmeasured: list[Unmeasured]
    """Encodings whose numbers are in weights that were not read."""
    unresolved: list[str]
    """Sentences about what remains unknown, such as weights that were not read, or a scheme in the
    configuration that was not found. If there are any, an encoding that is missing from `encodings`
    may still exist.
    """
    lint: list[LintFinding]
    """What programs may get wrong about it, as `lint` says; the gravest first."""
    limits: list[Limit]
    """Every limit on the length of a text that its files state, the least first."""
    settings: dict[str, Any]
    """The keys of its file of settings that may matter to position, with their values; in place of
    a list, or of a text that is no plain word, `sha256:` and the first 16 digits of its SHA-256.
    """
    copy: Copy | None
    """How it differs from its original; null if the list does not say that it is a copy."""
    use: dict[str, dict[str, UseMetric]] | None
    """How the trained model uses position: for each part, numbers by `measure.metric`. Null if the
    list does not ask for it.
    """
    no_use: str | None
    """Why none of `use` could be measured; null otherwise."""
    encodings: list[Encoding]
    """Its encodings; empty if none was found, or the checkpoint could not be read."""


class UnreadMember(TypedDict):
    """A checkpoint of a training run that could not be read."""

    step: int
    """Training step at which it was saved."""
    status: Status
    """Why it has no numbers, in one word."""
    reason: str | None
    """The reason as a sentence."""


class LastOfRun(TypedDict):
    """A metric at the last step for which it has a value."""

    value: float | None
    """The value; null if no step has one."""
    unit: str
    """Its unit; empty for plain numbers."""


class EncodingOfRun(TypedDict):
    """An encoding of a training run."""

    key: str
    """Its name within the checkpoint, as in `layers`."""
    part: str
    """Part of the model in which it acts: encoder, decoder, vision …"""
    scheme: str
    """Key of the scheme, which says how position is encoded."""
    form: str
    """Form of the encoding."""
    metrics: dict[str, LastOfRun]
    """Its metrics at the end, by `analysis.metric`; the file of the run has all steps."""


class TrainingRun(TypedDict):
    """A training run; its checkpoints are not in `checkpoints`."""

    slug: str
    """Its name in addresses."""
    title: str
    """Its title, as the pages show it."""
    source: str
    """Key of the list that says where it is."""
    id: str
    """Value of that key in the list."""
    paper: str | None
    """Address of the paper that describes it; null without one."""
    licence: str | None
    """Licence of its weights; null if the list gives none."""
    steps: list[int]
    """Training step of each checkpoint, ascending."""
    unread: list[UnreadMember]
    """Checkpoints that could not be read."""
    encodings: list[EncodingOfRun]
    """Encodings that any of its checkpoints has."""
    data: str
    """Path of the file with all its numbers, from the folder of the site."""


class Atlas(TypedDict):
    """The outermost object of atlas.json."""

    schema: int
    """Number of this format. Under the same number, keys may be added, but none is renamed or
    removed.
    """
    date: str | None
    """Date of the data, as YYYY-MM-DD: that of the newest revision that was read from the Hub,
    otherwise of the list, otherwise of the program. Null if unknown. A publisher may set it by
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
    """Its checkpoints, in the order of `slug`."""
    runs: NotRequired[list[TrainingRun]]
    """Training runs, in the order of `slug`."""
    parts: NotRequired[list[str]]
    """Paths, from the folder of the site, of further files of this format with the checkpoints in
    order; `checkpoints` is then empty. No parts if all checkpoints fit into 5 MB.
    """


class TableParameters(TypedDict):
    """Parameters of a PositionTable."""

    first_row: int
    """Index of the first row of the stored tensor that is a position."""
    n_positions: int
    """Number of positions."""
    grid: list[int] | None
    """Rows and columns of patches; null for a sequence."""


class BiasParameters(TypedDict):
    """Parameters of an OffsetBias. Those that do not apply to a bias are left out."""

    heads: int
    """Number of heads."""
    causal: bool
    """Whether keys after the query are masked."""
    slopes: NotRequired[list[float]]
    """For a linear bias, the slope of each head, in logits per position."""
    buckets: NotRequired[int]
    """For a bias in buckets, their number."""
    max_distance: NotRequired[int]
    """For a bias in buckets, the distance up to which their widths grow, in positions. The last
    bucket begins before it.
    """


class RotationParameters(TypedDict):
    """Parameters of a Rotation."""

    base: float
    """Base of the frequencies."""
    rotary_dim: int
    """Components of a head that are rotated."""
    scaling: dict[str, Any] | None
    """Rule by which the frequencies are scaled, and its settings; null without one."""
    attention_factor: float
    """Factor by which that rule multiplies queries and keys; 1 without one."""
    head_dim: int
    """Components of a head."""
    inverse_frequencies: list[float]
    """Angle by which each pair turns per position, in radians."""
    window: int | None
    """Number of positions visible to one side, including the query's own; null without a limit."""


class DecayParameters(TypedDict):
    """Parameters of a Decay."""

    unit: str
    """What has its own rate: a head, a channel …"""
    n_units: int
    """Number of these units in a layer."""
    at_zero_input: bool
    """Whether the rates are those at zero input."""


class ReleaseEntry(TypedDict):
    """A release in data/releases/index.json, which is a list of them, the first release first."""

    id: str
    """Name of its folder: the date, followed by a number if it is not the first of the day."""
    date: str | None
    """Date of the data, as YYYY-MM-DD."""
    version: str | None
    """Version of the program that made it."""


class RunFile(TypedDict):
    """The outermost object of data/runs/<run>.json, which an entry `run:` can name."""

    format: int
    """Number of this format."""
    about: NotRequired[dict[str, Any]]
    """How its checkpoints were made, if that is recorded."""
    run: Run
    """The numbers of the run."""


PARAMETERS: Mapping[str, type] = {
    "PositionTable": TableParameters,
    "OffsetBias": BiasParameters,
    "Rotation": RotationParameters,
    "Decay": DecayParameters,
}
OF_ATLAS = (
    Atlas,
    Checkpoint,
    Layer,
    RotationOfLayer,
    Encoding,
    Origin,
    Metric,
    UseMetric,
    Unmeasured,
    LintFinding,
    Limit,
    Copy,
    TrainingRun,
    EncodingOfRun,
    LastOfRun,
    UnreadMember,
)
OF_RUNS = (RunFile, Run, RunMember, RunEncoding, RunMetric, RunUse)
OF_RELEASES = (
    ReleaseEntry,
    Release,
    ReleasedCheckpoint,
    ReleasedCopy,
    ReleasedEncoding,
    ReleasedRows,
    ReleasedMetric,
)
COLUMNS: Mapping[str, str] = {
    "checkpoint": "Slug of the checkpoint, its name in addresses.",
    "title": "Title of the checkpoint, as the pages show it.",
    "source": "Key of the list that says where it is, as in atlas.json.",
    "id": "Id of the checkpoint, as in atlas.json.",
    "revision": "Revision of the checkpoint, as in atlas.json.",
    "part": "Part of the model in which the encoding acts.",
    "scheme": SCHEME,
    "form": "Form of the encoding.",
    "metric": "Name of the metric, `analysis.metric`.",
    "value": "Value of the metric; empty if it is not applicable.",
    "unit": "Unit of the value; empty for plain numbers.",
    "reason": "Why the metric is not applicable.",
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


def packed(*records: Any) -> bytes:
    """``schemas`` of records, as JSON."""
    return json.dumps(schemas(*records)).encode()


def json_schema() -> bytes:
    """The JSON Schema of atlas.json."""
    parts = schemas(Atlas)
    schema = {"$schema": DIALECT, "$defs": parts, **parts.pop(Atlas.__name__)}
    schema["title"] = "Position Atlas: atlas.json"
    for name in ("parts", "runs"):
        schema["properties"][name]["default"] = []
    return (json.dumps(schema, indent=1, ensure_ascii=False) + "\n").encode()
