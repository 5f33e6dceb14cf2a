"""How many components turn where a config gives a share of each head, in the settings of its
rotation or beside them: what the atlas reads, against the modules of each model type of text.

`python -m benchmarks.rotated_shares` takes every model type, or those that it is given, and prints
a line for each difference.
"""

import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks import class_defaults, models, oracle
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.contracts.model_config import ROTATED_PART
from generator.encodings import Rotation
from generator.reading.find import look

SECONDS = 60
SHARE, HALF = "partial_rotary_factor", 0.5
SCALINGS: Mapping[str, Mapping[str, Any]] = {
    "default": {}, "linear": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 1024},
}  # fmt: skip
EXPLAINED = {
    name: class_defaults.EXPLAINED[name]
    for name in ("bamba", "glm4_moe", "glm4v_moe_text", "qwen3_omni_moe_text")
} | {"molmo2_text": "its module also has the rotation that no layer of the default config uses"}


def compare(type_: str, kind: str) -> list[str]:
    """What differs with a share in each place, under a kind of scaling; nothing for a type without
    such a config, and for one whose own code fails with it.
    """
    from transformers import CONFIG_MAPPING

    try:
        config = CONFIG_MAPPING[type_](**models.NEEDED.get(type_, {}))
    # Some types have no default config, and raise exceptions of any class.
    except Exception:  # noqa: BLE001
        return []
    settings = json.loads(json.dumps(config.to_dict(), default=str))
    # A head with a part that turns has that part turn whole: with fewer frequencies, no such model
    # of transformers runs.
    if "vocab_size" not in settings or ROTATED_PART in settings:
        return []
    return [*_differences(type_, settings, kind)]


def _differences(type_: str, settings: Mapping[str, Any], kind: str) -> Iterator[str]:
    for place in ("inside", "beside"):
        given = _with_share(settings, kind, place)
        theirs = _of_modules(type_, given) if given else set()
        if not theirs:
            continue
        mine = _of_config(given)
        if wrong := (theirs - mine) | (mine - theirs - _of_config(_with_share(settings, kind, ""))):
            yield f"{kind}, share {place}: {sorted(mine & wrong)} ≠ {sorted(theirs & wrong)}"


def _with_share(settings: Mapping[str, Any], kind: str, place: str) -> dict[str, Any]:
    """The settings with a rotation of this kind, and with the share; none where a type has no
    rotation, or one of a kind of its own.
    """
    given = json.loads(json.dumps(settings))
    rope = given.get("rope_parameters") or {}
    every = [inner for inner in rope.values() if isinstance(inner, dict)] or [rope]
    if any(one.get("rope_type") != "default" for one in every):
        return {}
    for one in every:
        one.pop(SHARE, None)
        one |= {**SCALINGS[kind], "rope_type": kind, **({SHARE: HALF} if place == "inside" else {})}
    return {**given, **({SHARE: HALF} if place == "beside" else {})}


def _of_modules(type_: str, given: Mapping[str, Any]) -> set[int]:
    """Numbers of frequencies in the buffers of rotations; none where no class makes a model."""
    import torch
    from transformers import CONFIG_MAPPING

    try:
        with models.limit(SECONDS), warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")
            config = CONFIG_MAPPING[type_](**json.loads(json.dumps(given)))
            model = next(iter(models.classes(type_, type(config))))(config)
    # Many types take no scaling, and raise exceptions of any class.
    except Exception:  # noqa: BLE001
        return set()
    _, rotation = oracle.CLASSES[0]
    return {
        buffer.shape[-1]
        for module in model.modules()
        for name, buffer in module.named_buffers(recurse=False)
        if rotation.search(type(module).__name__)
        if name.endswith("inv_freq") and "original" not in name
    }


def _of_config(given: Mapping[str, Any]) -> set[int]:
    forms = [encoding.form for encoding in look(ConfigAlone(dict(given), "config")).all]
    return {len(form.frequencies) for form in forms if isinstance(form, Rotation)}


def main() -> int:
    """Compare all types, or those named."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    logging.disable(logging.ERROR)
    for name in sys.argv[1:] or models.types():
        reason = f" ({EXPLAINED[name]})" if name in EXPLAINED else ""
        found = [line for kind in SCALINGS for line in compare(name, kind)]
        sys.stdout.writelines(f"{name}: {line}{reason}\n" for line in found)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
