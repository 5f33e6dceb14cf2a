import json
from pathlib import Path

import pytest

from generator.checkpoints.files import weights
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Outcome
from generator.errors import RowError
from generator.pipeline.evaluate import evaluate
from generator.pipeline.plan import Task
from tests.support import checkpoint
from tests.synthetic import NOTHING, PICKLED, ROTATION, TABLE, WORDLESS, write_folder

FOUND = {
    "adapter_config.json": "a PEFT adapter",
    "adapter_model.safetensors": "a PEFT adapter",
    "model_index.json": "a diffusers pipeline",
    "bert_model.ckpt.index": "a TensorFlow checkpoint",
    "model.ckpt-1000.index": "a TensorFlow checkpoint",
    "model.ckpt.data-00000-of-00001": "a TensorFlow checkpoint",
    "saved_model.pb": "a TensorFlow SavedModel",
    "model.tflite": "a TensorFlow Lite model",
    "Model.mlpackage/Manifest.json": "a Core ML model",
    "openvino_model.xml": "an OpenVINO model",
    "tf_model.h5": "a TensorFlow checkpoint",
    "flax_model.msgpack": "a Flax checkpoint",
    "flax_model.msgpack.index.json": "a Flax checkpoint",
    "model.keras": "a Keras 3 model",
    "model.weights.h5": "a Keras 3 model",
    "ggml-tiny.en.bin": "a GGML file from before GGUF",
}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"
CONFIG = TABLE["config.json"]
OF_EVERY_FORMAT = (
    "config.json", "model.gguf", "model.npz", "model.onnx",
    "model.safetensors", "model.safetensors.index.json",
    "pytorch_model.bin", "pytorch_model.bin.index.json",
)  # fmt: skip
each = pytest.mark.parametrize(("name", "kind"), FOUND.items())


@each
def test_a_folder_with_such_a_file_alone_is_a_row_error_that_says_what_it_is(
    tmp_path: Path, name: str, kind: str
) -> None:
    folder = write_folder(tmp_path, {"config.json": CONFIG, name: b"any"})
    with pytest.raises(
        RowError, match=rf"here/{name}: {kind}.*, which is not read; expected model.safetensors"
    ):
        assert FolderFiles(folder, "here").tensors


@each
def test_it_is_no_matter_beside_weights_that_are_read(tmp_path: Path, name: str, kind: str) -> None:
    assert set(FolderFiles(write_folder(tmp_path, {**WORDLESS, name: b"any"}), "here").tensors) == {
        "wpe.weight",
        "wte.weight",
    }


def test_beside_a_pickle_the_row_error_is_that_of_the_pickle(tmp_path: Path) -> None:
    with pytest.raises(RowError, match="only a pickle"):
        assert FolderFiles(
            write_folder(tmp_path, {**PICKLED, "saved_model.pb": b"any"}), "here"
        ).tensors


@pytest.mark.parametrize(
    "name", ["ggml-tiny.en.bin", "data.pkl", "adapter_model.safetensors", "a.h5", "sub/a.msgpack"]
)
def test_a_row_that_names_such_a_file_is_told_what_it_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(RowError, match="which is not read"):
        assert FolderFiles(
            write_folder(tmp_path, {**WORDLESS, name: b"any"}),
            "here",
            Choice(pickle=True, name=name),
        ).tensors


def test_a_pickle_of_anything_beside_a_config_is_not_taken_for_weights(tmp_path: Path) -> None:
    assert (
        FolderFiles(
            write_folder(tmp_path, {"config.json": CONFIG, "vocab.pkl": b"any"}), "here"
        ).tensors
        == {}
    )


def test_a_folder_with_such_a_file_alone_is_not_complete(tmp_path: Path) -> None:
    assert not weights.is_complete(
        Folder(write_folder(tmp_path, {"config.json": CONFIG, "saved_model.pb": b"any"}), "here"),
        "here",
    )


@pytest.mark.parametrize("name", OF_EVERY_FORMAT)
def test_a_git_lfs_pointer_is_named_in_every_format(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path, {"config.json": CONFIG, name: POINTER})
    with pytest.raises(
        RowError,
        match=(
            rf"here/{name}: a Git LFS pointer; expected the file itself, which `git lfs pull`"
            r" fetches"
        ),
    ):
        assert FolderFiles(folder, "here", Choice(pickle=True)).tensors


@pytest.mark.parametrize(
    ("name", "kind"),
    [("model_index.json", "a diffusers pipeline"), ("adapter_config.json", "a PEFT adapter")],
)
def test_a_folder_of_several_models_or_of_an_adapter_says_so_though_it_has_no_config(
    tmp_path: Path, name: str, kind: str
) -> None:
    with pytest.raises(RowError, match=f"here/{name}: {kind}"):
        FolderFiles(write_folder(tmp_path, {name: b"{}"}), "here")


def test_a_pointer_in_place_of_a_shard_is_named_too(tmp_path: Path) -> None:
    index = b'{"weight_map": {"wpe.weight": "one.safetensors"}}'
    folder = write_folder(
        tmp_path,
        {"config.json": CONFIG, "model.safetensors.index.json": index, "one.safetensors": POINTER},
    )
    with pytest.raises(RowError, match=r"here/one.safetensors: a Git LFS pointer"):
        assert FolderFiles(folder, "here").tensors


@pytest.mark.parametrize("name", ["model.fp16.safetensors", "model.non_ema.safetensors"])
def test_a_variant_of_the_weights_is_read_where_it_is_the_only_one(
    tmp_path: Path, name: str
) -> None:
    variant = {
        name if file == "model.safetensors" else file: content for file, content in WORDLESS.items()
    }
    assert set(FolderFiles(write_folder(tmp_path, variant), "here").tensors) == {
        "wpe.weight",
        "wte.weight",
    }


@pytest.mark.parametrize(
    "name", ["model.safetensors.index.fp16.json", "model.fp16.safetensors.index.json"]
)
def test_a_variant_in_shards_is_read_by_its_index(tmp_path: Path, name: str) -> None:
    shard = "model.fp16-00001-of-00001.safetensors"
    index = json.dumps({"weight_map": {"wpe.weight": shard, "wte.weight": shard}}).encode()
    folder = write_folder(
        tmp_path, {"config.json": CONFIG, name: index, shard: TABLE["model.safetensors"]}
    )
    assert set(FolderFiles(folder, "here").tensors) == {"wpe.weight", "wte.weight"}


def test_the_usual_file_comes_before_a_variant(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, {**WORDLESS, "model.fp16.safetensors": b"not read"})
    assert set(FolderFiles(folder, "here").tensors) == {"wpe.weight", "wte.weight"}


def outcome_of(folder: Path) -> Outcome:
    return evaluate(Task(checkpoint(source="folder", id="here", place=str(folder)), offline=True))


@pytest.mark.parametrize(
    "name",
    [
        "0_Transformer/model.safetensors",
        "diffusion_pytorch_model.safetensors",
        "model-00001-of-00002.safetensors",
    ],
)
@pytest.mark.parametrize("config", [CONFIG, NOTHING["config.json"]])
def test_weights_under_another_name_are_a_row_error_where_they_may_hold_the_encoding(
    tmp_path: Path, name: str, config: bytes
) -> None:
    outcome = outcome_of(
        write_folder(tmp_path / "model", {"config.json": config, name: TABLE["model.safetensors"]})
    )
    assert outcome.status == "failed"
    assert outcome.reason is not None
    assert (
        f"weights only in '{name}', which no row reads unasked; expected weights beside config.json"
        " under their usual name" in outcome.reason
    )


@pytest.mark.parametrize(
    "name", ["training_args.bin", "optimizer.pt", "checkpoint-5/rng_state.pth"]
)
def test_files_of_a_training_program_are_no_weights(tmp_path: Path, name: str) -> None:
    assert (
        outcome_of(write_folder(tmp_path / "model", {"config.json": CONFIG, name: b"any"})).status
        == "ok"
    )


def test_weights_under_another_name_are_no_matter_where_the_config_says_it_all(
    tmp_path: Path,
) -> None:
    assert (
        outcome_of(
            write_folder(tmp_path / "model", {**ROTATION, "sub/model.safetensors": b"any"})
        ).status
        == "ok"
    )


def test_a_config_alone_is_ok_and_says_what_its_weights_would_hold(tmp_path: Path) -> None:
    outcome = outcome_of(write_folder(tmp_path / "model", {"config.json": CONFIG}))
    assert (outcome.status, [record.scheme for record in outcome.unmeasured]) == ("ok", ["learned"])
