"""The records of models.json, as pydantic models."""

from pydantic import Field

from generator.contracts import Mixer
from generator.site.data.schema import Record


class RotationOfModel(Record):
    """A rotation of a model, in models.json."""

    base: float = Field(description="Its base.")
    share: float = Field(description="The share of the components of a head that turn, up to 1.")
    scaling: str | None = Field(description="Rule by which it is rescaled.")
    factor: float | None = Field(description="Its factor, where the config gives it.")
    layers: int | None = Field(
        description="In how many layers it acts; null where that is not known."
    )


class LimitOfModel(Record):
    """Layers that see a window or a chunk, in models.json."""

    kind: Mixer = Field(description="“sliding” or “chunked”.")
    keys: int | None = Field(
        description="The most positions that a query sees; null where no setting says."
    )
    layers: int = Field(description="How many layers do so.")


class LayersAlike(Record):
    """Layers of a stack that mix positions alike, in models.json."""

    kinds: list[Mixer] = Field(description="How they do, as in atlas.json.")
    keys: int | None = Field(
        description="The positions of their window or chunk; null without one, or of unknown width."
    )
    without_encoding: bool = Field(description="Whether nothing tells position in them.")


class StackOfModel(Record):
    """A stack of layers of a model, in models.json."""

    part: str = Field(description="Its name.")
    groups: list[LayersAlike] = Field(description="Its kinds of layers.")
    layers: list[int] = Field(description="The group of each layer, from 0, the first layer first.")


class TurningOfModel(Record):
    """A rotation of text, in models.json. Pair j turns by step · base^(−2j ÷ components) ÷ slower
    radians from one position to the next.
    """

    label: str = Field(description="Where it acts.")
    step: float = Field(description="Angle of the first pair, before scaling, in radians.")
    base: float = Field(description="Its base.")
    components: int = Field(description="By what the exponents are divided.")
    pairs: int = Field(description="Number of pairs.")
    slower: list[float] = Field(
        description="Wavelength after ÷ before scaling, of each pair, or one number for all."
    )


class LayersSeeing(Record):
    """Layers that see the first position, in models.json."""

    limit: int | None = Field(
        description="The last position from which all of them do; null where any is."
    )
    count: int = Field(description="Number of them, with those that see farther.")
    which: str = Field(description="Their numbers from 0 in words; empty for all layers.")


class PositionOfModel(Record):
    """What the page on one position computes from, in models.json."""

    last: int = Field(description="The last position of the context.")
    longer: int | None = Field(
        description="The longest texts with these frequencies, where longer ones have others."
    )
    rotations: list[TurningOfModel] = Field(description="Its rotations of text.")
    layers: int = Field(description="Number of layers of the stacks with these rotations.")
    seeing: list[LayersSeeing] = Field(
        description="Which of them see the first position from where, the farthest first."
    )
    beside: str = Field(description="Further layers, as the end of a sentence.")


class CheckOfModel(Record):
    """Whether the code of transformers confirms a row, in models.json."""

    outcome: str = Field(
        description="“agrees”, “differs”, “no code” without a family to run, or “not run”."
    )
    transformers: str = Field(description="Its version.")
    why: str | None = Field(description="What differs.")


class PublishedModel(Record):
    """A model with a published config, in models.json."""

    id: str = Field(description="On the Hub, owner/name.")
    maker: str | None = Field(description="Who made it, where that is known.")
    month: str | None = Field(description="Of its publication, as YYYY-MM, where that is known.")
    dated_by: str | None = Field(
        description="What says so: a paper, its name, or a dated text and where that stands."
    )
    size: str | None = Field(description="Parameters, as its name gives them: 8B, 30B-A3B.")
    parameters: int | None = Field(description="Number of all, where its name or a source says it.")
    active_parameters: int | None = Field(
        description="Number of those that one token uses, where its name or a source says it."
    )
    counted_by: str | None = Field(description="What says so: a paper or its name.")
    model_type: str | None = Field(description="As in config.json.")
    inputs: list[str] = Field(description="Of “text”, “image” and “audio”.")
    context: int | None = Field(description="Positions that the config gives.")
    trained: int | None = Field(description="Those before a rotation is rescaled.")
    schemes: list[str] = Field(description="Keys of the schemes that tell position.")
    image_schemes: list[str] = Field(description="The same for patches of images.")
    rotations: list[RotationOfModel] = Field(description="Of queries and keys of text or sound.")
    layers: int = Field(description="Number of layers; 0 where they are not known.")
    sees: int | None = Field(
        description="Positions that a layer reaches by itself: the context, or the widest window."
    )
    kinds: dict[Mixer, int] = Field(
        description="How many of these mix positions how, as in atlas.json."
    )
    limits: list[LimitOfModel] = Field(description="Windows and chunks, the widest first.")
    stacks: list[StackOfModel] = Field(description="Its layers in order.")
    without_encoding: int = Field(description="Layers with attention that nothing tells position.")
    at_position: PositionOfModel | None = Field(
        description="Its rotations and limits; null without a rotation of text or a context."
    )
    sinks: bool = Field(description="Whether attention has sinks beside its keys.")
    temperature: bool = Field(description="Whether attention has a temperature by position.")
    reference: str | None = Field(
        description="The folder of the program with the same settings, if any."
    )
    source: str = Field(description="Where the config stands in public.")
    from_knowledge: bool = Field(
        description="Whether it was entered from knowledge, without a copy of the file at hand."
    )
    check: CheckOfModel | None = Field(
        description="Whether its code confirms this; null where the row is newer than the check."
    )
    reason: str | None = Field(description="Why its settings could not be read.")


class PublishedModels(Record):
    """The outermost object of models.json; models.csv has the same, one row a model."""

    schema_: int = Field(alias="schema", description="Number of this format.")
    models: list[PublishedModel] = Field(description="By their ids.")


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
