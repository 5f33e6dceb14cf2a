"""Shared test helpers: files from a dict, folders in the layout of the Hub, a subject of an
analysis.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors.numpy import save_file

from generator.checkpoints.model.stacks import resolved
from generator.contracts import (
    Checkpoint,
    Encoding,
    Files,
    Json,
    Label,
    ModelConfig,
    Provenance,
    Resolved,
    Scheme,
    Subject,
    TensorInfo,
)
from generator.encodings import Form
from generator.numerics.arrays import Array, Floats

FormT = TypeVar("FormT", bound=Form)
DTYPES = {
    np.dtype(np.float64): "F64", np.dtype(np.float32): "F32", np.dtype(np.float16): "F16",
    np.dtype(np.int64): "I64",
}  # fmt: skip
LABELS = (Label("First", "#3d7fd6"), Label("Second", "#d9772b"))


@dataclass(frozen=True, eq=False)
class DictFiles:
    """``contracts.Files`` from plain dicts: the settings of config.json, arrays (…,) by tensor
    name, texts by file name.
    """

    settings: Json = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    where: str = "test"
    revision: str | None = None

    @property
    def config(self) -> ModelConfig:
        return ModelConfig(self.settings, self.where)

    @cached_property
    def resolved(self) -> Resolved:
        return resolved(self.config)

    @property
    def tensors(self) -> dict[str, TensorInfo]:
        return {
            name: TensorInfo("dict", DTYPES[array.dtype], array.shape)
            for name, array in self.arrays.items()
        }

    def tensor(self, name: str) -> Floats:
        """All values of a tensor (…,), in float64."""
        return self.arrays[name].astype(np.float64)

    def rows(self, name: str, indices: Sequence[int]) -> Floats:
        """Selected rows of a tensor: (len(indices), …), in float64."""
        return self.tensor(name)[list(indices)]

    def sha256(self, name: str) -> str:
        return hashlib.sha256(self.arrays[name].tobytes()).hexdigest()

    def notes(self, name: str) -> tuple[str, ...]:  # noqa: ARG002 (no tensor has any)
        return ()

    def read(self, name: str) -> bytes | None:
        return self.texts[name].encode() if name in self.texts else None


class Planted:
    """A malicious object: unpickling it creates a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


def close(ours: Any, theirs: Any, atol: float = 1e-6) -> None:
    """Numbers, or tensors of torch, nowhere differ by more than ``atol``."""
    ours, theirs = (
        each.detach().double() if hasattr(each, "detach") else each for each in (ours, theirs)
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=atol)


def flowing(text: str) -> str:
    """``text`` as a reader sees it: of white space, one space, and none between cells."""
    return re.sub(r"(?<=</t[dh]>) (?=<t[dh])", "", " ".join(text.split()))


def found_by(scheme: Scheme, files: Files) -> list[Encoding[Form]]:
    """What a scheme finds where no other claims anything."""
    return scheme.find(files) + (
        scheme.find_last(files, lambda _: False) if scheme.find_last else []
    )


def form_of(encoding: Encoding[Form], kind: type[FormT]) -> FormT:
    """The encoding's form, checked to be of this kind."""
    assert isinstance(encoding.form, kind)
    return encoding.form


def subject(form: FormT) -> Subject[FormT]:
    """An encoding of this form, without a sentence."""
    return Subject(
        Encoding("encoder", "made for a test", form, Provenance("")),
        no_input="no sentence was given",
    )


def checkpoint(**options: Any) -> Checkpoint:
    """A checkpoint with defaults for all options that are not given."""
    return Checkpoint(
        **{
            "slug": "row",
            "source": "folder",
            "id": "row",
            "place": "row",
            "title": "Row",
            **options,
        }
    )


def save_folder(
    folder: Path,
    config: Json,
    arrays: Mapping[str, Array] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Path:
    """``folder`` in the layout of the Hub, with weights if there are arrays (…,), by tensor
    name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if arrays is not None:
        save_file(
            {name: np.ascontiguousarray(array) for name, array in arrays.items()},
            folder / "model.safetensors",
        )
    for name, text in (texts or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def save_model(model: Any, folder: Path, texts: Mapping[str, str] | None = None) -> Path:
    """A model of transformers in ``folder``, with the tensor names of its state dict."""
    arrays = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    return save_folder(folder, model.config.to_dict(), arrays, texts)


@dataclass(frozen=True)
class Deadly:
    """A path that kills the process that opens it, like the out-of-memory killer, but the first."""

    here: int = field(default_factory=os.getpid)

    def __fspath__(self) -> str:
        if os.getpid() != self.here:
            os.kill(os.getpid(), 9)
        return "deadly"
