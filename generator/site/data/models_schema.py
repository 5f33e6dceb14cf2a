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


class PublishedModel(Record):
    """A model with a published config, in models.json."""

    id: str = Field(description="On the Hub, owner/name.")
    maker: str | None = Field(description="Who made it, where that is known.")
    month: str | None = Field(description="Of its publication, as YYYY-MM, where that is known.")
    dated_by: str | None = Field(description="What says so: a paper, its name or its announcement.")
    size: str | None = Field(description="Parameters, as its name gives them: 8B, 30B-A3B.")
    model_type: str | None = Field(description="As in config.json.")
    inputs: list[str] = Field(description="Of “text”, “image” and “audio”.")
    context: int | None = Field(description="Positions that the config gives.")
    trained: int | None = Field(description="Those before a rotation is rescaled.")
    schemes: list[str] = Field(description="Keys of the schemes that tell position.")
    image_schemes: list[str] = Field(description="The same for patches of images.")
    rotations: list[RotationOfModel] = Field(description="Of queries and keys of text or sound.")
    layers: int = Field(description="Number of layers; 0 where they are not known.")
    kinds: dict[Mixer, int] = Field(
        description="How many of these mix positions how, as in atlas.json."
    )
    limits: list[LimitOfModel] = Field(description="Windows and chunks, the widest first.")
    without_encoding: int = Field(description="Layers with attention that nothing tells position.")
    sinks: bool = Field(description="Whether attention has sinks beside its keys.")
    temperature: bool = Field(description="Whether attention has a temperature by position.")
    reference: str | None = Field(
        description="The folder of the program with the same settings, if any."
    )
    source: str = Field(description="Where the config stands in public.")
    from_knowledge: bool = Field(
        description="Whether it was entered from knowledge, without a copy of the file at hand."
    )
    reason: str | None = Field(description="Why its settings could not be read.")


class PublishedModels(Record):
    """The outermost object of models.json; models.csv has the same, one row a model."""

    schema_: int = Field(alias="schema", description="Number of this format.")
    models: list[PublishedModel] = Field(description="By their ids.")


OF_MODELS = (PublishedModels, PublishedModel, RotationOfModel, LimitOfModel)
