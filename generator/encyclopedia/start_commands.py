"""What a program is given so that it serves a published model up to some length."""

import json

from generator.contracts import Json
from generator.encyclopedia import by_program
from generator.encyclopedia.known_models import known_model
from generator.encyclopedia.model_rows import WORDING

READER = "vLLM"  # Its command is the one that models are compared by.
LENGTH = 32_768  # tokens
START = "vllm serve"
ID = "{id}"  # Stands for the id in a command, so that equal ways are equal texts.


def command_title() -> str:
    """Of the row with ``command``."""
    return WORDING("command_for", length=LENGTH, program=READER)


def command(model: Json, length: int = LENGTH) -> str:
    """The command of vLLM for texts of ``length`` tokens and its premise, or why there is none.

    model: as in models.json; the id in the command is ``ID``
    """
    context = model["context"] or model["default_context"]
    native = (model["native"] or {"length": None})["length"]
    usable = min((limit for limit in (context, native) if limit), default=None)
    ways = [one for one in model["extends"] if one["to"] >= length] if usable else []
    extension = min(ways, key=lambda one: int(one["to"]), default=None)
    given = extension and extension.get("rope_parameters")
    return WORDING(
        "command",
        start=f"{START} {ID}",
        length=length,
        context=context,
        native=native,
        usable=usable,
        keys=model["other_ways"],
        to=extension and extension["to"],
        way=extension and extension.get("way"),
        override=override(model, extension) if extension and given else "",
        parts=[stack["part"] for stack in model["stacks"]],
        is_counted=model["cache"] is not None,
        is_read=READER in _readers(model["id"]),
    )


def override(model: Json, extension: Json) -> str:
    """The settings of a rotation as JSON for a program: with the base of the config and the length,
    beyond which vLLM and SGLang refuse to start, and within the section of the text model.
    """
    section = model["text_section"]
    whole = {
        "rope_parameters": with_base(model, extension["rope_parameters"]),
        model["context_key"].rpartition(".")[2]: extension["to"],
    }
    return json.dumps({section: whole} if section else whole)


def with_base(model: Json, given: Json) -> Json:
    """Settings of a rotation with the base of the config, unless they have one."""
    return {"rope_theta": model["rotations"][0]["base"], **given}


def _readers(hub_id: str) -> list[str]:
    """Programs of which it is known what they take from a config."""
    known = known_model(hub_id)
    return [] if known is None else list(by_program.of(known)["known"])
