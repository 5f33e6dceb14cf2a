"""The records of models.json."""

from typing_extensions import TypedDict

from generator.contracts import Mixer
from generator.site.at_position import LayersSeeing, PositionOfModel, TurningOfModel


class RotationOfModel(TypedDict):
    """A rotation of a model, in models.json."""

    base: float
    """Its base."""
    share: float
    """The share of the components of a head that turn, up to 1."""
    scaling: str | None
    """Rule by which it is rescaled."""
    factor: float | None
    """Its factor, where the config gives it."""
    layers: int | None
    """In how many layers it acts; null where that is not known."""


class LimitOfModel(TypedDict):
    """Layers that see a window or a chunk, in models.json."""

    kind: Mixer
    """“sliding” or “chunked”."""
    keys: int | None
    """The most positions that a query sees; null where no setting says."""
    layers: int
    """How many layers do so."""


class LayersAlike(TypedDict):
    """Layers of a stack that mix positions alike, in models.json."""

    kinds: list[Mixer]
    """How they do, as in atlas.json."""
    keys: int | None
    """The positions of their window or chunk; null without one, or of unknown width."""
    without_encoding: bool
    """Whether nothing tells position in them."""


class StackOfModel(TypedDict):
    """A stack of layers of a model, in models.json."""

    part: str
    """Its name."""
    groups: list[LayersAlike]
    """Its kinds of layers."""
    layers: list[int]
    """The group of each layer, from 0, the first layer first."""


class CheckOfModel(TypedDict):
    """Whether the code of transformers confirms a row, in models.json."""

    outcome: str
    """“agrees”, “differs”, “no code” without a family to run, or “not run”."""
    transformers: str
    """Its version."""
    why: str | None
    """What differs."""


class PublishedModel(TypedDict):
    """A model with a published config, in models.json."""

    id: str
    """On the Hub, owner/name."""
    maker: str | None
    """Who made it, where that is known."""
    month: str | None
    """Of its publication, as YYYY-MM, where that is known."""
    dated_by: str | None
    """What says so: a paper, its name, or a dated text and where that stands."""
    size: str | None
    """Parameters, as its name gives them: 8B, 30B-A3B."""
    parameters: int | None
    """Number of all, where its name or a source says it."""
    active_parameters: int | None
    """Number of those that one token uses, where its name or a source says it."""
    counted_by: str | None
    """What says so: a paper or its name."""
    model_type: str | None
    """As in config.json."""
    inputs: list[str]
    """Of “text”, “image” and “audio”."""
    context: int | None
    """Positions that the config gives."""
    trained: int | None
    """Those before a rotation is rescaled."""
    schemes: list[str]
    """Keys of the schemes that tell position."""
    image_schemes: list[str]
    """The same for patches of images."""
    rotations: list[RotationOfModel]
    """Of queries and keys of text or sound."""
    layers: int
    """Number of layers; 0 where they are not known."""
    sees: int | None
    """Positions that a layer reaches by itself: the context, or the widest window."""
    kinds: dict[Mixer, int]
    """How many of these mix positions how, as in atlas.json."""
    limits: list[LimitOfModel]
    """Windows and chunks, the widest first."""
    stacks: list[StackOfModel]
    """Its layers in order."""
    without_encoding: int
    """Layers with attention that nothing tells position."""
    at_position: PositionOfModel | None
    """Its rotations and limits; null without a rotation of text or a context."""
    sinks: bool
    """Whether attention has sinks beside its keys."""
    temperature: bool
    """Whether attention has a temperature by position."""
    reference: str | None
    """The folder of the program with the same settings, if any."""
    source: str
    """Where the config stands in public."""
    from_knowledge: bool
    """Whether it was entered from knowledge, without a copy of the file at hand."""
    check: CheckOfModel | None
    """Whether its code confirms this; null where the row is newer than the check."""
    reason: str | None
    """Why its settings could not be read."""


class PublishedModels(TypedDict):
    """The outermost object of models.json; models.csv has the same, one row a model."""

    schema: int
    """Number of this format."""
    models: list[PublishedModel]
    """By their ids."""


OF_MODELS = (
    PublishedModels,
    PublishedModel,
    RotationOfModel,
    LimitOfModel,
    StackOfModel,
    LayersAlike,
    PositionOfModel,
    TurningOfModel,
    LayersSeeing,
    CheckOfModel,
)
