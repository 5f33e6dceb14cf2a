"""Where the settings of an encoding come from, in words."""

from generator.contracts import EncodingRecord, Json
from generator.contracts.wording import Wording

WORDING = Wording("wording/origins.jinja")


def in_words(record: EncodingRecord) -> dict[str, str]:
    """For each parameter that follows from settings, by its title: ``of_parameter``."""
    return {WORDING("parameter", name=name): of_parameter(record, name) for name in record.origins}


def of_parameter(record: EncodingRecord, name: str) -> str:
    """The keys of the file that determine a parameter which follows from settings, or whose default
    it is.
    """
    origin = record.origins[name]
    return WORDING(
        "origin",
        keys=list(origin.keys),
        default_of=origin.default_of,
        source=record.provenance.file,
    )


def rotation_in_words(parameters: Json) -> str:
    """What defines a rotation."""
    return WORDING("rotation", parameters=parameters)
