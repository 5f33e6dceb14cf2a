"""Formats that are recognised and not read, with the way from each to one that is."""

import re
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import NoReturn

from generator.checkpoints.files.formats import PIPELINE
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.unread_folders import model_of
from generator.contracts import FileFormat, WeightsFile
from generator.errors import RowError
from generator.text import short

ADAPTER = (
    "a PEFT adapter, such as LoRA, which changes a base model",
    "merge_and_unload and save_pretrained",
)
TENSORFLOW, FLAX = (
    (found, f"load it with transformers 4, {option}=True, and save_pretrained")
    for found, option in (
        ("a TensorFlow checkpoint", "from_tf"),
        ("a Flax checkpoint", "from_flax"),
    )
)
KERAS = ("a Keras 3 model", "save its arrays with numpy.savez in the program that made it")
MANIFEST = ("a manifest of Ollama, which names files", "name the file of the model: {row}")
ADAPTER_CONFIG, MOST_NAME = "adapter_config.json", 200
ORIGIN = "name the checkpoint that it was made from"
# What a file by this name is, and what to do. The first pattern that matches counts.
KINDS = {
    "adapter_config.json": ADAPTER,
    "adapter_model.*": ADAPTER,
    PIPELINE: (
        "a diffusers pipeline, which has several models",
        "name the folder of one of them, such as text_encoder",
    ),
    "*.ckpt*.index": TENSORFLOW,
    "*.ckpt*.data-*-of-*": TENSORFLOW,
    "*.ckpt*.meta": TENSORFLOW,
    "saved_model.pb": ("a TensorFlow SavedModel", ORIGIN),
    "tf_model.h5*": TENSORFLOW,
    "flax_model.msgpack*": FLAX,
    "openvino_*.xml": ("an OpenVINO model", ORIGIN),
    "*.tflite": ("a TensorFlow Lite model", ORIGIN),
    "*.mlmodel": ("a Core ML model", ORIGIN),
    "*.mlpackage/Manifest.json": ("a Core ML model", ORIGIN),
    "*.keras": KERAS,
    "*.weights.h5": KERAS,
    "*.h5": ("a file of HDF5", KERAS[1]),
    "*.msgpack": FLAX,
    "ggml-*.bin": (
        "a GGML file from before GGUF",
        "convert it to GGUF with the program that it is for, or " + ORIGIN,
    ),
    "*.distcp": (
        "a part of a checkpoint of torch.distributed.checkpoint, such as FSDP's",
        "name its folder, and see what that says",
    ),
    "*.pkl": (
        "a pickle from a program other than torch",
        "if you trust it, save its tensors with safetensors",
    ),
}
ANY_DATA = (
    "*.pkl",
    "*.distcp",
    "*.h5",
    "*.msgpack",
)  # Beside a config.json, such a file may hold other things than weights.


def refuse(file: WeightsFile) -> NoReturn:
    """Report the kind of a file, and what to do.

    errors: RowError for every file
    """
    kinds = (kind for pattern, kind in KINDS.items() if fnmatchcase(file.name, pattern))
    found, advice = next(kinds, MANIFEST)
    if found == MANIFEST[0]:
        blobs = f"{file.where.partition('/manifests/')[0]}/blobs"
        advice = advice.format(row=f"{blobs}/{model_of(file.storage.read(file.name) or b'')}")
    if found == ADAPTER[0]:
        advice += _base(file)
    raise RowError(
        f"{file.label}: {found}, which is not read; expected model.safetensors ({advice})"
    )


def _base(file: WeightsFile) -> str:
    """What an adapter says of its base model; "" where it does not name one."""
    text = file.storage.read(ADAPTER_CONFIG)
    with suppress(RowError):
        base = parse_config(text or b"", file.label).get("base_model_name_or_path")
        if isinstance(base, str) and base:
            return (
                f"; the position is that of its base, {short(base, MOST_NAME)}: name that, or"
                " write 'base: true' in the entry"
            )
    return ""


FORMAT = FileFormat(
    key="unread",
    after="numpy_array",
    names=tuple(pattern for pattern in KINDS if pattern not in ANY_DATA),
    suffixes=tuple(pattern.removeprefix("*") for pattern in ANY_DATA),
    begins=re.compile(rb'\s*\{\s*"schemaVersion"'),
    open=refuse,
    texts=refuse,
    is_read=False,
)
