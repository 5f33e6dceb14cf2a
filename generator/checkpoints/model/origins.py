"""Where the settings of an encoding come from, in words."""

from typing import Any

from generator.contracts import EncodingRecord, Json
from generator.contracts.words import Words
from generator.text import number, significant

WORDS = Words("words/origins.jinja")


def in_words(record: EncodingRecord) -> dict[str, str]:
    """For each parameter that follows from settings, by its title: ``of_parameter``."""
    return {WORDS("parameter", name=name): of_parameter(record, name) for name in record.origins}


def of_parameter(record: EncodingRecord, name: str) -> str:
    """The keys of the file that determine a parameter which follows from settings, or whose default
    it is.
    """
    origin = record.origins[name]
    return WORDS(
        "origin",
        keys=list(origin.keys),
        default_of=origin.default_of,
        source=record.provenance.file,
    )


def rotation_in_words(parameters: Json) -> str:
    """What defines a rotation."""
    scaling: Any = parameters["scaling"]
    rule = "" if scaling is None else f", {scaling['rope_type']} scaling"
    factor = (
        ""
        if parameters["attention_factor"] == 1.0
        else f", factor {significant(parameters['attention_factor'], 4)}"
    )
    of_head = f" of {size}" if (size := parameters["head_dim"]) else ""
    components = f"{parameters['rotary_dim']}{of_head} components"
    return f"base {number(parameters['base'])}, {components}{rule}{factor}"
