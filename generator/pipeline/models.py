"""One row for each published config of ``generator/models``: what its settings, and the code of its
family, say of position, without weights.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from generator.checkpoints.hub.published_configs import PublishedConfig, published_configs
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.stacks import stacks
from generator.contracts import Encoding, Layer, ModelConfig
from generator.contracts.layer_map import LIMITED
from generator.encodings import Form, NoEncoding, Rotation, Sinks, Temperature
from generator.errors import RowError
from generator.pipeline.find import look

SCHEMA = 1
# A number of parameters within a name, and that of active ones or of experts: 30B-A3B, 8x7B, 1_6b.
SIZE = re.compile(
    r"(?<![A-Za-z0-9.])(?:\d+x)?\d+(?:[._]\d+)?[BbMm](?:-A?\d+(?:\.\d+)?[BE])?(?![a-z0-9])"
)
# Contexts that are no number of stored or rotated positions.
CONTEXTS = ("max_sequence_length", "model_max_length", "context_length", "max_target_positions")
ORIGINAL = "original_max_position_embeddings"
OF_IMAGES = ("vision_config", "vision_embed_dim", "image_size")
SPEECH_ENCODER = "num_conv_pos_embeddings"
OF_SOUND = (SPEECH_ENCODER, "audio_config", "num_mel_bins", "max_speech_positions")
DECODER = "decoder_layers"


def make() -> bytes:
    """data/models.json, of all published configs."""
    return table(published_configs())


def table(models: Iterable[PublishedConfig]) -> bytes:
    """data/models.json, of these, one a line."""
    rows = ",\n".join(
        json.dumps(row(model), ensure_ascii=False, separators=(",", ":")) for model in models
    )
    return f'{{"schema":{SCHEMA},"models":[\n{rows}\n]}}\n'.encode()


def row(model: PublishedConfig) -> dict[str, Any]:
    """A model as in the file; ``reason``: why its settings could not be read, or null."""
    config = model.files.config
    size = SIZE.search(model.id.partition("/")[2])
    about = {
        "id": model.id,
        "maker": model.maker or None,
        "month": model.month or None,
        "dated_by": model.dated_by or None,
        "size": size[0].replace("_", ".").upper().replace("X", "x") if size else None,
        "model_type": config.text("model_type") or None,
        "inputs": _inputs(config),
        "context": _context(config),
    }
    origin = {
        "reference": model.reference or None,
        "source": model.source,
        "from_knowledge": model.is_from_knowledge,
    }
    try:
        found = look(model.files)
        layers = layer_map(model.files, found.all, is_complete=found.is_complete)
    except RowError as error:
        return {**about, **_position(config, [], []), **origin, "reason": str(error)}
    return {**about, **_position(config, found.all, layers), **origin, "reason": None}


def _inputs(config: ModelConfig) -> list[str]:
    """What a model reads or writes: text, images, sound."""
    of_images = any(stack.modality == "image" for stack in stacks(config))
    is_of_sound = any(name in config for name in OF_SOUND)
    is_encoder = is_of_sound and SPEECH_ENCODER in config and DECODER not in config
    reads_text = not is_encoder and any(stack.modality == "text" for stack in stacks(config))
    reads_images = of_images or any(name in config for name in OF_IMAGES)
    named = {"text": reads_text, "image": reads_images, "audio": is_of_sound}
    return [name for name, is_so in named.items() if is_so]


def _context(config: ModelConfig) -> int | None:
    """The positions that the config gives, None where it gives none."""
    given = [config.size("n_positions"), *(config.anywhere.value(name) for name in CONTEXTS)]
    return next((value for value in given if isinstance(value, int) and value > 0), None)


def _position(
    config: ModelConfig, encodings: Sequence[Encoding[Form]], layers: Sequence[Layer]
) -> dict[str, Any]:
    """What encodes position, and how layers mix it."""
    kinds = Counter(kind for layer in layers for kind in layer.mixers)
    rotations = [_rotation(encoding, layers) for encoding in encodings if _turns(encoding)]
    telling = {
        encoding.key
        for encoding in encodings
        if encoding.form.tells_position and encoding.form.acts_in != "state"
    }
    return {
        "trained": _trained(config, rotations),
        "schemes": _schemes(encodings, of_images=False),
        "image_schemes": _schemes(encodings, of_images=True),
        "rotations": [
            {name: value for name, value in rotation.items() if name != "trained"}
            for rotation in rotations
        ],
        "layers": len(layers),
        "kinds": dict(kinds),
        "limits": _limits(layers),
        "without_encoding": sum(_is_without(layer, telling) for layer in layers),
        "sinks": any(isinstance(encoding.form, Sinks) for encoding in encodings),
        "temperature": any(isinstance(encoding.form, Temperature) for encoding in encodings),
    }


def _schemes(encodings: Sequence[Encoding[Form]], *, of_images: bool) -> list[str]:
    """Keys of the schemes that tell position, of images or of all else."""
    return list(
        dict.fromkeys(
            encoding.scheme
            for encoding in encodings
            if (encoding.modality == "image") == of_images
            and (encoding.form.tells_position or isinstance(encoding.form, NoEncoding))
        )
    )


def _turns(encoding: Encoding[Form]) -> bool:
    return isinstance(encoding.form, Rotation) and encoding.modality != "image"


def _rotation(encoding: Encoding[Form], layers: Sequence[Layer]) -> dict[str, Any]:
    """A rotation. share: of the components of a head; layers: how many it acts in, null where that
    is not known
    """
    given = encoding.record.parameters
    scaling: Any = given["scaling"] or {}
    dim: Any = given["rotary_dim"]
    head: Any = given["head_dim"]
    return {
        "base": given["base"],
        "share": dim / head,
        "scaling": scaling.get("rope_type"),
        "factor": scaling.get("factor"),
        "layers": sum(encoding.key in (layer.encodings or ()) for layer in layers) or None,
        "trained": scaling.get(ORIGINAL),
    }


def _trained(config: ModelConfig, rotations: Sequence[dict[str, Any]]) -> int | None:
    """The context before scaling, where a rotation is rescaled and the config tells it."""
    scaled = [rotation for rotation in rotations if rotation["scaling"]]
    given = [*(rotation["trained"] for rotation in scaled), config.anywhere.value(ORIGINAL)]
    return next((value for value in given if isinstance(value, int)), None) if scaled else None


def _limits(layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Windows and chunks, widest first. keys: the most that a query sees, null where no setting
    says.
    """
    counts = Counter(
        (kind, None if layer.before is None else layer.before + 1 + (layer.after or 0))
        for layer in layers
        for kind in layer.mixers
        if kind in LIMITED
    )
    return [
        {"kind": kind, "keys": keys, "layers": count}
        for (kind, keys), count in sorted(counts.items(), key=lambda pair: -(pair[0][1] or 0))
    ]


def _is_without(layer: Layer, telling: set[str]) -> bool:
    """Whether a layer with attention has no encoding, neither its own nor at the input."""
    return (
        layer.attends
        and layer.encodings is not None
        and telling.isdisjoint((*layer.encodings, *layer.at_input))
    )
