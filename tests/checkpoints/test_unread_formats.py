import json
from pathlib import Path

import pytest

from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import ANY, Choice
from generator.contracts import Outcome
from generator.errors import RowError
from generator.pipeline import evaluate
from generator.reading.plan import Task
from tests.support import checkpoint
from tests.synthetic import NOTHING, PICKLED, ROTATION, TABLE, WORDLESS, Contents, write_folder

FOUND = {
    "adapter_config.json": "a PEFT adapter", "adapter_model.safetensors": "a PEFT adapter",
    "model_index.json": "a diffusers pipeline", "bert_model.ckpt.index": "a TensorFlow checkpoint",
    "model.ckpt-1000.index": "a TensorFlow checkpoint",
    "model.ckpt.data-00000-of-00001": "a TensorFlow checkpoint",
    "saved_model.pb": "a TensorFlow SavedModel", "model.tflite": "a TensorFlow Lite model",
    "Model.mlpackage/Manifest.json": "a Core ML model", "openvino_model.xml": "an OpenVINO model",
    "tf_model.h5": "a TensorFlow checkpoint", "flax_model.msgpack": "a Flax checkpoint",
    "flax_model.msgpack.index.json": "a Flax checkpoint", "model.keras": "a Keras 3 model",
    "model.weights.h5": "a Keras 3 model", "ggml-tiny.en.bin": "a GGML file from before GGUF",
}  # fmt: skip
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
CONFIG = TABLE["config.json"]
OF_EVERY_FORMAT = (
    "config.json", "model.gguf", "model.npz", "model.onnx",
    "model.safetensors", "model.safetensors.index.json",
    "pytorch_model.bin", "pytorch_model.bin.index.json",
)  # fmt: skip
LISTED = {"wpe.weight", "wte.weight"}


def of(folder: Path, contents: Contents, choice: Choice = ANY) -> FolderFiles:
    return FolderFiles(write_folder(folder, contents), "here", choice)


def test_such_a_file_alone_is_a_row_error_that_says_what_it_is_and_no_matter_beside_others(
    tmp_path: Path,
) -> None:
    for index, (name, kind) in enumerate(FOUND.items()):
        with pytest.raises(RowError, match=rf"here/{name}: {kind}.*, which is not read; expected"):
            assert of(tmp_path / f"{index}", {"config.json": CONFIG, name: b"any"}).tensors
        beside = of(tmp_path / f"{index} beside", {**WORDLESS, name: b"any"})
        assert set(beside.tensors) == LISTED
        if name in ("model_index.json", "adapter_config.json"):
            with pytest.raises(RowError, match=f"here/{name}: {kind}"):
                of(tmp_path / f"{index} without config", {name: b"{}"})


def test_beside_a_pickle_the_row_error_is_that_of_the_pickle(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="only a pickle"):
        assert of(tmp_path, {**PICKLED, "saved_model.pb": b"any"}).tensors


@pytest.mark.parametrize(
    "name", ["ggml-tiny.en.bin", "data.pkl", "adapter_model.safetensors", "a.h5", "sub/a.msgpack"]
)
def test_a_row_that_names_such_a_file_is_told_what_it_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(RowError, match="which is not read"):
        assert of(tmp_path, {**WORDLESS, name: b"any"}, Choice(pickle=True, name=name)).tensors


def test_a_pickle_of_anything_beside_a_config_is_not_taken_for_weights(tmp_path: Path) -> None:
    assert of(tmp_path, {"config.json": CONFIG, "vocab.pkl": b"any"}).tensors == {}


def test_a_folder_with_such_a_file_alone_is_not_complete(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {"config.json": CONFIG, "saved_model.pb": b"any"})
    assert not weights.is_complete(Folder(folder, "here"), "here")


def test_a_git_lfs_pointer_is_named_in_every_format(tmp_path: Path) -> None:
    index = b'{"weight_map": {"wpe.weight": "one.safetensors"}}'
    cases = [{name: POINTER} for name in OF_EVERY_FORMAT]
    cases.append({"one.safetensors": POINTER, "model.safetensors.index.json": index})
    for number, contents in enumerate(cases):
        whole = {"config.json": CONFIG, **contents}
        with pytest.raises(RowError, match=f"here/{next(iter(contents))}: a Git LFS pointer"):
            assert of(tmp_path / str(number), whole, Choice(pickle=True)).tensors


SHARD = "model.fp16-00001-of-00001.safetensors"
VARIANTS: dict[str, Contents] = {
    "one": {"model.fp16.safetensors": TABLE["model.safetensors"]},
    "of another name": {"model.non_ema.safetensors": TABLE["model.safetensors"]},
    "beside the usual": {
        "model.safetensors": TABLE["model.safetensors"], "model.fp16.safetensors": b"not read"
    },
    **{
        name: {
            name: json.dumps({"weight_map": dict.fromkeys(sorted(LISTED), SHARD)}).encode(),
            SHARD: TABLE["model.safetensors"],
        }
        for name in ("model.safetensors.index.fp16.json", "model.fp16.safetensors.index.json")
    },
}  # fmt: skip


@pytest.mark.parametrize("contents", VARIANTS.values(), ids=VARIANTS)
def test_a_variant_of_the_weights_is_read_where_there_are_no_usual_ones(
    tmp_path: Path, contents: Contents
) -> None:
    assert set(of(tmp_path, {"config.json": CONFIG, **contents}).tensors) == LISTED


def outcome_of(folder: Path, contents: Contents) -> Outcome:
    place = str(write_folder(folder / "model", contents))
    return evaluate.outcome_of(
        Task(checkpoint(source="folder", id="here", place=place), offline=True)
    )


@pytest.mark.parametrize(
    "name", ["0_Transformer/model", "diffusion_pytorch_model", "model-00001-of-00002"]
)
@pytest.mark.parametrize("config", [CONFIG, NOTHING["config.json"]])
def test_weights_under_another_name_are_a_row_error_where_they_may_hold_the_encoding(
    tmp_path: Path, name: str, config: bytes
) -> None:
    name = f"{name}.safetensors"
    outcome = outcome_of(tmp_path, {"config.json": config, name: TABLE["model.safetensors"]})
    assert outcome.status == "failed"
    assert f"weights only in '{name}', which no row reads unasked" in str(outcome.reason)


@pytest.mark.parametrize(
    "contents",
    [
        {"config.json": CONFIG, "training_args.bin": b"any"},
        {"config.json": CONFIG, "optimizer.pt": b"any"},
        {"config.json": CONFIG, "checkpoint-5/rng_state.pth": b"any"},
        {**ROTATION, "sub/model.safetensors": b"any"},
    ],
    ids=lambda contents: list(contents)[-1],
)
def test_other_files_are_no_matter_where_they_are_of_training_or_the_config_says_it_all(
    tmp_path: Path, contents: Contents
) -> None:
    assert outcome_of(tmp_path, contents).status == "ok"


def test_a_config_alone_is_ok_and_says_what_its_weights_would_hold(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path, {"config.json": CONFIG})
    assert (outcome.status, [record.scheme for record in outcome.unmeasured]) == ("ok", ["learned"])
