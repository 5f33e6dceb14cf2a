from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnx.reference import ReferenceEvaluator

from generator.cache.fingerprint import of_file
from generator.checkpoints.files.folder import Folder
from generator.checkpoints.files.formats.onnx import FORMAT
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.sources import folder
from generator.contracts import WeightsFile
from generator.errors import RowError
from generator.numerics.arrays import Array
from generator.reading.find import find
from generator.text import significant
from tests import inline
from tests.checkpoints.onnx_files import exported, model, opened, renamed, tensors_of
from tests.hub_server import Repository, serving
from tests.support import checkpoint
from tests.synthetic import WORDLESS, binary, write_folder

SMALL = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
    "vocab_size": 12,
}  # fmt: skip
RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.normal(size=(6, 4)).astype(np.float32)
PLAIN = [
    TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE,
    TensorProto.INT32, TensorProto.INT64,
]  # fmt: skip
BIAS = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
TEN_GIB = 10 * 2**30


def bert() -> Any:
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(**SMALL, max_position_embeddings=24), add_pooling_layer=False)


def t5() -> Any:
    from transformers import T5Config, T5EncoderModel

    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 12}
    return T5EncoderModel(T5Config(**sizes))


def gpt2() -> Any:
    from transformers import GPT2Config, GPT2Model

    sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "vocab_size": 12, "n_positions": 24}
    return GPT2Model(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0, use_cache=False))


def quantised(array: Array, kind: type[np.integer[Any]] = np.uint8) -> tuple[Array, Array, Array]:
    """Whole numbers, scale and zero point for the range of ``array``, as tools for dynamic
    quantisation choose them.
    """
    info = np.iinfo(kind)
    low, high = min(array.min(), 0.0), max(array.max(), 0.0)
    scale = np.float32((high - low) / (info.max - info.min))
    zero = np.round(info.min - low / scale)
    return (
        np.clip(np.round(array / scale) + zero, info.min, info.max).astype(kind),
        np.asarray(scale),
        np.asarray(zero, dtype=kind),
    )


@pytest.mark.parametrize("make", [bert, t5, gpt2])
def test_an_export_has_the_encodings_of_safetensors_exactly(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    torch.manual_seed(0)
    inner, length = make(), 5
    inner.save_pretrained(tmp_path / "safe")
    causal = {"attention_mask": torch.zeros(1, 1, length, length)} if make is gpt2 else {}
    ours = opened(
        tmp_path, exported(inner, torch.arange(length)[None], **causal), inner.config.to_dict()
    )
    pairs = list(zip(find(ours), find(FolderFiles(tmp_path / "safe", "here")), strict=True))
    assert pairs
    for mine, theirs in pairs:
        assert (mine.part, mine.scheme) == (theirs.part, theirs.scheme)
        assert mine.provenance.sha256 == theirs.provenance.sha256
        np.testing.assert_array_equal(mine.form.numbers, theirs.form.numbers)


@pytest.mark.parametrize("is_raw", [True, False])
def test_plain_numbers_are_those_that_the_library_reads(is_raw: bool, tmp_path: Path) -> None:
    values = RANDOM.integers(-40, 40, size=(3, 5)).astype(np.float32)
    for kind in PLAIN:
        array = values.astype(helper.tensor_dtype_to_np_dtype(kind))
        tensor = (
            numpy_helper.from_array(array, "a")
            if is_raw
            else helper.make_tensor("a", kind, (3, 5), values.ravel())
        )
        files = opened(tmp_path, model(initialisers=[tensor]))
        theirs = numpy_helper.to_array(tensor).astype(np.float64)
        np.testing.assert_array_equal(files.tensor("a"), theirs)
        np.testing.assert_array_equal(files.rows("a", [2, 0]), theirs[[2, 0]])
        assert not files.notes("a")


def test_of_bytes_and_numbers_in_one_tensor_those_are_read_that_the_library_reads(
    tmp_path: Path,
) -> None:
    tensor = numpy_helper.from_array(MATRIX, "a")
    tensor.double_data.extend([1.0] * 12)
    files = opened(tmp_path, model(initialisers=[tensor]))
    np.testing.assert_array_equal(files.tensor("a"), numpy_helper.to_array(tensor))


def test_numbers_of_a_type_that_is_not_read_are_listed(tmp_path: Path) -> None:
    small = helper.make_tensor("a", TensorProto.FLOAT8E4M3FN, (2,), [1.0, 2.0])
    text = helper.make_tensor("words", TensorProto.STRING, (1,), [b"text"])  # Not among them.
    files = opened(tmp_path, model(initialisers=[small, text, *tensors_of({"b": MATRIX})]))
    found = {name: header.dtype for name, header in files.tensors.items()}
    assert found == {"a": "F8_E4M3", "b": "F32"}
    with pytest.raises(RowError, match="dtype F8_E4M3; expected one of"):
        files.tensor("a")


def test_a_name_that_is_not_text_is_a_row_error_in_words(tmp_path: Path) -> None:
    whole = model(initialisers=tensors_of({"name": MATRIX})).SerializeToString()
    files = opened(tmp_path, whole.replace(b"name", b"nam\xff"))
    with pytest.raises(RowError, match=r"model\.onnx: it cannot be read; expected"):
        _ = files.tensors


def test_matrices_in_constants_are_read_and_single_numbers_left_out(tmp_path: Path) -> None:
    values = {"folded": MATRIX, "axes": np.array([1, 2]), "eps": np.float32(1e-5)}
    nodes = [
        helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.asarray(array)))
        for name, array in values.items()
    ]
    files = opened(tmp_path, model(nodes))
    assert set(files.tensors) == {"folded"}
    np.testing.assert_array_equal(files.tensor("folded"), MATRIX)


def test_graphs_within_nodes_are_read_and_a_name_that_both_branches_have_is_told_apart(
    tmp_path: Path,
) -> None:
    branches = [
        helper.make_graph(
            [], "g", [], [], tensors_of({"a": MATRIX + number, f"only_{number}": MATRIX})
        )
        for number in (0, 1)
    ]
    node = helper.make_node(
        "If", ["flag"], ["out"], name="merged", then_branch=branches[0], else_branch=branches[1]
    )
    files = opened(tmp_path, model([node]))
    assert len(files.tensors) == 4
    assert {"a", "only_0", "only_1"} < set(files.tensors)
    np.testing.assert_array_equal(
        sorted(files.tensor(name)[0, 0] for name in files.tensors if name.endswith("a")),
        [MATRIX[0, 0], MATRIX[0, 0] + 1],
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int16])
def test_a_quantised_tensor_is_within_half_a_step_under_the_name_of_its_floats(
    kind: Any, tmp_path: Path
) -> None:
    whole, scale, zero = quantised(MATRIX, kind)
    ends = {"quantized": whole, "scale": scale, "zero_point": zero}
    arrays = {f"wpe.weight_{end}": array for end, array in ends.items()}
    files = opened(tmp_path, model(initialisers=tensors_of(arrays)))
    assert set(files.tensors) == {"wpe.weight"}
    # The scale is rounded to float32.
    assert np.abs(files.tensor("wpe.weight") - MATRIX).max() <= float(scale) * 0.500001
    np.testing.assert_array_equal(files.rows("wpe.weight", [3]), files.tensor("wpe.weight")[[3]])
    [note] = files.notes("wpe.weight")
    assert f"to {whole.itemsize * 8} bits" in note
    assert significant(float(scale), 3) in note


def test_a_quantised_t5_has_the_bias_of_safetensors_within_half_a_step(tmp_path: Path) -> None:
    inner = t5()
    inner.save_pretrained(tmp_path / "safe")
    [exact] = find(FolderFiles(tmp_path / "safe", "here"))
    proto = exported(inner, torch.arange(5)[None])
    table = next(tensor for tensor in proto.graph.initializer if tensor.name == f"model.{BIAS}")
    whole, scale, zero = quantised(numpy_helper.to_array(table))
    proto.graph.initializer.remove(table)
    names = [f"model.{BIAS}_{end}" for end in ("quantized", "scale", "zero_point")]
    proto.graph.initializer.extend(tensors_of(dict(zip(names, (whole, scale, zero), strict=True))))
    renamed(proto, f"model.{BIAS}", names[0])
    [rounded] = find(opened(tmp_path, proto, inner.config.to_dict()))
    origin = rounded.provenance
    assert (origin.tensor, origin.dtype) == (f"model.{BIAS}", "U8")
    assert np.abs(rounded.form.numbers - exact.form.numbers).max() <= float(scale) * 0.500001


# axis, size of a block, shape of the scales
AXES = [(0, 0, (6,)), (1, 0, (4,)), (-1, 0, (4,)), (0, 2, (3, 4)), (1, 3, (6, 2))]


@pytest.mark.parametrize(("axis", "block", "shape"), AXES)
def test_scales_by_axis_and_by_block_are_those_of_the_node(
    axis: int, block: int, shape: tuple[int, ...], tmp_path: Path
) -> None:
    whole = RANDOM.integers(-128, 128, size=(6, 4)).astype(np.int8)
    scale = RANDOM.uniform(0.5, 2.0, size=shape).astype(np.float32)
    zero = RANDOM.integers(-9, 9, size=shape).astype(np.int8)
    options = {"axis": axis, **({"block_size": block} if block else {})}
    node = helper.make_node("DequantizeLinear", ["a", "s", "z"], ["out"], **options)
    files = opened(tmp_path, model([node], tensors_of({"a": whole, "s": scale, "z": zero})))
    # By the operator's definition: y[i, j] = (x − z) · s with the entry of s for i, j.
    index = np.indices((6, 4))
    places = (
        tuple(index[side] // (block if side == axis % 2 else 1) for side in (0, 1))
        if block
        else (index[axis % 2],)
    )
    expected = (whole.astype(np.float64) - zero[places]) * scale[places]
    np.testing.assert_array_equal(files.tensor("a"), expected)
    assert set(files.tensors) == {"a"}
    assert significant(float(np.median(scale)), 3) in files.notes("a")[0]
    assert significant(float(scale.max()), 3) in files.notes("a")[0]


# Axis, size of a block (0 for none) and shape of the scales of a matrix (6, 4).
SPREADS = [
    (1, 0, ()), (0, 0, (6,)), (1, 0, (4,)), (-1, 0, (4,)), (-2, 0, (6,)), (0, 3, (2, 4)),
    (1, 2, (6, 2)), (0, 4, (2, 4)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, np.int32])
@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_quantised_values_are_those_that_the_library_computes(
    dtype: type, spread: tuple[int, int, tuple[int, ...]], tmp_path: Path
) -> None:
    axis, block, shape = spread
    numbers = np.iinfo(dtype)
    a: Array = RANDOM.integers(max(numbers.min, -999), min(numbers.max, 999), (6, 4)).astype(dtype)
    stored: dict[str, Array] = {"a": a, "s": np.asarray(RANDOM.random(shape), np.float32)}
    if dtype is not np.int32:
        stored["z"] = np.asarray(RANDOM.integers(0, 99, shape), dtype)
    for names in (["a", "s"], list(stored)):
        node = helper.make_node(
            "DequantizeLinear",
            names,
            ["out"],
            axis=axis,
            **({"block_size": block} if block else {}),
        )
        made = model([node], tensors_of({name: stored[name] for name in names}))
        [expected] = ReferenceEvaluator(made).run(None, {"input_ids": np.zeros(1, np.int64)})
        np.testing.assert_allclose(
            opened(tmp_path, made).tensor("a"), np.asarray(expected), rtol=1e-6
        )


def test_a_size_of_blocks_beyond_the_tensor_takes_no_memory(tmp_path: Path) -> None:
    node = helper.make_node("DequantizeLinear", ["a", "s"], ["out"], axis=0, block_size=2**60)
    arrays: dict[str, Array] = {
        "a": MATRIX.astype(np.int8), "s": np.full((1, 4), 0.5, np.float32)
    }  # fmt: skip
    files = opened(tmp_path, model([node], tensors_of(arrays)))
    np.testing.assert_array_equal(files.tensor("a"), arrays["a"] * 0.5)


UNFIT = (
    {"axis": [0]}, {"axis": 0.5}, {"axis": "0"}, {"axis": 7}, {"block_size": [2]},
    {"block_size": -2},
)  # fmt: skip


def test_scales_or_attributes_that_do_not_fit_leave_the_tensor_as_it_is_stored(
    tmp_path: Path,
) -> None:
    cases = [(settings, (3, 4)) for settings in UNFIT] + [({"axis": 1}, (5,))]
    for settings, shape in cases:
        node = helper.make_node("DequantizeLinear", ["a", "s"], ["out"], **settings)
        arrays: dict[str, Array] = {"a": MATRIX.astype(np.int8), "s": np.ones(shape, np.float32)}
        files = opened(tmp_path, model([node], tensors_of(arrays)))
        assert (files.tensors["a"].dtype, files.notes("a")) == ("I8", ())
        with pytest.raises(RowError, match="dtype I8; expected"):
            files.tensor("a")


# Inputs of operators, as ONNX and onnxruntime document them: x is what the tensor a is applied to.
OPERATORS = [
    ("QLinearMatMul", "x sx zx a s z sy zy"), ("MatMulIntegerToFloat", "x a sx s zx z"),
    ("DynamicQuantizeMatMul", "x a s z"),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "inputs"), OPERATORS)
def test_an_operator_of_whole_numbers_has_their_scale_and_zero_point(
    operator: str, inputs: str, tmp_path: Path
) -> None:
    whole, scale, zero = quantised(MATRIX)
    others = {f"{kind}{of}": np.asarray(array) for of in "xy"
              for kind, array in (("s", np.float32(3.0)), ("z", np.uint8(7)))}  # fmt: skip
    stored = {"a": whole, "s": scale, "z": zero}
    stored |= {name: array for name, array in others.items() if name in inputs.split()}
    files = opened(tmp_path, model([helper.make_node(operator, inputs.split(), ["out"])],
                                   tensors_of(stored)))  # fmt: skip
    expected = (whole.astype(np.float64) - zero) * scale
    np.testing.assert_allclose(files.tensor("a"), expected, rtol=1e-6)


def test_numbers_that_are_not_whole_have_no_scale(tmp_path: Path) -> None:
    node = helper.make_node("DequantizeLinear", ["a", "s"], ["out"])
    scale = np.asarray(np.float32(2.0))
    files = opened(tmp_path, model([node], tensors_of({"a": MATRIX, "s": scale})))
    np.testing.assert_array_equal(files.tensor("a"), MATRIX)
    assert files.notes("a") == ()


def test_two_scales_for_one_tensor_leave_it_as_it_is_stored(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["a", scale], [f"out {scale}"]) for scale in ("s", "t")
    ]
    scales = {"s": np.asarray(np.float32(1.0)), "t": np.asarray(np.float32(2.0))}
    files = opened(tmp_path, model(nodes, tensors_of({"a": MATRIX.astype(np.int8), **scales})))
    assert set(files.tensors) == {"a", "s", "t"}
    assert not files.notes("a")


def test_rows_with_scales_of_their_own_are_not_read_one_by_one(tmp_path: Path) -> None:
    node = helper.make_node("DequantizeLinear", ["a", "s"], ["out"], axis=0)
    tensors = tensors_of({"a": MATRIX.astype(np.int8), "s": np.ones(6, np.float32)})
    files = opened(tmp_path, model([node], tensors))
    with pytest.raises(RowError, match="every row has a scale of its own"):
        files.rows("a", [1])


@pytest.mark.parametrize("kind", [TensorProto.UINT4, TensorProto.INT4])
def test_four_bits_are_unpacked_as_the_library_does(kind: int, tmp_path: Path) -> None:
    values = RANDOM.integers(-8 if kind == TensorProto.INT4 else 0, 8, size=15)
    tensor = helper.make_tensor("a", kind, (3, 5), values)
    node = helper.make_node("DequantizeLinear", ["a", "s"], ["out"])
    half = tensors_of({"s": np.asarray(np.float32(0.5))})
    files = opened(tmp_path, model([node], [tensor, *half]))
    theirs = numpy_helper.to_array(tensor).astype(np.float64)
    np.testing.assert_array_equal(files.tensor("a"), theirs * 0.5)
    with pytest.raises(RowError, match="it cannot be read"):
        files.rows("a", [0, 2])


SCALED: dict[str, list[Any]] = {  # Nodes that give q the scale s and the zero point z.
    "after the rows were taken": [
        helper.make_node("Gather", ["q", "input_ids"], ["rows"]),
        helper.make_node("DequantizeLinear", ["rows", "s", "z"], ["out"]),
    ],
    "in a product": [
        helper.make_node("QLinearMatMul", ["x", "xs", "xz", "q", "s", "z", "ys", "yz"], ["out"])
    ],
}


@pytest.mark.parametrize("nodes", SCALED.values(), ids=SCALED)
def test_a_scale_is_that_of_the_node_which_uses_the_table(nodes: list[Any], tmp_path: Path) -> None:
    whole, scale, zero = quantised(MATRIX)
    files = opened(tmp_path, model(nodes, tensors_of({"q": whole, "s": scale, "z": zero})))
    expected = (whole.astype(np.float64) - int(zero)) * float(scale)
    np.testing.assert_array_equal(files.tensor("q"), expected)


def external(
    place: Path, location: str = "data.bin", content: bytes = MATRIX.tobytes(), **keys: int
) -> FolderFiles:
    """A model whose only tensor, of 6 × 4 numbers, is in the file ``location``."""
    tensor = numpy_helper.from_array(MATRIX, "a")
    set_external_data(tensor, location, **keys)
    tensor.ClearField("raw_data")
    (place / "data.bin").write_bytes(content)
    return opened(place, model(initialisers=[tensor]))


def with_external_data(proto: Any, place: Path) -> None:
    beside: dict[str, Any] = {"location": "model.onnx_data", "size_threshold": 0}
    onnx.save_model(proto, str(place / "model.onnx"), save_as_external_data=True, **beside)


def test_external_data_of_the_library_are_read_by_range(tmp_path: Path) -> None:
    arrays: dict[str, Array] = {"a": MATRIX, "b": MATRIX.astype(np.float64) * 2}
    proto = model(initialisers=tensors_of(arrays))
    with_external_data(proto, tmp_path)
    files = FolderFiles(tmp_path, "here", Choice(name="model.onnx"))
    for name, array in arrays.items():
        np.testing.assert_array_equal(files.tensor(name), array)
        assert files.tensors[name].file == "model.onnx_data"
    names = FORMAT.files(WeightsFile(Folder(tmp_path, "here"), "model.onnx", "here"))
    assert set(names) == {"model.onnx", "model.onnx_data"}


def test_ten_gigabytes_beside_a_model_are_not_read_to_inspect_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {"data_type": TensorProto.FLOAT, "data_location": TensorProto.EXTERNAL}
    words = TensorProto(name="wte.weight", dims=[TEN_GIB // 64, 16], **elsewhere)
    words.external_data.add(key="location", value="model.onnx_data")
    table = RANDOM.normal(size=(8, 16)).astype(np.float32)
    with (tmp_path / "model.onnx_data").open("wb") as stream:
        stream.truncate(TEN_GIB)
    proto = model(initialisers=[words, *tensors_of({"wpe.weight": table})])
    files = opened(tmp_path, proto, {"model_type": "gpt2"})
    parts: list[int] = []
    part = Folder.part

    def counted(storage: Folder, name: str, start: int, stop: int) -> bytes:
        parts.append(stop - start)
        return part(storage, name, start, stop)

    monkeypatch.setattr(Folder, "part", counted)
    [encoding] = find(files)
    np.testing.assert_array_equal(encoding.form.numbers, table)
    assert sum(parts) == 0
    assert files.rows("wte.weight", [TEN_GIB // 64 - 1]).tolist() == [[0.0] * 16]
    assert sum(parts) == 64


BAD_PLACES: list[dict[str, Any]] = [
    {"location": "missing.bin"}, {"offset": 4}, {"length": 97}, {"length": 95},
    {"content": MATRIX.tobytes() * 2, "length": 192}, {"offset": -4}, {"offset": 2**80},
]  # fmt: skip


def test_external_data_elsewhere_or_of_another_size_are_a_row_error(tmp_path: Path) -> None:
    places = ("../data.bin", "a/../../data.bin", "/etc/passwd", "", "C:\\data.bin", "a\0b", ".")
    for place in places:
        with pytest.raises(RowError, match="expected the name of a file beside the model"):
            assert external(tmp_path, place).tensors
    for keys in BAD_PLACES:
        with pytest.raises(RowError, match="expected"):
            external(tmp_path, **keys).tensor("a")


def test_a_link_out_of_the_folder_is_a_row_error(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(MATRIX.tobytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/linked.bin").symlink_to(tmp_path / "secret")
    with pytest.raises(RowError, match="a link that leads out of the folder"):
        external(tmp_path / "folder", "linked.bin").tensor("a")


VALID = model(initialisers=tensors_of({"wpe.weight": MATRIX})).SerializeToString()


def encoder_and_decoder(variant: str = "") -> dict[str, bytes]:
    """Files of two graphs as optimum writes them, with names that both have."""
    bias = RANDOM.normal(size=(32, 2)).astype(np.float32)
    arrays = {BIAS.removeprefix("encoder."): bias, "shared.weight": MATRIX}
    content = model(initialisers=tensors_of(arrays)).SerializeToString()
    return {f"{stack}_model{variant}.onnx": content for stack in ("encoder", "decoder")}


@pytest.mark.parametrize("below", ["", "onnx/"])
def test_encoder_and_decoder_in_two_files_are_one_model(below: str, tmp_path: Path) -> None:
    contents = {f"{below}{name}": content for name, content in encoder_and_decoder().items()}
    files = FolderFiles(
        write_folder(tmp_path, {"config.json": b'{"model_type": "t5"}', **contents}), "here"
    )
    assert [encoding.part for encoding in find(files)] == ["encoder", "decoder"]
    assert len(files.tensors) == 4
    assert {header.file for header in files.tensors.values()} == set(contents)
    assert files.notes("decoder.shared.weight") == ("The file calls this tensor “shared.weight”.",)


DECODERS = ("decoder_with_past_model.onnx", "decoder_model.onnx")


@pytest.mark.parametrize("others", [DECODERS, ["decoder_model_merged.onnx"], ["decoder.onnx"]])
def test_one_of_several_decoders_is_read(others: Sequence[str], tmp_path: Path) -> None:
    encoder, decoder = encoder_and_decoder().values()
    write_folder(tmp_path, {"encoder_model.onnx": encoder, **dict.fromkeys(others, decoder)})
    files = FolderFiles(tmp_path, "here", Choice(name="encoder_model.onnx"))
    assert {header.file for header in files.tensors.values()} == {"encoder_model.onnx", others[-1]}


PREFERRED = [
    (["model.onnx", "model_quantized.onnx", "model_fp16.onnx", "onnx/model.onnx"], "model.onnx"),
    (["onnx/model.onnx", "onnx/model_fp16.onnx", "onnx/model_q4.onnx"], "onnx/model.onnx"),
    (
        ["model_quantized.onnx", "model_O4.onnx", "model_fp16.onnx", "model_O2.onnx"],
        "model_O2.onnx",
    ),
    (["model_quantized.onnx", "model_fp16.onnx"], "model_fp16.onnx"),
    (["anything.onnx"], "anything.onnx"),
]


@pytest.mark.parametrize(("names", "first"), PREFERRED)
def test_the_file_of_full_precision_is_opened(names: list[str], first: str, tmp_path: Path) -> None:
    contents = {"config.json": b"{}", **dict.fromkeys(names, VALID)}
    files = FolderFiles(write_folder(tmp_path, contents), "here")
    assert {header.file for header in files.tensors.values()} == {first}


def test_an_export_on_the_hub_is_read_with_its_external_data(tmp_path: Path) -> None:
    proto = model(initialisers=tensors_of({"wpe.weight": binary(16, 4).astype(np.float32)}))
    with_external_data(proto, tmp_path)
    names = ("model.onnx", "model.onnx_data")
    contents = {f"onnx/{name}": (tmp_path / name).read_bytes() for name in names}
    contents["config.json"] = WORDLESS["config.json"]
    repository = Repository({"a" * 40: contents}, {"main": "a" * 40})
    with serving({"atlas/onnx": repository}) as hub:
        done = inline.run("inspect", "atlas/onnx", home=tmp_path / "home", endpoint=hub.endpoint)
    assert done.returncode == 0, done.stderr
    assert "wpe.weight" in done.stdout


def test_the_state_of_a_folder_changes_with_the_external_data(tmp_path: Path) -> None:
    _ = external(tmp_path)
    row = checkpoint(place=str(tmp_path), weights="model.onnx")
    files = folder.SOURCE.open(row, True)
    files.tensor(next(iter(files.tensors)))
    before, calls = folder.SOURCE.seen(files)
    assert folder.SOURCE.state(row, of_file, calls) == before
    (tmp_path / "data.bin").write_bytes((MATRIX + 1).tobytes())
    assert folder.SOURCE.state(row, of_file, calls) not in (None, before)
