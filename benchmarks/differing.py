"""How programs differ in what they take from a published config, for the page of its model."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from generator.contracts import Json, LintFinding, ModelConfig
from generator.encyclopedia.known_models import KnownModel
from generator.reading import lint
from generator.reading.taken import Taken, is_read, ours_of, taken

# Of a finding, by what its values have.
ROTATION, WINDOWS, LIMITS = "settings", "n_layers", "served"
CONVERTER = "llama.cpp's converter"
NAMES = {CONVERTER: "llama.cpp"}  # What takes what the converter stores.
OF_ROTATION = ("head_dim", "rotary_dim", "scaling")  # beside its base


def found(model: KnownModel, told: Iterable[LintFinding]) -> dict[str, Any]:
    """What is shipped of a model, of which ``told`` is what rules find."""
    config = model.files.config
    every = taken(config.settings, config.where) if is_read(config) else ()
    if not every or not ours_of(every).is_known:
        return {}
    known = names([one.name for one in every if one.is_known and not one.refused])
    differ = [
        {"text": one.text, **differing(config, one.values)}
        for one in told
        if one.rule == lint.READERS
    ]
    return {"known": known, "taken": list(lint.sentences(config)), "differ": differ}


def differing(config: ModelConfig, values: Json) -> dict[str, Any]:
    """A way in which programs differ: the values of a finding, with names of programs without
    their versions.

    agree: programs that take what transformers 5 takes; base: that of transformers 5, where a file
        of llama.cpp lacks nothing else of the rotation
    """
    every = taken(config.settings, config.where)
    ours = ours_of(every)
    others = [one for one in every if one.is_known and not one.refused]
    if WINDOWS in values:
        agreeing = [one for one in others if one.windows_that_limit == ours.windows_that_limit]
    else:
        agreeing = [one for one in others if one.turns_as(ours)]
    about: dict[str, Any] = {"agree": names([one.name for one in agreeing]), "base": None}
    if ROTATION in values:
        about["base"] = next(_bases(others, ours), None)
    served = [
        {**one, "reader": names([one["reader"]])[0]} for one in values.get(LIMITS, ())
    ]  # fmt: skip
    further = {LIMITS: served} if served else {}
    return {**values, **about, **further, "readers": names(values["readers"])}


def names(versions: Sequence[str]) -> list[str]:
    """Programs without their versions, but for one of which only some releases are named."""
    found: dict[str, list[str]] = {}
    for one in versions:
        name, _, version = one.rpartition(" ")
        found.setdefault(NAMES.get(name, name), []).append(version.partition(".")[0])
    is_both = len(found.get("transformers", ())) > 1
    return [
        name if name != "transformers" or is_both else f"{name} {releases[0]}"
        for name, releases in found.items()
    ]


def _bases(others: Iterable[Taken], ours: Taken) -> Iterator[float]:
    """The base of transformers 5, where the converter of llama.cpp stores another and all else."""
    for one in others:
        if one.name.startswith(CONVERTER) and len(ours.parameters) == len(one.parameters) == 1:
            [theirs], [own] = one.parameters.values(), ours.parameters.values()
            is_like = all(theirs[name] == own[name] for name in OF_ROTATION)
            if is_like and theirs["base"] != own["base"]:
                yield float(own["base"])
