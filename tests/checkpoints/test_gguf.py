"""GGUF files: tensors of every type, models in several files, and the same models in
safetensors.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from gguf.constants import GGML_QUANT_SIZES
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.numpy import save_file

from generator.checkpoints.files.formats.gguf import FORMAT
from generator.checkpoints.files.formats.gguf.quantised import scaled_block
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Encoding
from generator.encodings import Form
from generator.errors import RowError
from generator.numerics.arrays import Array
from generator.reading.find import find
from tests import inline, tiny
from tests.gguf_files import close, files, header_of, renamed, weights, write
from tests.hub_server import Repository, serving

COMMIT = "a" * 40
PLAIN = {Kind.F64: "<f8", Kind.I8: "<i1", Kind.I16: "<i2", Kind.I32: "<i4", Kind.I64: "<i8"}
WITHOUT_NUMBERS = [Kind.Q8_1, Kind.Q8_K]
QUANTISED = [kind for kind in GGML_QUANT_SIZES if kind in gguf.quants._type_traits]
FAMILIES = ("bert", "gpt2", "t5")
WIDE = dict.fromkeys(("hidden_size", "n_embd", "d_model", "d_kv", "intermediate_size", "d_ff"), 32)
SIZES = {
    "block_count": 1, "context_length": tiny.POSITIONS, "embedding_length": 32,
    "attention.head_count": 2,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "bert": {"attention.causal": False, "attention.layer_norm_epsilon": 1e-12},
    "gpt2": {"attention.layer_norm_epsilon": 1e-5},
    "t5": {"attention.relative_buckets_count": 32, "attention.key_length": 32},
}
TWINS = [(model_type, kind) for model_type in FAMILIES for kind in (Kind.F32, Kind.F16, Kind.Q8_0)]


@pytest.fixture(scope="module")
def models() -> dict[str, dict[str, Array]]:
    """The tensors of a tiny model of each family."""
    return {model_type: tiny.arrays(tiny.build(model_type, **WIDE)) for model_type in FAMILIES}


def twins(
    tmp_path: Path, model_type: str, arrays: Mapping[str, Array], kind: Kind
) -> tuple[list[Encoding[Form]], list[Encoding[Form]]]:
    """What is found in the same model, in safetensors and in GGUF."""
    (tmp_path / "plain").mkdir()
    save_file(dict(arrays), tmp_path / "plain/model.safetensors")
    config: dict[str, Any] = {"model_type": model_type, **tiny.SIZES, **tiny.LAYERS, **WIDE}
    (tmp_path / "plain/config.json").write_text(json.dumps(config))
    architecture = gguf.MODEL_ARCH[model_type.upper()]
    settings = {**SIZES, **OWN[model_type]}
    named = renamed(architecture, arrays)
    path = write(tmp_path / "model.gguf", model_type, settings, named, kind)
    return find(FolderFiles(tmp_path / "plain", "plain")), find(files(path))


@pytest.mark.parametrize(
    ("model_type", "kind"), TWINS, ids=[f"{model_type} {kind.name}" for model_type, kind in TWINS]
)
def test_a_model_in_gguf_has_the_encodings_that_it_has_in_safetensors(
    model_type: str, kind: Kind, models: dict[str, dict[str, Array]], tmp_path: Path
) -> None:
    plain, stored = twins(tmp_path, model_type, models[model_type], kind)
    told = [
        [(own.part, own.scheme, type(own.form), own.stack, own.modality) for own in found]
        for found in (stored, plain)
    ]
    assert told[0] == told[1]
    assert len(plain) == (2 if model_type == "t5" else 1)
    for own, other in zip(stored, plain, strict=True):
        largest = float(np.abs(other.form.numbers).max())
        most = {"F32": 0.0, "F16": largest * 2**-11, "Q8_0": largest / 254 * 1.01}
        apart = most[own.provenance.dtype or ""]
        np.testing.assert_allclose(own.form.numbers, other.form.numbers, rtol=0.0, atol=apart)
        assert own.form.parameters.keys() == other.form.parameters.keys()
        assert own.provenance.file == "model.gguf"
    if (model_type, kind) == ("gpt2", Kind.Q8_0):
        assert stored[0].provenance.tensor == "position_embd.weight"
        assert any("Stored as Q8_0, in blocks of 32" in note for note in stored[0].notes)


def raw(tmp_path: Path, kind: Kind, n_columns: int, data: bytes) -> Path:
    """One matrix of a type, of any bytes."""
    block, n_bytes = GGML_QUANT_SIZES[kind]
    matrix = np.frombuffer(data, dtype=np.uint8).reshape(-1, n_columns // block * n_bytes)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
    writer.add_tensor("x", matrix, raw_shape=matrix.shape, raw_dtype=kind)
    return close(writer, tmp_path / "x.gguf")


def test_any_bytes_of_a_type_are_read_as_the_library_reads_them(tmp_path: Path) -> None:
    for kind in QUANTISED:
        block, n_bytes = GGML_QUANT_SIZES[kind]
        shape = (3, 512 // block * n_bytes)
        data = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
        stored = files(raw(tmp_path, kind, 512, data.tobytes()))
        with np.errstate(all="ignore"):
            expected = gguf.quants.dequantize(data, kind).astype(np.float64)
        np.testing.assert_array_equal(stored.tensor("x"), expected)
        np.testing.assert_array_equal(stored.rows("x", [2, 1, 2]), expected[[2, 1, 2]])
        assert stored.tensors["x"].dtype == kind.name


def test_plain_numbers_are_read_exactly(tmp_path: Path) -> None:
    for kind, dtype in PLAIN.items():
        array = np.arange(-6, 6).reshape(3, 4).astype(dtype)
        writer = gguf.GGUFWriter(tmp_path / "x.gguf", "any")
        writer.add_tensor("x", array)
        stored = files(close(writer, tmp_path / "x.gguf"))
        np.testing.assert_array_equal(stored.tensor("x"), array.astype(np.float64))
        assert (stored.tensors["x"].dtype, stored.notes("x")) == (kind.name, ())


def test_the_row_error_for_a_type_without_numbers_names_it(tmp_path: Path) -> None:
    for kind in WITHOUT_NUMBERS:
        block, n_bytes = GGML_QUANT_SIZES[kind]
        with pytest.raises(RowError, match=kind.name):
            files(raw(tmp_path, kind, block, bytes(n_bytes))).tensor("x")


def half(value: float) -> bytes:
    return np.float16(value).tobytes()


# The step by hand: the scale of Q8_0 and of Q4_1; of Q6_K, the scale of the block times those of
# its 16 parts, 1 to 16, whose median is 8.5.
OF_Q6 = bytes(17 * (i % 16) for i in range(128)) + bytes(64) + bytes(range(1, 17)) + half(0.5)
STEPS = {
    Kind.Q8_0: (half(0.25) + bytes(range(32)), 32, 32, "0.25"),
    Kind.Q4_1: (half(0.5) + half(-3.0) + bytes(range(16)), 32, 32, "0.5"),
    Kind.Q6_K: (OF_Q6, 256, 16, "4.25"),
}


@pytest.mark.parametrize("kind", STEPS, ids=lambda kind: kind.name)
def test_a_note_gives_the_step_of_a_type(kind: Kind, tmp_path: Path) -> None:
    data, n_columns, block, step = STEPS[kind]
    [note] = files(raw(tmp_path, kind, n_columns, data)).notes("x")
    assert note.startswith(f"Stored as {kind.name}, in blocks of {block} values")
    assert f" are equal or differ by at least {step} " in note


def test_a_note_on_values_that_are_all_equal_gives_no_step(tmp_path: Path) -> None:
    [note] = files(raw(tmp_path, Kind.Q8_0, 32, half(0.5) + bytes(32))).notes("x")
    assert note.endswith("that share a scale.")


def changed_together(kind: Kind) -> int:
    """Length of the shortest run of more than eight values in a block that one bit may change:
    those that share a scale.
    """
    block, n_bytes = GGML_QUANT_SIZES[kind]
    changed = np.zeros((8 * n_bytes, block), dtype=bool)
    for bits in np.random.default_rng(0).integers(0, 2, (8, 8 * n_bytes), dtype=np.uint8):
        flipped = np.packbits(np.vstack([bits, bits ^ np.eye(len(bits), dtype=np.uint8)]), axis=1)
        with np.errstate(all="ignore"):
            values = gguf.quants.dequantize(flipped, kind).reshape(-1, block)
            changed |= (values[1:] != values[0]) & np.isfinite(values[1:] + values[0])
    places = [np.flatnonzero(row) for row in changed]
    return min(int(np.ptp(place)) + 1 for place in places if len(place) > 8)


def test_values_that_share_a_scale_are_those_that_change_together() -> None:
    expected = {each.name: changed_together(each) for each in QUANTISED if each is not Kind.BF16}
    assert {name: scaled_block(name) for name in expected} == expected


def parts(tmp_path: Path, n_parts: int, count: int | None = None) -> list[Path]:
    """A model in several files, each with one tensor, and the settings in the first."""
    paths = []
    for number in range(n_parts):
        own = {"block_count": 3} if number == 0 else {}
        split = {"split.no": number, "split.count": n_parts if count is None else count}
        path = tmp_path / f"model-{number + 1:05d}-of-{n_parts:05d}.gguf"
        tensors = {f"tensor {number}": np.full((2, 2), number, dtype=np.float32)}
        paths.append(write(path, "llama", {**own, **split}, tensors))
    return paths


@pytest.mark.parametrize("opened_through", [0, 2])
def test_a_model_in_several_files_is_read_whole(opened_through: int, tmp_path: Path) -> None:
    paths = parts(tmp_path, 3)
    found = files(paths[opened_through])
    places = {f"tensor {number}": path.name for number, path in enumerate(paths)}
    assert {name: found.tensors[name].file for name in found.tensors} == places
    assert found.tensor("tensor 2")[0, 0] == 2.0
    assert found.config.value("num_hidden_layers") == 3
    assert set(FORMAT.files(weights(paths[opened_through]))) == {path.name for path in paths}


def test_a_missing_part_or_one_of_another_model_is_refused(tmp_path: Path) -> None:
    paths = parts(tmp_path, 3)
    paths[1].unlink()
    with pytest.raises(RowError, match=r"here/model-00002-of-00003.gguf: no such file"):
        _ = files(paths[0]).tensors
    with pytest.raises(RowError, match=r"a part of 5; expected one of 2"):
        _ = files(parts(tmp_path, 2, count=5)[0]).tensors
    first, second = parts(tmp_path, 2)
    write(second, "llama", {"split.count": 2}, {"tensor 0": np.zeros((2, 2), dtype=np.float32)})
    with pytest.raises(RowError, match=rf"'tensor 0' is also in {first.name}"):
        _ = files(first).tensors


@pytest.mark.parametrize("name", ["Zephyr.gguf", "mistral.gguf", "mmlu.gguf"])
def test_a_model_is_read_before_the_encoder_of_images_beside_it(name: str, tmp_path: Path) -> None:
    write(tmp_path / "mmproj-model.gguf", "clip", {"clip.has_vision_encoder": True})
    write(tmp_path / name, "llama", {}, {"x": np.zeros((2, 2), dtype=np.float32)})
    assert {tensor.file for tensor in FolderFiles(tmp_path, "here").tensors.values()} == {name}


def test_an_encoder_of_images_alone_is_read(tmp_path: Path) -> None:
    sizes = {"image_size": 28, "patch_size": 14, "embedding_length": 32, "block_count": 2}
    table = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    given = {f"clip.vision.{key}": value for key, value in sizes.items()}
    given |= {"clip.has_vision_encoder": True, "clip.vision.attention.head_count": 2}
    path = write(tmp_path / "mmproj-x.gguf", "clip", given, {"v.position_embd.weight": table})
    [encoding] = find(files(path))
    assert (encoding.scheme, encoding.part, encoding.modality) == ("learned", "vision", "image")
    assert encoding.form.grid == (2, 2)
    # The first row is of the class token.
    np.testing.assert_array_equal(encoding.form.numbers, table[1:].astype(np.float64))


def test_of_a_repository_the_hub_sends_the_header_and_the_tensors_that_are_asked_for(
    tmp_path: Path,
) -> None:
    words = np.zeros((30_000, 32), dtype=np.float32)
    table = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    given = {**SIZES, "tokenizer.ggml.tokens": [f"token number {i}" for i in range(20_000)]}
    tensors = {"token_embd.weight": words, "position_embd.weight": table}
    path = write(tmp_path / "model.gguf", "gpt2", given, tensors)
    content = path.read_bytes()
    n_header = min(span.start for span in header_of(path).spans.values())
    repository = Repository({COMMIT: {"model.gguf": content, "README.md": b"x"}}, {"main": COMMIT})
    with serving({"atlas/gguf": repository}) as hub:
        home, asked = tmp_path / "home", ("inspect", "atlas/gguf", "--json")
        done = inline.run(*asked, home=home, endpoint=hub.endpoint)
        assert set(hub.downloads()) == {"model.gguf"}
        sent = hub.sent
    [encoding] = json.loads(done.stdout)["encodings"]
    assert (encoding["tensor"], encoding["part"]) == ("position_embd.weight", "decoder")
    least = n_header + table.nbytes
    assert least < sent < 2 * least + 4_096 < len(content) / 3


def beside_each_other(
    tmp_path: Path, arrays: Mapping[str, Array], config: dict[str, Any], path: Path
) -> tuple[Encoding[Form], Encoding[Form]]:
    """What is found in tensors and a config, and in a GGUF file."""
    (tmp_path / "plain").mkdir()
    save_file(dict(arrays), tmp_path / "plain/model.safetensors")
    (tmp_path / "plain/config.json").write_text(json.dumps(config))
    each = (FolderFiles(tmp_path / "plain", "plain"), files(path))
    [plain], [stored] = ([own for own in find(one) if own.provenance.tensor] for one in each)
    told = [(own.part, own.scheme, own.layers, own.stack) for own in (stored, plain)]
    assert told[0] == told[1]
    return plain, stored


@pytest.mark.parametrize(("model_type", "shape"), [("mamba", (32, 16)), ("mamba2", (4,))])
def test_the_decay_of_recurrent_layers_is_that_of_the_model(
    model_type: str, shape: tuple[int, ...], tmp_path: Path
) -> None:
    """The converter stores −exp(A_log), for Mamba-2 with a further axis."""
    draws = np.random.default_rng(0)
    logarithms = draws.normal(size=(2, *shape)).astype(np.float32)
    biases = draws.normal(size=(2, shape[0])).astype(np.float32)
    ending = "dt_proj.bias" if model_type == "mamba" else "dt_bias"
    arrays = {f"backbone.layers.{layer}.mixer.A_log": logarithms[layer] for layer in range(2)}
    arrays |= {f"backbone.layers.{layer}.mixer.{ending}": biases[layer] for layer in range(2)}
    config = {
        "model_type": model_type, "hidden_size": 16, "num_hidden_layers": 2, "vocab_size": 40,
        "state_size": 16,
    }  # fmt: skip
    config |= {"num_heads": 4, "head_dim": 8, "n_groups": 1} if model_type == "mamba2" else {}
    negated = -np.exp(logarithms) if model_type == "mamba" else -np.exp(logarithms)[:, :, None]
    stored = {f"blk.{layer}.ssm_a": negated[layer] for layer in range(2)}
    stored |= {f"blk.{layer}.ssm_dt.bias": biases[layer] for layer in range(2)}
    given = {
        "block_count": 2, "embedding_length": 16, "vocab_size": 40, "attention.head_count": 0,
        "ssm.state_size": 16,
    }  # fmt: skip
    of_mamba2 = {"ssm.time_step_rank": 4, "ssm.group_count": 1, "ssm.inner_size": 32}
    given |= of_mamba2 if model_type == "mamba2" else {}
    path = write(tmp_path / "x.gguf", model_type, given, stored)
    plain, own = beside_each_other(tmp_path, arrays, config, path)
    np.testing.assert_allclose(own.form.numbers, plain.form.numbers, rtol=1e-6)
    assert not files(tmp_path / "x.gguf").resolved.refused
    assert any("−ssm_a · softplus(b), where b is the bias" in note for note in own.notes)


def test_the_sinks_of_attention_are_those_of_the_model(tmp_path: Path) -> None:
    sinks = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)
    config = {
        "model_type": "gpt_oss", "hidden_size": 64, "num_attention_heads": 4,
        "num_hidden_layers": 2, "head_dim": 16, "sliding_window": 8,
    }  # fmt: skip
    arrays = {f"model.layers.{layer}.self_attn.sinks": sinks[layer] for layer in range(2)}
    given = {
        "block_count": 2, "embedding_length": 64, "attention.head_count": 4,
        "attention.key_length": 16, "attention.sliding_window": 8,
    }  # fmt: skip
    stored = {f"blk.{layer}.attn_sinks.weight": sinks[layer] for layer in range(2)}
    path = write(tmp_path / "x.gguf", "gpt-oss", given, stored)
    plain, own = beside_each_other(tmp_path, arrays, config, path)
    np.testing.assert_array_equal(own.form.numbers, plain.form.numbers)
