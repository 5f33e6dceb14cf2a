"""The records of data/expected: what an engine has to compute for a model."""

from typing import Any, Literal

from typing_extensions import TypedDict

Code = Literal["atlas", "module", "layers", "mlx"]


class MadeBy(TypedDict):
    """What computed values, in data/expected."""

    code: Code
    """“atlas”: this program; “module”: a rotary module of transformers; “layers”: all layers of the
    model in transformers, at a small size; “mlx”: all layers of the model in mlx-lm."""
    by: str
    """Its name and version."""


class Compared(TypedDict):
    """Another implementation of a rotation, in data/expected."""

    code: Code
    """As in MadeBy."""
    by: str
    """Its name and version."""
    deviation: float | None
    """Largest relative deviation of frequencies and attention factor; null if the number of pairs
    differs."""
    why: str | None
    """Reason of a difference; null if it is not known, and without one."""


class ValuesAtPosition(TypedDict):
    """Cosines and sines of one position, in data/expected."""

    position: int
    """Position, counted from 0."""
    cos: list[float]
    """Attention factor × cosine of position × inverse frequency, for each pair; 9 digits."""
    sin: list[float]
    """The same for the sine."""


class ExpectedRotation(TypedDict):
    """A rotation of some layers, in data/expected."""

    part: str
    """Stack of layers, or where it acts if the layers are not known."""
    layers: list[int]
    """Indices of its layers in that stack, counted from 0; empty if they are not known."""
    lengths: list[int | None]
    """Shortest and longest text with these frequencies, in tokens; null without a limit. LongRoPE
    has a rotation for each of its lists."""
    base: float
    """Base of its frequencies."""
    scaling: str | None
    """Rule by which it is rescaled; null without one."""
    rope_parameters: dict[str, Any]
    """Settings from which the frequencies follow, by the names of transformers: rope_type,
    rope_theta, partial_rotary_factor, and those of the scaling."""
    formula: str | None
    """Rule by which a test of this atlas computes frequencies and factor anew from
    rope_parameters, in double precision; null without one."""
    head_dim: int
    """Number of components of a head."""
    rotary_dim: int
    """Number of components in pairs, those of frequency 0 included."""
    pair_order: Literal["adjacent", "halves"] | None
    """Components of pair j in the weights on the Hub: “halves” j and j + rotary_dim ÷ 2, “adjacent”
    2j and 2j + 1; null if no code was run that shows it."""
    attention_factor: float
    """Factor on cosines and sines."""
    inverse_frequencies: list[float]
    """Angle of each pair from one position to the next, in radians; 0 where a pair does not
    rotate."""
    made_by: MadeBy
    """What computed these values, in double precision."""
    agrees: list[Compared]
    """Other implementations within the tolerance."""
    differs: list[Compared]
    """Other implementations outside it."""
    values: list[ValuesAtPosition]
    """Values at chosen positions."""


class ExpectedTable(TypedDict):
    """A table of position vectors at the input, in data/expected."""

    part: str
    """Stack of layers."""
    rows: int
    """Number of positions."""
    offset: int
    """Row of position 0."""


class ExpectedModel(TypedDict):
    """The outermost object of a file of data/expected."""

    id: str
    """Id on the Hub, owner/name."""
    version: int
    """Number of these values, which rises when one of them changes."""
    date: str
    """Day of this version, as YYYY-MM-DD."""
    source: str
    """Where the config is published."""
    revision: str | None
    """Commit of the maker's repository on the Hub with this config; null where it is not known."""
    config: dict[str, Any]
    """Its config.json, cut to sizes, position, attention and layers."""
    model_type: str | None
    """Its model type in config.json."""
    context: int | None
    """Configured context in positions, as in models.json; null where the config gives none."""
    original: int | None
    """Declared original length in positions; null without one."""
    windows: dict[str, list[int | None]]
    """For each stack and layer, the number of keys that a query sees because of a window or chunk,
    its own position included; null without such a limit, 0 without attention."""
    without_encoding: dict[str, list[int]]
    """For each stack, indices of the layers with attention in which nothing encodes position."""
    tables: list[ExpectedTable]
    """Tables of position vectors at the input."""
    layers_checked: str | None
    """Outcome of the check of its layers, as in models.json."""
    rotations: list[ExpectedRotation]
    """Rotations of queries and keys for text or audio."""


class ExpectedIndex(TypedDict):
    """The outermost object of data/expected/index.json."""

    schema: int
    """Number of this format."""
    version: str
    """Version of all values together, which is the day of the newest."""
    sha256: dict[str, str]
    """Digest of each file, in hexadecimal, by its name."""


OF_EXPECTED = (
    ExpectedModel,
    ExpectedRotation,
    ValuesAtPosition,
    MadeBy,
    Compared,
    ExpectedTable,
    ExpectedIndex,
)
