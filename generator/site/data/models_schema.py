"""The records of models.json."""

from typing_extensions import TypedDict

from generator.contracts import Mixer
from generator.site.at_position import LayersSeeing, PositionOfModel, TurningOfModel


class RotationOfModel(TypedDict):
    """A rotation of a model, in models.json."""

    base: float
    """Base of its frequencies."""
    share: float
    """Share of the components of a head that rotate, from 0 to 1."""
    scaling: str | None
    """Rule by which its frequencies are scaled; null without one."""
    factor: float | None
    """Factor of that rule; null if the config does not give it."""
    layers: int | None
    """Number of layers in which it acts; null if not known."""


class LimitOfModel(TypedDict):
    """Layers whose attention is limited to a window or a chunk, in models.json."""

    kind: Mixer
    """“sliding” or “chunked”."""
    keys: int | None
    """Largest number of positions that a query reaches; null if no setting says."""
    layers: int
    """Number of layers with this limit."""


class GroupOfLayers(TypedDict):
    """Layers of a stack that mix positions in the same way, in models.json."""

    kinds: list[Mixer]
    """How they mix positions, as in atlas.json."""
    keys: int | None
    """Width of their window or chunk, in positions; null without one, or if not known."""
    without_encoding: bool
    """Whether no encoding acts in them."""


class StackOfModel(TypedDict):
    """A stack of layers of a model, in models.json."""

    part: str
    """Name of the stack."""
    groups: list[GroupOfLayers]
    """Kinds of its layers."""
    layers: list[int]
    """For each layer in order, its group in `groups`, counted from 0."""


class CheckOfModel(TypedDict):
    """Whether transformers' code confirms the settings of a model, in models.json."""

    outcome: str
    """“agrees”, “differs”, “no code” if transformers has no such family, or “not run”."""
    transformers: str
    """Version of transformers."""
    why: str | None
    """What differs; null if nothing does."""


class PublishedModel(TypedDict):
    """A model with a published config, in models.json."""

    id: str
    """Id on the Hub, owner/name."""
    maker: str | None
    """Its maker; null if not known."""
    month: str | None
    """Month of its publication, as YYYY-MM; null if not known."""
    dated_by: str | None
    """Source of `month`: a paper, the name of the model, or a dated text with its address."""
    size: str | None
    """Number of parameters as in its name, such as 8B or 30B-A3B; null without one."""
    parameters: int | None
    """Number of all parameters, if its name or a source gives it."""
    active_parameters: int | None
    """Number of parameters that one token uses, if its name or a source gives it."""
    counted_by: str | None
    """Source of these numbers: a paper, or the name of the model."""
    model_type: str | None
    """Its model type in config.json."""
    inputs: list[str]
    """What it reads: “text”, “image” or “audio”."""
    context: int | None
    """Configured context, in positions; null if the config gives none."""
    trained: int | None
    """Context before the scaling of a rotation; null without scaling, or if the config does not
    give it.
    """
    schemes: list[str]
    """Keys of the schemes that encode position."""
    image_schemes: list[str]
    """Keys of the schemes that encode the position of patches of images."""
    rotations: list[RotationOfModel]
    """Rotations of queries and keys, for text or audio."""
    layers: int
    """Number of layers; 0 if not known."""
    sees: int | None
    """Number of positions that a layer reaches by itself: the context, or the widest window."""
    kinds: dict[Mixer, int]
    """Number of layers for each way of mixing positions, as in atlas.json."""
    limits: list[LimitOfModel]
    """Its windows and chunks, the widest first."""
    stacks: list[StackOfModel]
    """Its stacks of layers."""
    without_encoding: int
    """Number of layers with attention in which no encoding acts."""
    at_position: PositionOfModel | None
    """Its rotations and limits; null without a rotation of text or a configured context."""
    sinks: bool
    """Whether attention has sinks besides its keys."""
    temperature: bool
    """Whether attention has a temperature that depends on position."""
    reference: str | None
    """Folder of the program with the same settings; null without one."""
    source: str
    """Where its config is published."""
    from_knowledge: bool
    """Whether its settings were entered from knowledge rather than copied from the file."""
    check: CheckOfModel | None
    """Whether transformers' code confirms these settings; null if they are newer than the check."""
    reason: str | None
    """Why its settings could not be read; null if they were."""


class PublishedModels(TypedDict):
    """The outermost object of models.json; models.csv has one row per model."""

    schema: int
    """Number of this format."""
    models: list[PublishedModel]
    """Its models, in the order of their ids."""


OF_MODELS = (
    PublishedModels,
    PublishedModel,
    RotationOfModel,
    LimitOfModel,
    StackOfModel,
    GroupOfLayers,
    PositionOfModel,
    TurningOfModel,
    LayersSeeing,
    CheckOfModel,
)
