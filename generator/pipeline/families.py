"""Layer maps of the model types of transformers, by the defaults of their config classes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.code_files import NoOutlineError, code_files
from generator.checkpoints.model.default_layers import default_layers, is_read
from generator.checkpoints.model.layer_map import BOTH, acting, entering, mapped_stacks
from generator.checkpoints.model.layers import chunk_setting, window_setting
from generator.checkpoints.model.resolved import resolved
from generator.checkpoints.model.stacks import Stack
from generator.contracts import Encoding, Layer, ModelConfig
from generator.encodings import Form, NoEncoding, Rotation
from generator.errors import RowError
from generator.libraries import config_classes
from generator.pipeline.find import find

MOST_SHOWN = 160  # characters of a reason
# Parameters that are long, and follow from the others.
AT_LENGTH = ("inverse_frequencies", "layers")


def make() -> bytes:
    """data/families.json, of all types of the installed transformers."""
    return table(sorted(config_classes()))


def untrained() -> bytes:
    """Names of the types whose code, by the defaults of their config classes, makes no trained
    tensor that holds an encoding, as JSON.
    """
    return (
        json.dumps(
            [name for name in sorted(config_classes()) if _is_untrained(name)], indent=1
        ).encode()
        + b"\n"
    )


def _is_untrained(model_type: str) -> bool:
    try:
        code = code_files(ConfigAlone({"model_type": model_type}, model_type).config)
        return (
            code is not None
            and not code.missing
            and all(encoding.provenance.tensor is None for encoding in find(code))
        )
    except (NoOutlineError, RowError):  # As where a size that a scheme needs is missing.
        return False


def table(types: Iterable[str]) -> bytes:
    """data/families.json, of these types, one a line."""
    rows = ",\n".join(
        json.dumps(family(model_type), ensure_ascii=False, separators=(",", ":"))
        for model_type in types
    )
    made_by = version("transformers")
    return f'{{"schema":1,"transformers":"{made_by}","families":[\n{rows}\n]}}\n'.encode()


def family(model_type: str) -> dict[str, Any]:
    """A model type with its stacks and encodings; ``reason``: why its defaults could not be read,
    or null.
    """
    try:
        read = _read(model_type)
    except RowError as error:
        read = _unread(str(error))
    # Config classes raise exceptions of any class, and one must not take the others' rows with it.
    except Exception as error:  # noqa: BLE001
        read = _unread(f"{type(error).__name__}: {error}")
    return {"model_type": model_type, "reason": None, **read}


def _read(model_type: str) -> dict[str, Any]:
    files = ConfigAlone({"model_type": model_type}, model_type)
    if refused := resolved(files.config).refused:
        return _unread(refused)
    by_part = _by_part(files.config)
    encodings = find(files) if by_part else []
    stacks = [
        _stack(
            stack,
            model_type,
            layers,
            _at_input(encodings, part, by_part),
            _inside(encodings, stack),
        )
        for part, (stack, layers) in by_part.items()
    ]
    used = {
        key
        for stack in stacks
        for keys in (stack["input"], *(group["encodings"] for group in stack["groups"]))
        for key in keys or ()
    }
    return {
        "stacks": stacks,
        "encodings": [_encoding(encoding) for encoding in encodings if encoding.key in used],
    }


def _unread(reason: str) -> dict[str, Any]:
    return {"reason": " ".join(reason.split())[:MOST_SHOWN], "stacks": [], "encodings": []}


def _by_part(config: ModelConfig) -> dict[str, tuple[Stack, tuple[Layer, ...]]]:
    """Stack and layers by part; nested configs override the outer one.

    errors: RowError where two nested ones have the same part
    """
    by_part: dict[str, tuple[Stack, tuple[Layer, ...]]] = {}
    for stack in mapped_stacks(config):
        for part, layers in default_layers(stack).items():
            if part in by_part and by_part[part][0].config.family != config.family:
                raise RowError(f"two of its stacks are both called {part}")
            by_part[part] = (stack, layers)
    return by_part


def _at_input(
    encodings: Sequence[Encoding[Form]],
    part: str,
    by_part: Mapping[str, tuple[Stack, tuple[Layer, ...]]],
) -> list[Encoding[Form]]:
    """Encodings that enter at the input of ``part``, and the absence of any."""
    parts = {name: stack.modality for name, (stack, _) in by_part.items()}
    keys = entering(encodings, by_part[part][1][0], parts)
    return [
        encoding
        for encoding in encodings
        if encoding.key in keys or (isinstance(encoding.form, NoEncoding) and encoding.part == part)
    ]


def _inside(encodings: Iterable[Encoding[Form]], stack: Stack) -> list[Encoding[Form]]:
    """Encodings that act in layers, of this stack and not of another whose name begins alike."""
    return [
        encoding
        for encoding in encodings
        if encoding.form.acts_in not in ("input", "")
        and f"{encoding.part} ".startswith(f"{stack.part} ")
        and encoding.part.startswith(BOTH) == (stack.part == BOTH)
    ]


def _stack(
    stack: Stack,
    model_type: str,
    layers: Sequence[Layer],
    at_input: Sequence[Encoding[Form]],
    inside: Sequence[Encoding[Form]],
) -> dict[str, Any]:
    """A stack as in the file; its layers in groups that mix positions alike and have the same
    encodings.
    """
    part = layers[0].part
    of_layers = {layer: acting(inside, layer, {part: stack.modality}) for layer in layers}
    rotations = {encoding.key for encoding in inside if isinstance(encoding.form, Rotation)}
    is_settled = any(isinstance(encoding.form, NoEncoding) for encoding in at_input) or any(
        map(rotations.intersection, of_layers.values())
    )
    groups: dict[str, dict[str, Any]] = {}
    for layer, keys in of_layers.items():
        known = bool(keys) or is_settled or not layer.mixes
        group = {**_mixing(stack, layer), "encodings": list(keys) if known else None}
        groups.setdefault(json.dumps(group), {"layers": [], **group})["layers"].append(layer.index)
    return {
        "part": part,
        "model_type": stack.config.family,
        "nested": stack.config.family != model_type,
        "sides": stack.config.is_encoder_decoder,
        "n_layers": len(layers),
        "input": [encoding.key for encoding in at_input],
        "groups": list(groups.values()),
    }


def _mixing(stack: Stack, layer: Layer) -> dict[str, Any]:
    """How a layer mixes positions, null where its settings do not say, and the setting of its
    window or chunks.
    """
    kinds = list(layer.mixers) if is_read(stack.config, layer) else None
    window = None
    if kinds is not None and "sliding" in kinds:
        window = window_setting(stack.config, layer.index)
    elif kinds is not None and "chunked" in kinds:
        window = chunk_setting(stack.config)
    setting = None if window is None else {"setting": window[0], "value": window[1]}
    return {"type": layer.type, "kinds": kinds, "limit": setting}


def _encoding(encoding: Encoding[Form]) -> dict[str, Any]:
    parameters = {
        name: value for name, value in encoding.record.parameters.items() if name not in AT_LENGTH
    }
    return {
        "key": encoding.key,
        "part": encoding.part,
        "scheme": encoding.scheme,
        "parameters": parameters,
    }
