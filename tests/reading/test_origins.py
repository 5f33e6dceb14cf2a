"""Every key that is named as the source of a number: that it is there, gives the number, and moves
it when it alone is changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import keys
from generator.checkpoints.model.resolved import IRRELEVANT
from generator.contracts import Encoding, Origin
from generator.contracts.model_config import HEAD_DIM, SIZES
from generator.encyclopedia.known_models import KnownModel, known_models
from generator.errors import RowError
from generator.reading.evidence import OF_FAMILY, look_closely
from generator.reading.find import find

EVERY = [*known_models()]
# One or two of each kind of schedule, and of those with a default, a share or a width that must fit
# another size.
OF_EACH_KIND = {
    "LiquidAI/LFM2-1.2B", "MiniMaxAI/MiniMax-M1-80k", "XiaomiMiMo/MiMo-V2-Flash",
    "allenai/OLMo-7B-Instruct", "allenai/Olmo-3-1025-7B", "answerdotai/ModernBERT-base",
    "facebook/esm2_t12_35M_UR50D", "google/embeddinggemma-300m", "google/recurrentgemma-2b",
    "google/gemma-4-26B-A4B", "ibm-ai-platform/Bamba-9B-v1", "mistralai/Ministral-8B-Instruct-2410",
    "mosaicml/mpt-7b", "THUDM/glm-4-9b-chat", "tiiuae/falcon-7b", "OpenGVLab/InternVL2-8B",
    "adept/fuyu-8b",
}  # fmt: skip
# Changed alone, their config class rejects it for a size that has to be changed with it.
WITH_ANOTHER = (*SIZES["n_layers"], *SIZES["d_model"])


def shown(encoding: Encoding[Any], name: str) -> str:
    """A number as it is compared; of a scaling, what it makes of frequencies."""
    if name != "scaling":
        return repr(encoding.record.parameters.get(name))
    form = encoding.form
    lists = [getattr(form, of, None) for of in ("frequencies", "long_factors")]
    return repr((form.attention_factor, [one is not None and [*map(float, one)] for one in lists]))


def n_refused(files: ConfigAlone) -> int:
    return sum(bool(stack.refused) for stack in files.resolved.stacks)


def numbers(
    settings: Mapping[str, Any], scheme: str, name: str, most_refused: int
) -> dict[str, str] | None:
    """That number of every encoding of a scheme, by its key; None for settings that are refused."""
    files = ConfigAlone(settings, "own")
    try:
        given = {one.key: shown(one, name) for one in find(files) if one.scheme == scheme}
    except RowError:
        return None
    return None if n_refused(files) > most_refused else given


def moved(model: KnownModel, path: keys.Path, one: Encoding[Any], name: str) -> bool | None:
    """Whether some other value at a path makes another number of an encoding, or of those in its
    place, or no scaling; None where all are refused.
    """
    others, before = keys.others(keys.at(model.settings, path)), shown(one, name)
    changed = (keys.with_value(model.settings, path, other) for other in others)
    refused = n_refused(model.files)
    every = (numbers(settings, one.scheme, name, refused) for settings in changed)
    read = [after for after in every if after is not None]
    known = {each.key for each in find(model.files)} - {one.key}
    in_place = [
        [after[one.key]] if one.key in after else [after[key] for key in after if key not in known]
        for after in read
    ]
    is_new = (
        any(number != before for number in after) or (name == "scaling" and not after)
        for after in in_place
    )
    return any(is_new) if read else None


def gives(name: str, value: Any, given: Mapping[str, Any]) -> bool:
    """Whether a number is the value of a key, or a stated function of those of several."""
    numeric = [one for one in given.values() if isinstance(one, int | float)]
    if name == "base":  # GLM-4 multiplies 10,000 (modeling_chatglm.py of THUDM).
        return value in numeric or value in [1e4 * one for one in numeric]
    if name == "window":  # Of one side; half of both, and the query beside it.
        return any(value in (one, one + 1, one // 2, one // 2 + 1) for one in numeric)
    if name == "layers":
        return all(map(may_number, given.values()))
    if name in ("n_positions", "heads"):
        return any(value == one for one in numeric)
    return name == "scaling" or value in sizes(given)


def may_number(value: Any) -> bool:
    """Whether a value counts layers, or names or numbers them: letters, kinds, indices, blocks."""
    return isinstance(value, int | str) or (isinstance(value, list) and bool(value))


def sizes(given: Mapping[str, Any]) -> set[int]:
    """Sizes of heads or of parts of them that follow from settings: one of them, a width by a
    number of heads, the sum of both parts of latent attention; and shares of these.
    """
    at = {path.split(".")[-1]: value for path, value in given.items()}
    width = next((at[name] for name in SIZES["d_model"] if name in at), None)
    heads = next((at[name] for name in SIZES["n_heads"] if name in at), None)
    whole = {at[name] for name in (*HEAD_DIM, "global_head_dim", "rotary_dim") if name in at}
    whole |= {width // heads} if width and heads else set()
    parts = [value for name, value in at.items() if name.startswith("qk_")]
    whole |= {sum(parts), *parts, *(part + 32 for part in parts)}  # MiniCPM 3 has lists of 16.
    shares = [value for value in at.values() if isinstance(value, float) and value <= 1]
    halved = [0.5] if "kv_channels" in at else []  # modeling_chatglm.py.
    # Of an image: a half for rows and columns each, or a third for time beside them, in pairs.
    of_axes = {one // 2 for one in whole} | {one // 6 * 2 for one in whole}
    return whole | of_axes | {int(one * share) for one in whole for share in (*shares, *halved)}


def origins(model: KnownModel) -> Sequence[tuple[Encoding[Any], str, Origin]]:
    return [
        (one, name, origin)
        for one in look_closely(model.files).measured
        for name, origin in one.origins.items()
    ]


def faults(model: KnownModel) -> list[str]:
    """What is wrong with the keys that are named for a model."""
    settings, found = model.settings, []
    paths = {keys.dotted(path): path for path, _ in keys.leaves(settings)}
    for one, name, origin in origins(model):
        given = {key: keys.at(settings, paths[key]) for key in origin.keys if key in paths}
        what = f"{one.key} {name} {origin}"
        if set(given) != set(origin.keys) or None in given.values():
            found.append(f"{what}: is not there, or null")
        elif given and not gives(name, one.record.parameters[name], given):
            found.append(f"{what}: does not give {one.record.parameters[name]}")
        for key in given:
            has_moved = moved(model, paths[key], one, name)
            if not has_moved and (has_moved is False or paths[key][-1] not in WITH_ANOTHER):
                found.append(f"{what}: {key} moves nothing")
        others = [path for path in paths.values() if not origin.keys and origin.default_of]
        found += [
            f"{what}: {keys.dotted(path)} moves it"
            for path in others
            if IRRELEVANT.isdisjoint(path) and path[-1] not in OF_FAMILY
            and keys.at(settings, path) is not None
            and moved(model, path, one, name)
        ]  # fmt: skip
    return found


def test_the_keys_of_each_kind_of_model_are_what_gives_its_numbers() -> None:
    wrong = {
        model.id: fault for model in EVERY if model.id in OF_EACH_KIND if (fault := faults(model))
    }
    assert wrong == {}


@pytest.mark.thorough
@pytest.mark.parametrize("model", EVERY, ids=lambda model: model.id)
def test_the_keys_of_every_published_config_are_what_gives_its_numbers(model: KnownModel) -> None:
    assert faults(model) == []
