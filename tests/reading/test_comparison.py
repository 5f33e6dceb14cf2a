"""Whether two files encode position identically: conversions that do, and each with one setting
broken.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import save_file

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Comparison, Files
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_model
from generator.errors import RowError
from generator.pipeline.drafts import drafted
from generator.reading.comparison import compared
from generator.reading.find import look
from generator.reading.sides import Side, comparable
from generator.site.pictures.badges import not_compared
from tests.gguf_files import write
from tests.reading.small_models import GGUF, LLAMA, YARN, Settings

LONG: Settings = {
    "rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [4.0] * 7 + [8.0],
    "original_max_position_embeddings": 64,
}  # fmt: skip
LLAMA_3: Settings = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
OF_YARN: Settings = {
    "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}  # fmt: skip


def config(settings: Mapping[str, Any]) -> Files:
    return ConfigAlone(settings, "own")


def gguf(folder: Path, architecture: str, settings: Settings, **tensors: Any) -> Files:
    path = write(folder / "model.gguf", architecture, settings, **tensors)
    return FolderFiles(folder, "own", Choice(name=path.name))


def weights(folder: Path, settings: Mapping[str, Any], tensors: Mapping[str, Any]) -> Files:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    save_file(dict(tensors), folder / "model.safetensors")
    return FolderFiles(folder, "own", Choice(name="model.safetensors"))


def between(one: Files, other: Files) -> Comparison:
    return compared(comparable("A", one), comparable("B", other))


CONVERTED: list[tuple[Settings, str, Settings]] = [
    (LLAMA, "llama", GGUF),
    ({**LLAMA, "model_type": "smollm3"}, "smollm3", GGUF),
    ({**LLAMA, "model_type": "qwen3_moe", "rope_scaling": YARN, "head_dim": 16}, "qwen3moe",
     {**GGUF, **OF_YARN, "attention.key_length": 16}),
    ({**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16}, "gemma2",
     {**GGUF, "attention.sliding_window": 8, "attention.key_length": 16}),
    ({**LLAMA, "model_type": "glm4", "head_dim": 16, "partial_rotary_factor": 0.5}, "glm4",
     {**GGUF, "attention.key_length": 16, "rope.dimension_count": 8}),
    ({"model_type": "bloom", "n_head": 4, "hidden_size": 64, "n_layer": 4, "vocab_size": 100},
     "bloom", {name: value for name, value in GGUF.items() if "rope" not in name}),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "architecture", "header"), CONVERTED)
def test_a_conversion_is_equal_whatever_its_keys_are_called(
    tmp_path: Path, settings: Settings, architecture: str, header: Settings
) -> None:
    found = between(config(settings), gguf(tmp_path, architecture, header))
    assert (found.verdict, found.differences) == ("equal", ())


BROKEN: list[tuple[Settings, Settings, str, str]] = [
    ({"rope_theta": 1e4}, {}, "rotation", "base 1,000,000"),
    ({"rope_scaling": YARN}, {}, "rotation", "yarn scaling"),
    ({"rope_scaling": YARN}, {"rope_scaling": {**YARN, "attention_factor": 1.0}}, "rotation", ""),
    ({"head_dim": 32}, {}, "rotation", "32 of 32 components"),
    ({"max_position_embeddings": 512}, {}, "context", "512 in B (max_position_emb"),
    ({"num_hidden_layers": 5}, {}, "n_layers", "5 layers in B"),
    ({"model_type": "smollm3"}, {}, "rotation_alone", "In 1 of 4 layers of the decoder (3)"),
    ({"model_type": "mistral", "sliding_window": 8}, {"model_type": "mistral"}, "mixing",
     "B has windows within 8 positions"),
    ({"model_type": "mistral", "sliding_window": 1}, {"model_type": "mistral"}, "mixing",
     "B has windows within 1 position ("),
    ({"rope_scaling": {**LONG, "long_factor": [4.0] * 7 + [16.0]}}, {"rope_scaling": LONG},
     "longer", "beyond 64 positions by 4 to 8 in A and by 4 to 16 in B"),
    ({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, {}, "growing",
     "stays as it is in A and grows with texts beyond 256 positions (dynamic scaling, factor 4)"),
    ({"rope_scaling": {"mrope_section": [4, 2, 2]}}, {"rope_scaling": {"mrope_section": [2, 3, 3]}},
     "sections", "2, 3 and 3 pairs"),
    ({"rope_traditional": True}, {"rope_traditional": False}, "pair_order",
     "half a head apart in A"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "usual", "kind", "text"), BROKEN)
def test_each_setting_that_is_broken_is_named(
    broken: Settings, usual: Settings, kind: str, text: str
) -> None:
    found = between(config({**LLAMA, **usual}), config({**LLAMA, **broken}))
    assert found.verdict == "different"
    assert [one.kind for one in found.differences] == [kind]
    assert text in found.differences[0].text


def test_a_base_that_turns_nothing_is_refused_by_its_own_key() -> None:
    bert = {**LLAMA, "model_type": "modernbert", "local_rope_theta": -1, "local_attention": 8}
    with pytest.raises(RowError, match="local_rope_theta is -1"):
        between(config(LLAMA), config(bert))


def test_a_context_that_a_class_fills_in_is_compared() -> None:
    bare = {name: value for name, value in LLAMA.items() if name != "max_position_embeddings"}
    [found] = between(config(bare), config(LLAMA)).differences
    assert (
        "2,048 positions in A (not in config.json, so the default of transformers' Lla"
        in found.text
    )
    assert (
        between(config(bare), config({**bare, "max_position_embeddings": 2048})).verdict == "equal"
    )


def test_frequencies_of_longer_texts_part_where_those_of_shorter_ones_do_not() -> None:
    """The fastest pair turns by 1 and by 1 / 4."""
    plain = {**LONG, "attention_factor": 1.5}
    one, other = ({**LLAMA, "rope_scaling": each} for each in (plain, None))
    found = between(config(one), config(other)).differences
    assert [each.kind for each in found] == ["rotation", "longer"]
    assert "angles part by up to 0.75 rad a position" in found[0].text


def test_equal_angles_of_heads_of_another_width_differ_where_both_files_give_it() -> None:
    """Half of 32 components turns as all of 16 do. Latent attention states a width beside its own
    (DeepSeek-V3), and another family may have a share of its own.
    """
    half: Settings = {"head_dim": 32, "partial_rotary_factor": 0.5}
    whole: Settings = {"head_dim": 16, "partial_rotary_factor": 1.0}
    glm: Settings = {**LLAMA, "model_type": "glm4_moe"}
    [found] = between(config({**glm, **half}), config({**glm, **whole})).differences
    assert found.kind == "rotation"
    assert "16 of 32 components (head_dim in config.json) in A and base 1,000,000, 16 of 16" in (
        found.text
    )
    latent = {**LLAMA, "model_type": "deepseek_v3", "qk_rope_head_dim": 16, "qk_nope_head_dim": 16,
              "v_head_dim": 16, "kv_lora_rank": 32, "q_lora_rank": 32}  # fmt: skip
    unstated = {**glm, "hidden_size": 128, "partial_rotary_factor": 0.5}
    for one, other in (
        ({**glm, **half}, {**glm, **half}),
        ({**glm, **half}, {**glm, **whole, "model_type": "glm"}),
        ({**latent, "head_dim": 32}, {**latent, "head_dim": 16}),
        ({**glm, **half, "num_attention_heads": 4}, unstated),
    ):
        assert between(config(one), config(other)).verdict == "equal"


def test_the_word_by_which_programs_know_sections_is_told() -> None:
    sections = {"mrope_section": [2, 3, 3]}
    one, other = (
        {**LLAMA, "model_type": "qwen2_vl", "rope_scaling": {"type": kind, **sections}}
        for kind in ("mrope", "default")
    )
    found = between(config(one), config(other))
    assert (found.verdict, len(found.notes)) == ("equal", 1)
    assert "is “mrope” in A and “default” in B" in found.notes[0]
    assert between(config(one), config(one)).notes == ()


def test_settings_of_tensorrt_llm_are_those_of_its_class() -> None:
    """LLaMAConfig of tensorrt_llm: base 10,000 without a key, the scaling of transformers."""
    theirs = {"architecture": "LlamaForCausalLM", "position_embedding_type": "rope_gpt_neox",
              "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4, "head_size": 16,
              "vocab_size": 100, "max_position_embeddings": 256, "mapping": {}}  # fmt: skip
    [found] = between(config(LLAMA), config(theirs)).differences
    assert (
        "base 10,000, 16 of 16 components (not in config.json, so the default of Tens" in found.text
    )
    bare = {**LLAMA, "rope_theta": 1e4}
    assert (
        between(config(bare), config({**theirs, "architecture": "MistralForCausalLM"})).verdict
        == "equal"
    )
    scaled = {**LLAMA, "rope_scaling": {"type": "linear", "factor": 2.0}}
    same = {**theirs, "rotary_base": 1e6, "rotary_scaling": scaled["rope_scaling"]}
    assert between(config(scaled), config(same)).verdict == "equal"


def test_a_difference_is_shown_in_numbers_that_differ() -> None:
    """Of lists with the same ends the place where they part most, of scalings the settings."""
    other = {**LONG, "long_factor": [4.0, 4.0, 4.0, 7.0, 5.0, 4.0, 4.0, 8.0]}
    cases = [
        (LONG, other, "by 4 to 8 in B; most apart is pair 3, by 4 and 7."),
        (YARN, {**YARN, "beta_slow": 3.0}, "; beta_slow is not given in A and 3 in B: angles"),
        (YARN, {**YARN, "factor": 5.0}, "; factor is 4 in A and 5 in B: angles part"),
        # 0.1 · ln 4 + 1, 32 turns and 1: what YaRN has without these settings.
        (YARN, {**YARN, "attention_factor": 0.1 * math.log(4.0) + 1.0, "beta_fast": 32.0,
                "beta_slow": 1.0, "truncate": False}, ") in B; truncate is not given in A and"),
        (LONG, {**LONG, "short_factor": [1.0] * 7 + [1.5]},
         "; short_factor[7] is 1 in A and 1.5 in B: angles part"),
    ]  # fmt: skip
    for one, another, text in cases:
        settings = ({**LLAMA, "rope_scaling": each} for each in (one, another))
        [found] = between(*map(config, settings)).differences
        assert text in found.text


LATENT: Settings = {
    "model_type": "deepseek_v3", "hidden_size": 64, "num_attention_heads": 4,
    "num_hidden_layers": 2, "vocab_size": 100, "max_position_embeddings": 256,
    "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8, "kv_lora_rank": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "one", "other", "text"),
    [
        ({"model_type": "olmo2"}, {}, {"rope_traditional": True},
         "half a head apart in A (without a key, as in the code of olmo2) and adjacent in B (by"
         " rope_traditional)"),
        ({"model_type": "olmo2"}, {"rope_traditional": False}, {}, ""),
        (LATENT, {"rope_interleave": True}, {"is_neox_style": True},
         "adjacent in A (by rope_interleave) and half a head apart in B (by is_neox_style)"),
        (LATENT, {"rope_interleave": True}, {"is_neox_style": False}, ""),
        (LATENT, {"rope_interleave": False}, {},
         "adjacent in B (without a key, as in the code of deepseek_v3)"),
        (LATENT, {"rope_interleave": True}, {}, ""),
    ],
)  # fmt: skip
def test_an_order_of_pairs_without_a_key_is_that_of_the_code(
    settings: Settings, one: Settings, other: Settings, text: str
) -> None:
    found = between(config({**LLAMA, **settings, **one}), config({**LLAMA, **settings, **other}))
    assert found.verdict == ("different" if text else "equal")
    assert all(text in each.text for each in found.differences)


def test_an_order_of_pairs_that_one_side_alone_tells_is_untold() -> None:
    cohere = {**LLAMA, "model_type": "cohere"}  # Its code turns neighbours in its own way.
    found = between(config({**cohere, "rope_traditional": True}), config(cohere))
    assert found.verdict == "equal as far as both files tell"
    assert found.untold[0].endswith("and nothing in B tells which make the pairs there.")


def test_a_gguf_without_the_number_of_rotated_components_rotates_all(tmp_path: Path) -> None:
    """As llama-model.cpp reads it, though a GLM-4 of transformers rotates half."""
    settings = {**LLAMA, "model_type": "glm4", "head_dim": 16, "partial_rotary_factor": 0.5}
    found = between(config(settings), gguf(tmp_path, "glm4", {**GGUF, "attention.key_length": 16}))
    assert [one.kind for one in found.differences] == ["rotation"]
    assert "16 of 16 components (glm4.attention.key_length" in found.differences[0].text


def test_how_fast_angles_part_is_that_of_the_pair_that_parts_fastest() -> None:
    """Of bases 10,000 and 1,000,000 over 8 pairs, the second: 1e4^(-1/8) - 1e6^(-1/8) is 0.316 -
    0.178 = 0.138, and π / 0.138 = 22.7.
    """
    found = between(config(LLAMA), config({**LLAMA, "rope_theta": 1e4}))
    [one] = found.differences
    assert "up to 0.138 rad a position, half a turn after 23 positions" in one.text


def test_a_rule_and_its_stored_factors_are_equal(tmp_path: Path) -> None:
    """As convert_hf_to_gguf.py stores Llama 3's scaling, in single precision."""
    base = Rotation(5e5, 64, 64, 131_072)
    scaled = Rotation(5e5, 64, 64, 131_072, LLAMA_3)
    factors = (base.frequencies / scaled.frequencies).astype(np.float32)
    settings = {**LLAMA, "rope_theta": 5e5, "head_dim": 64, "rope_scaling": LLAMA_3,
                "max_position_embeddings": 131_072}  # fmt: skip
    header = {**GGUF, "rope.freq_base": 5e5, "attention.key_length": 64,
              "context_length": 131_072}  # fmt: skip
    stored = gguf(tmp_path, "llama", header, tensors={"rope_freqs.weight": factors})
    assert between(config(settings), stored).verdict == "equal"


@pytest.mark.parametrize(("base", "verdict"), [(1e6, "equal as far as both files tell"),
                                              (1e4, "different")])  # fmt: skip
def test_a_rotation_of_an_unknown_family_is_compared_in_either_order(
    tmp_path: Path, base: float, verdict: str
) -> None:
    inv_freq = torch.from_numpy(Rotation(base, 16, 16, 256).frequencies.copy()).float()
    for order in (1, -1):
        alone = weights(tmp_path / str(order), {}, {"rotary_emb.inv_freq": inv_freq})
        (tmp_path / str(order) / "config.json").unlink()
        found = between(*(config(LLAMA), alone)[::order])
        assert found.verdict == verdict
        assert [one.kind for one in found.differences] == ["rotation"] * (base == 1e4)


@pytest.mark.parametrize(("base", "untold"), [(1e6, 0), (1e4, 1)])
def test_stored_frequencies_that_are_not_those_of_the_settings_are_told(
    tmp_path: Path, base: float, untold: int
) -> None:
    stored = torch.from_numpy(Rotation(base, 16, 16, 256).frequencies.copy()).float()
    other = weights(tmp_path / "other", LLAMA, {"model.rotary_emb.inv_freq": stored})
    found = between(config(LLAMA), other)
    assert found.untold == untold * (
        "model.rotary_emb.inv_freq in B has other frequencies than its settings give, which are"
        " compared.",
    )


BERT: Settings = {
    "model_type": "bert", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1,
    "vocab_size": 100, "max_position_embeddings": 32, "intermediate_size": 16,
}  # fmt: skip
NAME = "bert.embeddings.position_embeddings.weight"
TABLE = torch.from_numpy(np.random.default_rng(0).normal(size=(32, 8))).float()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_table_is_compared_to_the_precision_of_its_types(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    one = weights(tmp_path / "one", BERT, {NAME: TABLE})
    other = weights(tmp_path / "other", BERT, {NAME: TABLE.to(dtype)})
    found = between(one, other)
    assert found.verdict == "equal"
    assert len(found.notes) == (dtype != torch.float32)


@pytest.mark.parametrize("kind", [Kind.Q8_0, Kind.Q4_0])
def test_a_quantised_table_is_equal_within_a_step(tmp_path: Path, kind: Kind) -> None:
    rows = np.random.default_rng(0).permutation(np.linspace(-1.0, 1.0, 64 * 32)).reshape(64, 32)
    settings = {**BERT, "hidden_size": 32, "max_position_embeddings": 64}
    one = weights(tmp_path / "one", settings, {NAME: torch.from_numpy(rows.copy()).float()})
    header = {"block_count": 1, "context_length": 64, "embedding_length": 32,
              "attention.head_count": 2, "feed_forward_length": 16, "vocab_size": 100}  # fmt: skip
    (tmp_path / "other").mkdir()
    other = gguf(
        tmp_path / "other", "bert", header, tensors={"position_embd.weight": rows}, kind=kind
    )
    found = between(one, other)
    assert (found.verdict, found.differences) == ("equal", ())
    assert any("rounding" in note for note in found.notes)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8, torch.uint8])
def test_weights_that_are_no_numbers_are_not_weighed_and_all_else_is_compared(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    names = [f"model.layers.0.self_attn.{part}.weight" for part in ("q_proj", "k_proj")]
    one = weights(tmp_path / "one", LLAMA, {name: torch.zeros(64, 64) for name in names})
    tensors = {name: torch.zeros(64, 64).to(dtype) for name in names}
    for base, verdict in ((1e6, "equal"), (1e4, "different")):
        settings = {**LLAMA, "rope_theta": base}
        found = between(one, weights(tmp_path / str(base), settings, tensors))
        assert found.verdict == verdict
        [note] = found.notes
        assert note.startswith("Queries and keys of B are stored as ")


def test_a_table_that_is_no_numbers_is_one_without_numbers(tmp_path: Path) -> None:
    one = weights(tmp_path / "one", BERT, {NAME: TABLE})
    packed = weights(tmp_path / "packed", BERT, {NAME: TABLE.to(torch.int8)})
    found = between(one, packed)
    assert found.verdict == "equal as far as both files tell"
    assert found.untold == ("B has no numbers for Learned table (encoder).",)
    with pytest.raises(RowError, match="dtype I8"):
        look(packed)


def test_one_changed_row_and_a_shifted_table_are_named(tmp_path: Path) -> None:
    changed = TABLE.clone()
    changed[7, 3] += 0.1
    one = weights(tmp_path / "one", BERT, {NAME: TABLE})
    odd = TABLE.clone()
    odd[0, 0] = float("nan")
    for name, table in (("changed", changed), ("shifted", TABLE.roll(1, 0)), ("odd", odd)):
        [found] = between(one, weights(tmp_path / name, BERT, {NAME: table})).differences
        assert found.kind == "values"
    longer = {**BERT, "max_position_embeddings": 33}
    table = torch.cat([TABLE, TABLE[:1]])
    kinds = {
        each.kind
        for each in between(one, weights(tmp_path / "longer", longer, {NAME: table})).differences
    }
    assert kinds == {"context", "shape"}


def test_a_table_whose_numbers_one_side_lacks_is_equal_as_far_as_both_tell(tmp_path: Path) -> None:
    found = between(config(BERT), weights(tmp_path / "one", BERT, {NAME: TABLE}))
    assert found.verdict == "equal as far as both files tell"
    assert found.untold == ("A has no numbers for Learned table (encoder).",)
    assert not_compared(found) == "Learned table"
    unknown = between(config(LLAMA), config({**LLAMA, "model_type": "nobody"}))
    assert (unknown.verdict, not_compared(unknown)) == (found.verdict, "")


def test_a_part_that_one_side_has_alone_is_named_and_no_difference() -> None:
    vision = {"model_type": "llama4_vision_model", "hidden_size": 16, "num_attention_heads": 2,
              "num_hidden_layers": 1, "image_size": 32, "patch_size": 16}  # fmt: skip
    text = {**LLAMA, "model_type": "llama4_text", "attention_chunk_size": 8}
    whole = {"model_type": "llama4", "text_config": text, "vision_config": vision}
    found = between(config(whole), config(text))
    assert found.differences == ()
    assert "vision: only in A" in found.notes


@pytest.mark.parametrize("length", [64, 63])
def test_rows_before_the_first_position_are_no_context(tmp_path: Path, length: int) -> None:
    """A GGUF of RoBERTa has its 64 positions alone, of 66 rows (XLMRobertaModel in llama.cpp's
    conversion/bert.py).
    """
    rows = np.random.default_rng(0).normal(size=(66, 8))
    settings = {**BERT, "model_type": "roberta", "max_position_embeddings": 66, "pad_token_id": 1}
    name = "roberta.embeddings.position_embeddings.weight"
    one = weights(tmp_path / "one", settings, {name: torch.from_numpy(rows.copy()).float()})
    header = {"block_count": 1, "context_length": length, "embedding_length": 8,
              "attention.head_count": 2, "feed_forward_length": 16, "vocab_size": 100}  # fmt: skip
    (tmp_path / "other").mkdir()
    other = gguf(tmp_path / "other", "bert", header, tensors={"position_embd.weight": rows[2:]})
    texts = [each.text for each in between(one, other).differences]
    assert len(texts) == (length != 64)
    assert all(text.startswith("The context is 64 positions in A (") for text in texts)


def test_what_has_no_part_in_common_cannot_be_compared() -> None:
    vit = {"model_type": "vit", "hidden_size": 16, "num_attention_heads": 2,
           "num_hidden_layers": 1, "image_size": 32, "patch_size": 16}  # fmt: skip
    assert between(config(LLAMA), config(vit)).verdict == "cannot be compared"


def test_unread_keys_are_listed_and_decide_nothing() -> None:
    found = between(config({**LLAMA, "rope_of_nobody": 3}), config(LLAMA))
    assert (found.verdict, found.unread) == ("equal", (("rope_of_nobody: 3",), ()))


APERTUS: Settings = {**LLAMA, "model_type": "apertus", "rope_theta": 1.2e7, "rope_scaling": LLAMA_3}


@pytest.mark.parametrize(
    ("lost", "told"),
    [({"rope_scaling"}, "mlx-lm takes base 12,000,000, 16 of 16 components."),
     ({"rope_scaling", "rope_theta"}, "mlx-lm refuses the file.")],
)  # fmt: skip
def test_what_a_class_fills_in_is_told_with_what_others_take(lost: set[str], told: str) -> None:
    copy = {name: value for name, value in APERTUS.items() if name not in lost}
    found = between(config(APERTUS), config(copy))
    [note] = found.notes
    assert found.verdict == "equal"
    assert note.startswith("The base and scaling of B follow from none of its keys: transformers 5")
    assert note.endswith(told)
    assert not between(config(copy), config(copy)).notes


HEAD: Settings = {
    **LLAMA, "architectures": ["LlamaForCausalLMEagle3"], "num_hidden_layers": 1,
    "draft_vocab_size": 50, "max_position_embeddings": 128,
}  # fmt: skip


def test_what_no_program_was_seen_to_fill_in_is_no_note() -> None:
    """A class of transformers rejects this config, so that nothing is known of its defaults."""
    record = known_model("databricks/dbrx-base")
    assert record is not None
    found = between(config({**record.settings, "attn_config": 10**12}), config(record.settings))
    assert found.verdict == "different"
    assert not any("fills in" in note for note in found.notes)


def of_draft(target: Settings, draft: Settings) -> Comparison:
    return drafted(Side.of("A", config(target)), Side.of("B", config(draft)))


@pytest.mark.parametrize(
    ("target", "draft", "kinds"),
    [
        (LLAMA, {**LLAMA, "num_hidden_layers": 2, "rope_theta": 1e4}, []),  # A model of its own.
        (LLAMA, {**LLAMA, "hidden_size": 32, "vocab_size": 50_000}, ["vocabulary"]),
        (LLAMA, {**HEAD, "max_position_embeddings": 512, "rope_theta": 1e4}, []),
        (LLAMA, HEAD, ["context"]),
        ({**LLAMA, "rope_scaling": YARN}, {**HEAD, "max_position_embeddings": 512}, []),
        (BERT, {**HEAD, "hidden_size": 8}, []),
        (BERT, HEAD, ["width"]),
        (BERT, {**HEAD, "target_hidden_size": 8}, []),
        ({**LLAMA, "vocab_size": 32_000}, HEAD, ["context", "vocabulary"]),
    ],
)
def test_a_draft_reaches_as_far_as_its_target_and_has_its_sizes(
    target: Settings, draft: Settings, kinds: list[str]
) -> None:
    found = of_draft(target, draft)
    assert [one.kind for one in found.differences] == kinds
    assert found.verdict == ("different" if kinds else "equal")
    assert ("reads hidden states" in found.notes[0]) == ("draft_vocab_size" in draft)


def test_a_padded_vocabulary_of_a_draft_is_a_note() -> None:
    """Qwen 2.5 with 7B and 0.5B parameters."""
    found = of_draft({**LLAMA, "vocab_size": 152_064}, {**LLAMA, "vocab_size": 151_936})
    assert found.verdict == "equal"
    assert "152,064 tokens in A" in found.notes[1]
    assert "vLLM with as many alone" in found.notes[1]


def test_rotations_of_a_draft_and_its_target_are_given_and_not_compared() -> None:
    """A published head of Kimi K2: base 1,000,000 without scaling beside 50,000 with YaRN."""
    target = {**LLAMA, "rope_theta": 5e4, "rope_scaling": YARN}
    for draft in ({**HEAD, "max_position_embeddings": 256, "rope_scaling": None}, LLAMA):
        found = of_draft(target, draft)
        assert (found.verdict, len(found.notes)) == ("equal", 2)
        assert "A has base 50,000, 16 of 16 components, yarn scaling" in found.notes[1]
        assert "B has base 1,000,000, 16 of 16" in found.notes[1]
    assert len(of_draft(LLAMA, LLAMA).notes) == 1


def test_what_a_head_has_lost_of_the_rotation_of_its_target_is_a_note() -> None:
    scaled = {**LLAMA, "rope_scaling": LLAMA_3}
    layer = {**LLAMA, "num_hidden_layers": 1, "rope_scaling": None}
    speculator = {"speculators_model_type": "eagle3", "transformer_layer_config": layer}
    found = of_draft(scaled, speculator)
    assert found.verdict == "equal"
    assert found.notes[2].startswith(
        "A and B have the same base, A has llama3 scaling, and B has none"
        " (transformer_layer_config.rope_scaling is null)"
    )
    bare = {key: value for key, value in HEAD.items() if key != "rope_theta"}
    found = of_draft(LLAMA, {**bare, "max_position_embeddings": 256})
    assert found.verdict == "equal"
    assert found.notes[2].startswith("The base is 1,000,000 in A and, as no key of B gives it, 10,")


def test_orders_of_pairs_of_a_draft_and_its_target_are_told() -> None:
    found = of_draft({**LATENT, "rope_interleave": True}, {**HEAD, "model_type": "nobody"})
    assert found.notes[-1].startswith("The components of a rotation pair are adjacent in A (by ")
    neighbours = of_draft({**LATENT, "rope_interleave": True}, {**HEAD, "is_neox_style": True})
    assert neighbours.notes[-1].endswith("and half a head apart in B (by is_neox_style).")


def test_a_draft_without_a_context_cannot_be_compared() -> None:
    nobody = {"model_type": "nobody", "hidden_size": 8}
    found = drafted(Side.of("A", config(LLAMA)), Side.of("B", config(nobody)))
    assert (found.verdict, found.untold) == ("cannot be compared", ("B gives no context.",))


def test_a_difference_names_the_keys_that_make_it(tmp_path: Path) -> None:
    gemma = {**LLAMA, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16}
    header = {**GGUF, "attention.sliding_window": 16, "attention.key_length": 16,
              "context_length": 128, "rope.freq_base": 1e4}  # fmt: skip
    found = between(config(gemma), gguf(tmp_path, "gemma2", header))
    named = {
        "context": ("max_position_embeddings in config.json", "gemma2.context_length"),
        "mixing": ("sliding_window in config.json", "gemma2.attention.sliding_window"),
        "rotation": ("rope_theta in config.json", "gemma2.rope.freq_base in model.gguf"),
    }
    assert {one.kind for one in found.differences} == named.keys()
    for one in found.differences:
        assert all(key in one.text for key in named[one.kind])
