"""The records of models.json."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from generator.contracts import Mixer, Origin
from generator.site.at_position import LayersSeeing, PositionOfModel, TurningOfModel


class RotationOfModel(TypedDict):
    """A rotation of a model, in models.json."""

    base: float
    """Base of its frequencies."""
    share: float
    """Share of the components of a head that rotate, up to 1."""
    scaling: str | None
    """Rule by which it is rescaled; null without one."""
    factor: float | None
    """Factor of that rule; null where the config gives none."""
    layers: int | None
    """Number of layers in which it acts; null where that is not known."""


class LimitOfModel(TypedDict):
    """Layers whose attention is limited to a window or a chunk, in models.json."""

    kind: Mixer
    """“sliding” or “chunked”."""
    keys: int | None
    """Positions that a query sees at most; null where no setting gives them."""
    layers: int
    """Number of these layers."""


class GroupOfLayers(TypedDict):
    """Layers of a stack that mix positions in the same way, in models.json."""

    kinds: list[Mixer]
    """How they mix positions, as in atlas.json."""
    keys: int | None
    """Positions of their window or chunk; null without one, or if its width is unknown."""
    without_encoding: bool
    """Whether nothing encodes position in them."""


class StackOfModel(TypedDict):
    """A stack of layers of a model, in models.json."""

    part: str
    """Name of the stack."""
    groups: list[GroupOfLayers]
    """Kinds of its layers."""
    layers: list[int]
    """For each layer in order, its group in `groups`, counted from 0."""


class CheckOfModel(TypedDict):
    """Whether the code of transformers agrees with a model, in models.json."""

    outcome: str
    """“agrees”, “differs”, “no code” where transformers lacks the family, or “not run”."""
    transformers: str
    """Version of transformers."""
    why: str | None
    """What differs; null if nothing does."""


class CacheOfLayers(TypedDict):
    """What layers that are alike keep of each position while a model writes, in models.json."""

    layers: int
    """Number of these layers."""
    values: int
    """Numbers that one of them keeps for a position."""
    positions: int | None
    """Last positions of which they keep them; null for all."""
    latent: bool
    """Whether these numbers are a latent from which keys and values are made."""
    heads: int | None
    """Heads for keys and values in one of them; null with a latent."""


class TypeOfCache(TypedDict):
    """Type of the numbers in a cache, as a config says, in models.json."""

    name: str
    """float32, float16, bfloat16 or float8."""
    by: str
    """Key of the config that says it."""
    bytes: int
    """Bytes of a number."""


class AxesOfRotation(TypedDict):
    """The axes of a rotation that counts time, height and width, which are equal for a token of
    text, in models.json.
    """

    pairs: list[int]
    """Pairs that turn by time, by height and by width."""
    by_turns: bool
    """Whether the axes take turns from pair to pair, and are not in consecutive blocks."""
    key: str | None
    """Key of the config that says it; null where the code of its family does."""


class StateOfModel(TypedDict):
    """What recurrent layers keep in place of keys and values, as large for a text of any length, in
    models.json.
    """

    layers: int
    """Number of these layers."""
    sizes: list[int]
    """Shape of the state of one: its product is the numbers in it. The last inputs of a short
    convolution, which programs keep in different numbers, come on top.
    """
    type: TypeOfCache | None
    """Type of these numbers, as a config says; null where it does not."""


class ConvolutionsOfModel(TypedDict):
    """Layers with short convolutions but no recurrent state, which keep the last inputs of these,
    as many for a text of any length, in models.json.
    """

    layers: int
    """Number of layers that are alike."""
    channels: list[int]
    """Channels of each convolution in one of them."""
    width: int
    """Inputs that one output sees."""


class ResizingOfTable(TypedDict):
    """How the code of transformers resizes a position table for images of another size, in
    models.json.
    """

    mode: str
    """Interpolation, as in torch: “bicubic”, “bilinear”, …"""
    antialias: bool
    """Whether it filters what it makes smaller."""
    asked_for: bool
    """Whether it does so only where the call has interpolate_pos_encoding."""
    read: bool
    """Whether the model reads such an image; false where what follows its encoder takes only as
    many patches as an image of the configured size has.
    """


class ImageOfModel(TypedDict):
    """What a model reads of images, in models.json."""

    size: list[int] | None
    """Rows and columns of pixels, as configured; null where no key says so."""
    patch: int
    """Pixels along a side of a patch."""
    grid: list[int] | None
    """Rows and columns of patches, of an image of this size or of its table; null without any."""
    extra: int | None
    """Rows of its position table that are no patches; null where that is not known."""
    merged: int | None
    """Patches along each side that one token of the text stands for; null where no key says so."""
    tokens: int | None
    """Tokens of the text for an image of any size; null where no key says so."""
    frames: int | None
    """Frames of a clip that a table of their own tells apart; null without one."""
    resizing: ResizingOfTable | None
    """How its table is resized; null where the code of transformers does not say one way."""


class SoundOfModel(TypedDict):
    """What a model reads of sound, in models.json."""

    frames: int | None
    """Most frames that its encoder reads; null without a limit."""
    seconds_of_frame: float
    """Seconds from one frame to the next, of sound with 16,000 samples a second."""
    tokens: int | None
    """Most tokens that its decoder writes; null where no key says so."""


class NoteOnModel(TypedDict):
    """What `lint` says of a model, in models.json."""

    rule: str
    """Key of the rule."""
    text: str
    """A sentence."""


class NativeLength(TypedDict):
    """Length that the maker of a model states, in models.json."""

    length: int
    """Positions."""
    source: str
    """Address of the statement."""
    date: str | None
    """Its month, as YYYY-MM; null where that is not known."""


class Extension(TypedDict):
    """What the maker of a model publishes for more positions, in models.json."""

    to: int
    """Positions that are reached by it."""
    rope_parameters: NotRequired[dict[str, Any]]
    """Settings of the rotation, to be set in place of those of the config."""
    way: NotRequired[str]
    """Another way, in words."""
    by: str
    """What kind of document says so."""
    source: str
    """Address of that document."""
    date: str | None
    """Its month, as YYYY-MM; null where that is not known."""
    at_position: NotRequired[PositionOfModel | None]
    """As that of the model, with these settings."""


class TemperatureOfModel(TypedDict):
    """A factor on the logits that grows with the position p of the query, in models.json. With
    r = (p + shift) ÷ start.
    """

    strength: float
    """Its strength."""
    start: float
    """Divisor of positions."""
    shift: int
    """What is added to a position."""
    growth: str
    """“steps”: 1 + strength · log(1 + ⌊r⌋); “smooth”: 1 + strength · log(max(r, 1)); “power”:
    (1 + r)^strength.
    """
    layers: int
    """Number of layers that have it."""


class PublishedModel(TypedDict):
    """A model with a published config, in models.json."""

    id: str
    """Id on the Hub, owner/name."""
    maker: str | None
    """Its developer; null where that is not known."""
    month: str | None
    """Month of its first weights, as YYYY-MM, or of its paper where ``dated_by`` is one; null where
    neither is known.
    """
    dated_by: str | None
    """Source of the month: a dated text with its place, its name, or a paper, as arXiv 2304.01373,
    whose month need not be that of the weights.
    """
    size: str | None
    """Number of parameters as in its name, such as 8B or 30B-A3B; null without one."""
    parameters: int | None
    """Number of parameters; null where neither its name nor a source gives it."""
    active_parameters: int | None
    """Number of those that one token uses; null where no source gives it."""
    counted_by: str | None
    """Source of these numbers: a paper or its name."""
    model_type: str | None
    """Its model type in config.json."""
    inputs: list[str]
    """What it reads: “text”, “image” or “audio”."""
    context: int | None
    """Configured context in positions, without rows of a table that are none; null where the config
    gives none."""
    table_rows: int | None
    """Number in the config where it is larger, because it counts rows of the position table that
    are no positions; else null."""
    context_key: str | None
    """Its key in the config; null where another one than usual gives it."""
    default_context: int | None
    """Default of its config class in transformers, if the config gives no context; else null."""
    trained: int | None
    """Declared original length: original_max_position_embeddings; null without one."""
    schemes: list[str]
    """Keys of the schemes that encode position."""
    image_schemes: list[str]
    """Keys of the schemes that encode the position of patches of images."""
    rotations: list[RotationOfModel]
    """Rotations of queries and keys for text or audio."""
    layers: int
    """Number of layers; 0 if not known."""
    sees: int | None
    """Number of positions that a layer reaches by itself: the context, or the widest window."""
    kinds: dict[Mixer, int]
    """Number of layers by how they mix positions, as in atlas.json."""
    limits: list[LimitOfModel]
    """Its windows and chunks, the widest first."""
    stacks: list[StackOfModel]
    """Its stacks of layers."""
    without_encoding: int
    """Number of layers with attention in which nothing encodes position."""
    at_position: PositionOfModel | None
    """Its rotations and limits; null without a rotation of text or a configured context."""
    cache: list[CacheOfLayers] | None
    """What its decoder keeps of each position; null for what has no decoder alone, and where it is
    not known.
    """
    cache_type: TypeOfCache | None
    """Type of the numbers in its cache, as its config says; null where that is not known."""
    state: StateOfModel | None
    """What its recurrent layers keep; null without any, and where its config does not state every
    size.
    """
    convolutions: list[ConvolutionsOfModel]
    """Short convolutions of layers without such a state; empty without any, and where its config
    does not state their sizes.
    """
    image: ImageOfModel | None
    """What it reads of images; null without patches."""
    sound: SoundOfModel | None
    """What it reads of sound; null where its frames are not known."""
    heads_for_keys: int | None
    """Heads for keys and values; null where a latent takes their place, and where `cache` is."""
    chosen: int | None
    """Most keys that a query chooses, in layers that attend to chosen keys; null without any."""
    factors: list[float]
    """Factor of cosine and sine of each of `rotations`."""
    scalings: list[dict[str, Any] | None]
    """Settings of the scaling of each of `rotations`, under their names in transformers; null
    without one.
    """
    axes: list[AxesOfRotation | None]
    """Axes of each of `rotations`; null where it has one position alone, or other axes."""
    temperatures: list[TemperatureOfModel]
    """Factors on the logits that grow with position."""
    origin_of_temperature: Origin | None
    """Where the first of these comes from; null without one."""
    origins: list[dict[str, Origin]]
    """Where the parameters of each of `rotations` come from, as in atlas.json."""
    keys_of_layers: list[str]
    """Keys of the config from which its layers follow."""
    lint: list[NoteOnModel]
    """What programs may get wrong about it, as `lint` says."""
    sinks: bool
    """Whether attention has sinks in addition to its keys."""
    temperature: bool
    """Whether attention has a temperature that depends on position."""
    reference: str | None
    """Folder of the program with the same settings; null without one."""
    source: str
    """Where the config is published."""
    from_knowledge: bool
    """Whether the config was entered from knowledge, not checked against the published file."""
    text_section: str | None
    """Key of its config that holds the settings of the text model; null for the config itself."""
    native: NativeLength | None
    """Length that its maker states; null where none is known."""
    other_ways: list[str]
    """Keys of its config of what extends the context beside a rotation, as dual chunk attention."""
    extends: list[Extension]
    """What its maker publishes for more positions than the config gives."""
    check: CheckOfModel | None
    """Whether its code agrees; null where the entry is newer than the check."""
    reason: str | None
    """Reason why its settings could not be read; null where they were."""


class PublishedModels(TypedDict):
    """The outermost object of models.json; models.csv has the same, one row per model."""

    schema: int
    """Number of this format."""
    models: list[PublishedModel]
    """The models, in the order of their ids."""


class OneModel(TypedDict):
    """The outermost object of a file of data/models: all that the page of a model says."""

    schema: int
    """Number of this format."""
    page: str
    """Its page, below the folder of the site."""
    expected: str | None
    """Its file of expected values, below the folder of the site; null without one."""
    revision: str | None
    """Commit of the maker's repository on the Hub with this config; null where it is not known."""
    config: dict[str, Any]
    """Its config.json, cut to sizes, position, attention and layers."""
    readers: list[str]
    """What programs take from it, a sentence for all that take the same; empty where that is not
    known."""
    model: PublishedModel
    """As in models.json."""


class IndexOfModels(TypedDict):
    """The outermost object of data/models/index.json."""

    schema: int
    """Number of this format."""
    models: dict[str, str]
    """The file of each model below the folder of the site, by its id."""


OF_MODELS = (
    PublishedModels,
    OneModel,
    IndexOfModels,
    PublishedModel,
    RotationOfModel,
    LimitOfModel,
    StackOfModel,
    GroupOfLayers,
    PositionOfModel,
    TurningOfModel,
    LayersSeeing,
    CheckOfModel,
    CacheOfLayers,
    TypeOfCache,
    AxesOfRotation,
    StateOfModel,
    ConvolutionsOfModel,
    ImageOfModel,
    ResizingOfTable,
    SoundOfModel,
    NoteOnModel,
    NativeLength,
    Extension,
    TemperatureOfModel,
)
