from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.buckets import buckets
from generator.encodings import OffsetBias
from generator.errors import RowError
from generator.files import FolderFiles
from generator.numerics import Array, Floats
from generator.schemes.t5_bias import find
from tests.support import DictFiles, form_of, save_model
from tests.tiny import build

OFFSETS = np.arange(-300, 301)
SIZES = [(32, 128), (32, 20), (64, 128), (16, 64), (8, 1000), (4, 5), (320, 800)]
# Raffel et al. 2020, section 2.1, for 32 buckets and distance 128: the first distance of each bucket.
ENCODER_EDGES = [*range(8), 8, 12, 16, 23, 32, 46, 64, 91]
DECODER_EDGES = [*range(16), 16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
NAME = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
DECODER_NAME = NAME.replace("encoder", "decoder")
CROSS_NAME = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
TABLE = np.arange(64.0).reshape(32, 2)
BAD = [  # what config.json says, the shape of the tensor
    ({"relative_attention_num_buckets": "x"}, (32, 2)),
    ({"relative_attention_num_buckets": -32}, (32, 2)),
    ({"relative_attention_num_buckets": 3}, (3, 2)),
    ({"relative_attention_num_buckets": 64}, (32, 2)),
    ({"relative_attention_max_distance": 0}, (32, 2)),
    ({"relative_attention_max_distance": 8}, (32, 2)),
    ({"relative_attention_max_distance": 1e12}, (32, 2)),
    ({"relative_attention_max_distance": 10**9}, (32, 2)),
    ({"relative_attention_max_distance": float("nan")}, (32, 2)),
    ({}, (32,)),
    ({}, (32, 2, 2)),
    ({}, (31, 2)),
]


def theirs(offsets: Array, n_buckets: int, max_distance: int, causal: bool) -> Array:
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    bucket = T5Attention._relative_position_bucket(torch.from_numpy(offsets), not causal, n_buckets, max_distance)
    return np.asarray(bucket.numpy())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_buckets", "max_distance"), SIZES)
def test_buckets_equal_those_of_transformers(n_buckets: int, max_distance: int, causal: bool) -> None:
    np.testing.assert_array_equal(buckets(OFFSETS, n_buckets, max_distance, causal), theirs(OFFSETS, n_buckets, max_distance, causal))


def test_buckets_of_both_directions_begin_at_the_printed_distances() -> None:
    past = buckets(-np.arange(200), 32, 128, causal=False)
    assert [int(np.argmax(past == bucket)) for bucket in range(16)] == ENCODER_EDGES
    assert past.max() == 15


def test_buckets_of_the_future_are_those_of_the_past_moved_by_half() -> None:
    distances = np.arange(1, 200)
    np.testing.assert_array_equal(buckets(distances, 32, 128, causal=False), 16 + buckets(-distances, 32, 128, causal=False))


def test_causal_buckets_begin_at_the_printed_distances() -> None:
    past = buckets(-np.arange(200), 32, 128, causal=True)
    assert [int(np.argmax(past == bucket)) for bucket in range(32)] == DECODER_EDGES


def test_bucket_16_is_said_to_be_unused_in_an_encoder() -> None:
    notes = find(DictFiles(arrays={NAME: TABLE}))[0].notes
    assert any("bucket 16," in note for note in notes)


def test_no_bucket_is_said_to_be_unused_in_a_decoder() -> None:
    notes = find(DictFiles(arrays={DECODER_NAME: TABLE}))[0].notes
    assert not any("No offset falls" in note for note in notes)


@pytest.mark.parametrize(("name", "first"), [(NAME, 91), (DECODER_NAME, 113)])
def test_the_note_names_the_distance_from_which_on_all_share_a_bucket(name: str, first: int) -> None:
    assert f"offsets of {first} positions and more" in find(DictFiles(arrays={name: TABLE}))[0].notes[0]


def test_values_beside_the_query_by_hand() -> None:
    form = form_of(find(DictFiles(arrays={NAME: TABLE}))[0], OffsetBias)
    near = {int(offset): value.tolist() for offset, value in zip(form.offsets, form.values.T, strict=True)}
    assert near[-1] == TABLE[1].tolist()
    assert near[0] == TABLE[0].tolist()
    assert near[1] == TABLE[17].tolist()


def test_the_part_and_the_direction_follow_from_the_name() -> None:
    found = find(DictFiles(arrays={NAME: TABLE, DECODER_NAME: TABLE}))
    directions = [(encoding.part, form_of(encoding, OffsetBias).causal) for encoding in found]
    assert directions == [("encoder", False), ("decoder", True)]


def test_the_stored_table_of_cross_attention_which_no_model_uses_is_left_alone() -> None:
    found = find(DictFiles(arrays={DECODER_NAME: TABLE, CROSS_NAME: TABLE}))
    assert [encoding.provenance.tensor for encoding in found] == [DECODER_NAME]


def test_a_table_in_every_layer_gives_every_layer_a_key_of_its_own() -> None:
    names = [f"encoder.block.{layer}.layer.0.SelfAttention.relative_attention_bias.weight" for layer in range(3)]
    keys = [encoding.key for encoding in find(DictFiles(arrays=dict.fromkeys(names, TABLE)))]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(("config", "shape"), BAD)
def test_what_does_not_fit_is_a_row_error(config: dict[str, object], shape: tuple[int, ...]) -> None:
    with pytest.raises(RowError, match=r"test: .*expected"):
        find(DictFiles(config, {NAME: np.zeros(shape)}))


def test_nothing_is_found_where_no_tensor_is_called_so() -> None:
    assert find(DictFiles({"model_type": "t5"}, {"encoder.global_relative_attention_bias.weight": TABLE, "shared.weight": TABLE})) == []


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, FolderFiles]:
    import torch
    from transformers import T5Config, T5Model

    torch.manual_seed(0)
    config = T5Config(vocab_size=12, d_model=16, d_kv=8, d_ff=16, num_layers=2, num_decoder_layers=2, num_heads=2)
    model = T5Model(config).eval()
    return model, FolderFiles(save_model(model, tmp_path_factory.mktemp("t5")), "t5")


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_the_bias_read_from_a_folder_equals_what_the_model_adds(t5: tuple[Any, FolderFiles], part: str) -> None:
    model, files = t5
    form = next(form_of(encoding, OffsetBias) for encoding in find(files) if encoding.part == part)
    bias = getattr(model, part).block[0].layer[0].SelfAttention.compute_bias(120, 120)[0].detach().double().numpy()
    seen = np.tril(np.ones((120, 120), dtype=bool)) if form.causal else np.ones((120, 120), dtype=bool)
    np.testing.assert_allclose(form.kernel(120)[:, seen], bias[:, seen], rtol=0, atol=1e-6)


def added(model: Any, *called: str, **inputs: Any) -> list[Floats]:
    """What the named methods return while the model runs on these inputs, in the order in which they are called."""
    import torch

    heard: list[Floats] = []

    def listening(method: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            returned = method(*args, **options)
            heard.append(returned.detach().double().numpy())
            return returned

        return call

    for module in model.modules():
        for name in called:
            if hasattr(module, name):
                setattr(module, name, listening(getattr(module, name)))
    with torch.no_grad():
        model(**inputs)
    return heard


def read(model: Any, folder: Path) -> dict[str, Any]:
    """What is found in the model once it is saved: encodings by part."""
    found = find(FolderFiles(save_model(model, folder), "tiny"))
    assert len({encoding.part for encoding in found}) == len(found)
    return {encoding.part: encoding for encoding in found}


def kernels(model: Any, folder: Path) -> dict[str, Floats]:
    """The atlas's bias for each pair of the first N positions, by part: (n_heads, N, N)."""
    return {part: form_of(encoding, OffsetBias).kernel(N) for part, encoding in read(model, folder).items()}


def same(ours: Floats, theirs: Floats) -> None:
    seen = ~np.isnan(ours)
    assert seen.any()
    np.testing.assert_allclose(ours[seen], theirs[seen], rtol=0, atol=1e-6)


N = 40
IDS = {"input_ids": [[5] * N]}
BOTH = {**IDS, "decoder_input_ids": [[5] * N]}
STACKED = {"num_layers": 2, "num_decoder_layers": 2, "d_kv": 8, "feed_forward_proj": "relu"}
FAMILIES = ["t5", "mt5", "switch_transformers", "longt5"]


def tokens(inputs: dict[str, list[list[int]]]) -> dict[str, Any]:
    import torch

    return {name: torch.tensor(ids) for name, ids in inputs.items()}


@pytest.mark.parametrize("family", ["t5", "mt5", "switch_transformers"])
def test_encoder_and_decoder_biases_equal_what_the_family_adds(family: str, tmp_path: Path) -> None:
    model = build(family, **STACKED, relative_attention_num_buckets=8, relative_attention_max_distance=20)
    encoder, decoder = added(model, "compute_bias", **tokens(BOTH))
    ours = kernels(model, tmp_path)
    same(ours["encoder"], encoder[0])
    same(ours["decoder"], decoder[0])


def test_every_layer_of_umt5_has_the_bias_that_it_adds(tmp_path: Path) -> None:
    model = build("umt5", **STACKED)
    theirs = added(model, "compute_bias", **tokens(BOTH))
    theirs = [bias for bias in theirs if np.any(bias)]
    ours = kernels(model, tmp_path)
    assert list(ours) == ["encoder layer 0", "encoder layer 1", "decoder layer 0", "decoder layer 1"]
    for kernel, bias in zip(ours.values(), theirs, strict=True):
        same(kernel, bias[0])


def test_the_bias_of_mpnet_equals_what_the_model_adds_whatever_its_config_says(tmp_path: Path) -> None:
    model = build("mpnet", max_position_embeddings=64, relative_attention_max_distance=20)
    (bias,) = added(model, "compute_position_bias", **tokens(IDS))
    same(kernels(model, tmp_path)["encoder"], bias[0])


def test_the_bias_of_wavlm_equals_what_the_first_layer_makes_before_the_gate(tmp_path: Path) -> None:
    model = build("wavlm", num_buckets=20, max_bucket_distance=30, **WAVES)
    import torch

    bias, *_ = added(model, "compute_bias", input_values=torch.zeros(1, 1700))
    found = read(model, tmp_path)["encoder"]
    same(form_of(found, OffsetBias).kernel(N)[:, : len(bias[0]), : len(bias[0])], bias)
    assert any("multiplies these values by 2 + a (b c" in note for note in found.notes)


WAVES = {
    **{"conv_dim": (4, 4), "conv_kernel": (5, 3), "conv_stride": (5, 8), "num_feat_extract_layers": 2},
    **{"num_conv_pos_embeddings": 5, "num_conv_pos_embedding_groups": 2},
}
LONG = {**STACKED, "local_radius": 6, "global_block_size": 4, "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}


def blocked(values: Floats, block: int) -> Floats:
    """LongT5's bias (1, 1, n_heads, block, 3 · block) by offset from −(block − 1) on: (n_heads, n_offsets)."""
    return np.asarray(values[0, 0][:, 0, 1 : 2 * block])


def test_the_local_bias_of_longt5_equals_what_it_adds(tmp_path: Path) -> None:
    model = build("longt5", encoder_attention_type="local", **LONG)
    encoder, _ = added(model, "compute_bias", **tokens(BOTH))
    form = form_of(read(model, tmp_path)["encoder"], OffsetBias)
    assert form.offsets.tolist() == list(range(-6, 7))
    np.testing.assert_allclose(form.values, blocked(encoder, 7), rtol=0, atol=1e-6)


def test_the_global_bias_of_longt5_equals_what_it_adds(tmp_path: Path) -> None:
    model = build("longt5", encoder_attention_type="transient-global", **LONG)
    local, side, *_ = added(model, "compute_bias", "compute_side_bias", **tokens(BOTH))
    found = read(model, tmp_path)
    np.testing.assert_allclose(form_of(found["encoder"], OffsetBias).values, blocked(local, 7), rtol=0, atol=1e-6)
    same(form_of(found["encoder blocks"], OffsetBias).kernel(10), side[0][:, ::4, :])


def test_the_bias_of_pix2struct_equals_what_its_decoder_adds(tmp_path: Path) -> None:
    model = build("pix2struct_text_model", relative_attention_num_buckets=8, relative_attention_max_distance=20)
    (bias,) = added(model, "compute_bias", **tokens(IDS))
    same(kernels(model, tmp_path)["decoder"], bias[0])
