"""Pipelines of diffusers: checkpoints of several models, each in a folder of its own."""

from collections.abc import Sequence
from dataclasses import replace

from generator.checkpoints.files.formats import PIPELINE
from generator.checkpoints.files.json_object import parse_config
from generator.checkpoints.files.weights import CONFIG
from generator.contracts import Checkpoint, Storage
from generator.errors import RowError
from generator.text import slugify

# Weights of the parts that are diffusers' own.
OF_PARTS = tuple(f"diffusion_pytorch_model.safetensors{end}" for end in ("", ".index.json"))
MOST_PARTS = 32


def parts(checkpoint: Checkpoint, storage: Storage) -> Sequence[Checkpoint]:
    """The models that a pipeline names; the checkpoint itself where it is none. Reads
    model_index.json alone.

    errors: RowError, NotReachedError
    """
    if checkpoint.weights or checkpoint.config or storage.has(CONFIG):
        return (checkpoint,)
    index = storage.read(PIPELINE)
    document = parse_config(index, checkpoint.id) if index else {}
    names = [
        name
        for name, named in document.items()
        # Of an attribute of the pipeline, which leads to no other folder.
        if isinstance(named, list) and name.isidentifier() and storage.has(f"{name}/{CONFIG}")
    ]
    if len(names) > MOST_PARTS:
        raise RowError(
            f"{checkpoint.id}: {PIPELINE} names {len(names):,} models; expected at most"
            f" {MOST_PARTS}"
        )
    found = [
        replace(
            checkpoint,
            slug=f"{checkpoint.slug}--{slugify(name)}",
            id=f"{checkpoint.id}/{name}",
            place=f"{checkpoint.place}/{name}",
            title=f"{checkpoint.title} · {name}",
            weights=next((file for file in OF_PARTS if storage.has(f"{name}/{file}")), ""),
        )
        for name in names
    ]
    return found or (checkpoint,)
