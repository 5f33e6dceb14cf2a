"""The data files as pydantic models, one for each kind of record: the guide is made from them, and
the JSON Schema of atlas.json.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from generator.contracts import Mixer, Status
from generator.history import releases

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PATH = "data/atlas.schema.json"
STACK = "Its stack: encoder, decoder, vision …"
SCHEME = "How position is encoded: the key of a scheme."
OF_SCHEME = "Its name within the checkpoint, as in `layers`."


class Record(BaseModel):
    """A record whose keys are always there, unless a default says otherwise."""

    model_config = ConfigDict(strict=True, populate_by_name=True, defer_build=True)


class Metric(Record):
    """A number that an analysis gives."""

    value: float | None = Field(
        description="The number; null where it is not applicable, or not finite."
    )
    unit: str = Field(description="Its unit; empty for plain numbers.")
    reason: str | None = Field(description="Why it is not applicable.")


class UseMetric(Metric):
    """A number that a measure of the trained model gives."""

    second: float | None = Field(description="The same in a second run, from another seed.")


class Unmeasured(Record):
    """An encoding in the family's code in transformers, and in weights that were not read."""

    key: str = Field(description=OF_SCHEME)
    part: str = Field(description="The part of the model that it serves.")
    scheme: str = Field(description=SCHEME)
    shape: list[int] = Field(description="Shape of the tensor that the code makes.")
    tensor: str = Field(description="Name of that tensor.")


class Encoding(Record):
    """A position encoding of a checkpoint."""

    name: str = Field(
        description=(
            "As on every page and in every figure; no two encodings of the atlas have the same."
        )
    )
    key: str = Field(description=OF_SCHEME)
    part: str = Field(description="The part of the model that it serves.")
    scheme: str = Field(description=SCHEME)
    form: str = Field(description="What kind of thing it is: a table, a bias, a rotation …")
    shape: list[int] = Field(
        description=(
            "Shape of the stored tensor, or of the numbers that follow from the configuration;"
            " empty without either."
        )
    )
    tensor: str | None = Field(
        description="Name of the stored tensor; null where it follows from the configuration."
    )
    dtype: str | None = Field(description="Type of its numbers, as stored.")
    sha256: str | None = Field(description="Digest of its stored bytes, hexadecimal.")
    parameters: dict[str, Any] = Field(description="What defines it, by its form; see below.")
    arrays: str | None = Field(
        description="Path of its .npz file below the site; null without one."
    )
    metrics: dict[str, Metric] = Field(
        description="By `analysis.metric`. An analysis that does not apply gives none."
    )


class RotationOfLayer(Record):
    """The rotation that acts in a layer."""

    base: float = Field(description="Base of the frequencies.")
    rotary_dim: int = Field(description="Components of a head that are rotated.")
    scaling: dict[str, Any] | None = Field(
        description="The rule of rescaling and its settings; null without one."
    )
    attention_factor: float = Field(
        description="Factor on queries and keys that the rule brings; 1 without one."
    )


class Layer(Record):
    """A layer of a stack."""

    part: str = Field(description=STACK)
    index: int = Field(description="From 0, within the stack.")
    type: str = Field(description="Its kind in config.json, as transformers resolves it.")
    kinds: list[Mixer] = Field(
        description=(
            "How it mixes positions. Attention: to all (`full`), to a window (`sliding`) or to the"
            " same chunk (`chunked`). Or to keys that the query chooses (`sparse`), or that each"
            " stand for several positions (`compressed`). A state (`recurrent`), a `convolution`, a"
            " Fourier transform (`fourier`), or `none`."
        )
    )
    before: int | None = Field(
        description=(
            "Largest distance that it sees before a position, in positions; null without a limit."
            " Also null where no setting gives that of a window."
        )
    )
    after: int | None = Field(description="The same after a position.")
    chosen: int | None = Field(
        description="Most keys that a query chooses, where it does; null where not known."
    )
    positions_per_key: int | None = Field(
        description="Positions for which one key stands, where keys are compressed."
    )
    encodings: list[str] | None = Field(
        description=(
            "The `key` of each encoding that acts in it. Null where no weights were read, so that"
            " they are not known."
        )
    )
    at_input: list[str] = Field(
        description="The `key` of each encoding that enters before the first layer of its stack."
    )
    rotation: RotationOfLayer | None = Field(description="The rotation that acts in it.")


class Checkpoint(Record):
    """A row of the list of checkpoints."""

    slug: str = Field(description="Its name in addresses.")
    title: str = Field(description="As it is shown.")
    source: str = Field(
        description="The key of the list by which it was read: a folder, or the Hub."
    )
    id: str = Field(
        description=(
            "The id on the Hub; or the folder as the list has it, an absolute one by its last part."
        )
    )
    revision: str | None = Field(
        description=(
            "The full commit when it was read from the Hub; else the revision that the list names,"
            " or null."
        )
    )
    paper: str | None = Field(description="Address of the paper that describes it.")
    licence: str | None = Field(description="Licence of its weights.")
    status: Status = Field(description="Whether it was read.")
    reason: str | None = Field(description="Why it was not read; null for `ok`.")
    stale: str | None = Field(
        description=(
            "Why its source was not asked again, where all this is what an earlier build read; null"
            " otherwise."
        )
    )
    described_by: str | None = Field(
        description=(
            "The source of the published config that describes a checkpoint which was not reached."
            " Null otherwise."
        )
    )
    layers: list[Layer] = Field(
        description=(
            "Every layer of every stack for text or audio. Also of an image model where attention"
            " is to all patches in every layer. Empty where the family is not known, or the"
            " checkpoint could not be read."
        )
    )
    unmeasured: list[Unmeasured] = Field(
        description="Encodings whose numbers are in weights that were not read."
    )
    unresolved: list[str] = Field(
        description=(
            "Sentences on what stays open: a scheme of the configuration that was not found, or"
            " weights that were not read. Where it is not empty, nothing follows from what"
            " `encodings` lacks."
        )
    )
    use: dict[str, dict[str, UseMetric]] | None = Field(
        description=(
            "What the trained model does with position: by part, numbers by `measure.metric`. Null"
            " where the list does not ask for it."
        )
    )
    no_use: str | None = Field(description="Why nothing of that could be measured.")
    encodings: list[Encoding] = Field(
        description="Empty where none was found, or the checkpoint could not be read."
    )


class UnreadMember(Record):
    """A checkpoint of a training run that could not be read."""

    step: int = Field(description="Step of training at which it was saved.")
    status: Status = Field(description="Why it has no numbers, in a word.")
    reason: str | None = Field(description="The same in a sentence.")


class LastOfRun(Record):
    """A metric at the last step that has a value."""

    value: float | None = Field(description="Null where no step has one.")
    unit: str = Field(description="Its unit; empty for plain numbers.")


class EncodingOfRun(Record):
    """An encoding of a training run."""

    key: str = Field(description=OF_SCHEME)
    part: str = Field(description="The part of the model that it serves.")
    scheme: str = Field(description=SCHEME)
    form: str = Field(description="What kind of thing it is.")
    metrics: dict[str, LastOfRun] = Field(
        description="Its numbers at the end, by `analysis.metric`; its own file has all steps."
    )


class TrainingRun(Record):
    """A training run, whose checkpoints are not among those of atlas.json."""

    slug: str = Field(description="Its name in addresses.")
    title: str = Field(description="As it is shown.")
    source: str = Field(description="The key of the list by which it was read.")
    id: str = Field(description="As in the list.")
    paper: str | None = Field(description="Address of the paper that describes it.")
    licence: str | None = Field(description="Licence of its weights.")
    steps: list[int] = Field(description="Step of training of each checkpoint, ascending.")
    unread: list[UnreadMember] = Field(description="Checkpoints that could not be read.")
    encodings: list[EncodingOfRun] = Field(description="What its checkpoints have, in any of them.")
    data: str = Field(description="Path of the file with its numbers, from the folder of the site.")


class Atlas(Record):
    """The outermost object of atlas.json."""

    schema_: int = Field(
        alias="schema",
        description=(
            "Number of this format. Something may be added under the same number; nothing is"
            " renamed or taken away."
        ),
    )
    date: str | None = Field(
        description=(
            "Date of the data, as YYYY-MM-DD: of the newest revision that was read from the Hub."
            " Else it is that of the list, else of the program. Null where that is unknown. A"
            " publisher may set it by `SOURCE_DATE_EPOCH`."
        )
    )
    version: str | None = Field(description="Version of the program.")
    libraries: dict[str, str] = Field(description="Versions of the main libraries.")
    licence: str = Field(description="Licence of the data.")
    address: str | None = Field(
        description="Where the site stands, ending with “/”; null where that is unknown."
    )
    checkpoints: list[Checkpoint] = Field(description="In the order of `slug`.")
    runs: list[TrainingRun] = Field([], description="Training runs, in the order of `slug`.")
    parts: list[str] = Field(
        [],
        description=(
            "Paths of further files like this one, from the folder of the site, that hold the"
            " checkpoints in order. `checkpoints` is then empty. Empty where all checkpoints fit"
            " into 5 MB."
        ),
    )


class Table(Record):
    """Parameters of a PositionTable."""

    first_row: int = Field(
        description="Index of the first row of the stored tensor that is a position."
    )
    n_positions: int = Field(description="Number of positions.")
    grid: list[int] | None = Field(description="Rows and columns of patches; null for a sequence.")


class Bias(Record):
    """Parameters of an OffsetBias. What a bias lacks is left out."""

    heads: int = Field(description="Number of heads.")
    causal: bool = Field(description="Whether later keys are hidden.")
    slopes: list[float] = Field([], description="Of a linear bias: logits per position, by head.")
    buckets: int = Field(0, description="Of a bias in buckets: how many.")
    max_distance: int = Field(
        0,
        description=(
            "Of a bias in buckets: the distance up to which their widths grow, in positions. The"
            " last begins before it."
        ),
    )


class Rotation(RotationOfLayer):
    """Parameters of a Rotation."""

    head_dim: int = Field(description="Components of a head.")
    inverse_frequencies: list[float] = Field(
        description="Angle of each pair for one position, in radians."
    )
    window: int | None = Field(
        description="Positions visible to one side, the query's included; null without a limit."
    )


class Decay(Record):
    """Parameters of a Decay."""

    unit: str = Field(description="What has a rate of its own: a head, a channel …")
    n_units: int = Field(description="How many of these a layer has.")
    at_zero_input: bool = Field(description="Whether the rates are those without input.")


class ReleaseEntry(Record):
    """A release in data/releases/index.json, which is a list of them, the first release first."""

    id: str = Field(
        description="Its folder: the date, with a number where that is not the first of the day."
    )
    date: str | None = Field(description="Date of the data, as YYYY-MM-DD.")
    version: str | None = Field(description="Version of the program that made it.")


class ReleasedMetric(Record):
    """A metric in a release."""

    value: float | None = Field(description="As in atlas.json.")
    unit: str = Field(description="As in atlas.json.")


class ReleasedEncoding(Record):
    """An encoding in a release."""

    key: str = Field(description=OF_SCHEME)
    name: str = Field(description="As on every page.")
    sha256: str | None = Field(description="Digest of its stored bytes.")
    metrics: dict[str, ReleasedMetric] = Field(description="By `analysis.metric`.")


class ReleasedCheckpoint(Record):
    """A checkpoint in a release."""

    slug: str = Field(description="Its name in addresses.")
    title: str = Field(description="As it is shown.")
    status: Status = Field(description="Whether it was read.")
    reason: str | None = Field(description="Why it was not read; null for `ok`.")
    revision: str | None = Field(description="As in atlas.json.")
    encodings: list[ReleasedEncoding] = Field(description="As in atlas.json, with fewer keys.")


class Release(ReleaseEntry):
    """The record of a release, data/releases/<id>/release.json."""

    number: int = Field(description="From 1, in the order of publication.")
    libraries: dict[str, str] = Field(description="Versions of the main libraries.")
    checkpoints: dict[str, ReleasedCheckpoint | None] = Field(
        description="By slug, those that differ from the release before; null for one that is gone."
    )


class MemberOfRun(Record):
    """A checkpoint in the file of a training run."""

    step: int = Field(description="Step of training at which it was saved.")
    name: str = Field(description="Of its folder or revision.")
    status: Status = Field(description="Whether it was read.")
    reason: str | None = Field(description="Why it was not read; null for `ok`.")


class MetricOfRun(Record):
    """A metric over the steps."""

    key: str = Field(description="`analysis.metric`.")
    title: str = Field(description="As it is shown.")
    unit: str = Field(description="Its unit; empty for plain numbers.")
    values: list[float | None] = Field(description="One for each member, null where it has none.")


class SeriesOfRun(Record):
    """The numbers of an encoding over the steps."""

    key: str = Field(description=OF_SCHEME)
    part: str = Field(description="The part of the model that it serves.")
    scheme: str = Field(description=SCHEME)
    form: str = Field(description="What kind of thing it is.")
    name: str = Field(description="Different from that of every other encoding of the run.")
    quantity: str = Field(description="What the kernel is, with its unit.")
    metrics: list[MetricOfRun] = Field(description="Those that any member has.")
    kernel: list[list[float | None]] = Field(
        description=(
            "For each member, the mean of the kernel at distances 0, 1, 2 …; empty where it does"
            " not have the encoding."
        )
    )


class UseOfRun(Record):
    """What a part of the trained model does over the steps."""

    part: str = Field(description="Encoder, decoder, or vision.")
    metrics: list[MetricOfRun] = Field(description="Those that any member has.")


class RunNumbers(Record):
    """The numbers of a training run."""

    slug: str = Field(description="Its name in addresses.")
    title: str = Field(description="As it is shown.")
    source: str = Field(description="The key of the list by which its checkpoints were read.")
    id: str = Field(description="As in the list.")
    members: list[MemberOfRun] = Field(description="Its checkpoints, in order of their steps.")
    encodings: list[SeriesOfRun] = Field(description="What its checkpoints have.")
    notes: str = Field(description="A note of the list.")
    paper: str = Field(description="The paper that describes it, as in the list.")
    licence: str = Field(description="Licence of its weights, as in the list.")
    uses: list[UseOfRun] = Field([], description="What its parts do, where the list asks for it.")


class RunFile(Record):
    """The outermost object of data/runs/<run>.json, which a row `run:` of a list can name."""

    format: int = Field(description="Number of this format.")
    about: dict[str, Any] = Field(
        {}, description="How its checkpoints were made, where that is told."
    )
    run: RunNumbers = Field(description="Its numbers.")


PARAMETERS: Mapping[str, type[Record]] = {
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
OF_RUNS = (RunFile, RunNumbers, MemberOfRun, SeriesOfRun, MetricOfRun, UseOfRun)
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


def json_schema() -> bytes:
    """The JSON Schema of atlas.json.

    Further keys are allowed: a later version of the program may add some.
    """
    schema: dict[str, Any] = {"$schema": DIALECT, **Atlas.model_json_schema()}
    schema["title"] = "Position Atlas: atlas.json"
    return (json.dumps(schema, indent=1, ensure_ascii=False) + "\n").encode()
