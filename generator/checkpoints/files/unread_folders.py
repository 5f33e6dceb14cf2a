"""Folders of training programs whose tensors are in no file that is read, with the way from each to
one that is.
"""

import json
from contextlib import suppress

from generator.contracts import Storage
from generator.errors import RowError

DEEPSPEED = (
    "a DeepSpeed ZeRO checkpoint, whose parameters lie in parts",
    "run `python zero_to_fp32.py . converted --safe_serialization` where latest lies, and name"
    " converted",
)
DISTRIBUTED = (
    "a checkpoint of torch.distributed.checkpoint, such as FSDP's, with parts of every tensor",
    "run `python -m torch.distributed.checkpoint.format_utils dcp_to_torch {folder} weights.pt`,"
    " and name weights.pt",
)
MEGATRON = (
    "a Megatron checkpoint, with code beside its tensors",
    "export it with Megatron Bridge, AutoBridge.export_ckpt, and name the new folder",
)
OLLAMA = "a store of Ollama, whose models are files called sha256-…"
MANIFESTS, OF_MODEL = "manifests/*/*/*/*", "application/vnd.ollama.image.model"
MOST = 3  # models that a message names
# What a folder with such a file is, and what to do. The first pattern that matches counts.
UNREAD = {
    "*.distcp": DISTRIBUTED,
    "*/*.distcp": DISTRIBUTED,
    "zero_to_fp32.py": DEEPSPEED,
    "*_optim_states.pt": DEEPSPEED,
    "latest_checkpointed_iteration.txt": MEGATRON,
    "mp_rank_*/model_optim_rng.pt": MEGATRON,
}


def unread_folder(storage: Storage, where: str) -> tuple[str, str] | None:
    """What the folder ``where`` is, and what to do; None for any other.

    errors: those of ``Storage``
    """
    for pattern, (found, advice) in UNREAD.items():
        if names := storage.matching(pattern):
            folder = f"{where}/{names[0]}".rpartition("/")[0]
            return found, advice.format(folder=folder)
    models = []
    for name in storage.matching(MANIFESTS):
        with suppress(RowError):
            if blob := model_of(storage.read(name) or b""):
                models.append(f"{where}/blobs/{blob} is {':'.join(name.split('/')[-2:])}")
    return (OLLAMA, f"name the file of one: {', '.join(models[:MOST])}") if models else None


def model_of(manifest: bytes) -> str:
    """Name of the file of the model that a manifest of Ollama names; "" for another text."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        for layer in json.loads(manifest)["layers"]:
            if layer["mediaType"] == OF_MODEL:
                return str(layer["digest"]).replace(":", "-", 1)
    return ""
