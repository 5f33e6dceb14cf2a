"""Formats that are recognised and not read, with the way from each to one that is."""

from fnmatch import fnmatchcase
from typing import NoReturn

from generator.contracts import FileFormat, WeightsFile
from generator.errors import RowError

ADAPTER = (
    "a PEFT adapter, such as LoRA, which changes a base model",
    "merge_and_unload and save_pretrained",
)
TENSORFLOW = (
    "a TensorFlow checkpoint",
    "load it with transformers 4, from_tf=True, and save_pretrained",
)
SHARDS = (
    "an index of weights in shards",
    "load them with from_pretrained of transformers 4 and save_pretrained",
)
ORIGIN = "name the checkpoint that it was made from"
# What a file by this name is, and what to do. The first pattern that matches counts.
KINDS = {
    "adapter_config.json": ADAPTER,
    "adapter_model.*": ADAPTER,
    "model_index.json": (
        "a diffusers pipeline, which has several models",
        "name the folder of one of them, such as text_encoder",
    ),
    "*.ckpt*.index": TENSORFLOW,
    "*.ckpt*.data-*-of-*": TENSORFLOW,
    "*.ckpt*.meta": TENSORFLOW,
    "saved_model.pb": ("a TensorFlow SavedModel", ORIGIN),
    "tf_model.h5.index.json": SHARDS,
    "flax_model.msgpack.index.json": SHARDS,
    "openvino_*.xml": ("an OpenVINO model", ORIGIN),
    "*.tflite": ("a TensorFlow Lite model", ORIGIN),
    "*.mlmodel": ("a Core ML model", ORIGIN),
    "*.mlpackage/Manifest.json": ("a Core ML model", ORIGIN),
    "*.keras": ("a Keras 3 model, whose variables have numbers but no names", ORIGIN),
    "ggml-*.bin": (
        "a GGML file from before GGUF",
        "convert it to GGUF with the program that it is for, or " + ORIGIN,
    ),
    "*.pkl": (
        "a pickle from a program other than torch",
        "if you trust it, save its tensors with safetensors",
    ),
}
ANY_DATA = ("*.pkl",)  # Beside a config.json, such a file may hold other things than weights.


def refuse(file: WeightsFile) -> NoReturn:
    """Report the kind of a file, and what to do.

    errors: RowError for every file
    """
    found, advice = next(kind for pattern, kind in KINDS.items() if fnmatchcase(file.name, pattern))
    raise RowError(
        f"{file.where}/{file.name}: {found}, which is not read; expected model.safetensors"
        f" ({advice})"
    )


FORMAT = FileFormat(
    key="unread",
    order=99,
    names=tuple(pattern for pattern in KINDS if pattern not in ANY_DATA),
    suffixes=tuple(pattern.removeprefix("*") for pattern in ANY_DATA),
    open=refuse,
    texts=refuse,
    is_read=False,
)
