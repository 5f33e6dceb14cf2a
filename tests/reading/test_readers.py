"""What other programs take from a config.json."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.contracts import ModelConfig
from generator.encodings import Rotation
from generator.encyclopedia.known_models import known_models
from generator.errors import RowError
from generator.reading.evidence import look_closely
from generator.reading.find import find
from generator.reading.lint import all_rules, findings, sentences
from generator.reading.programs import (
    llama_cpp,
    mlx_lm,
    sglang,
    transformers4,
    transformers5,
    vllm,
)
from generator.reading.rules.readers import _both
from generator.reading.taken import agreed, all_readers, beyond_mend, taken

SIZES = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
    "intermediate_size": 64, "rms_norm_eps": 1e-5, "vocab_size": 100, "num_key_value_heads": 4,
    "max_position_embeddings": 64,
}  # fmt: skip
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
NEW: dict[str, Any] = {**SIZES, "rope_parameters": {"rope_theta": 5e5, **YARN}}
OLD: dict[str, Any] = {**SIZES, "rope_theta": 5e5, "rope_scaling": YARN}
DYNAMIC = {"rope_theta": 5e5, "rope_type": "dynamic", "factor": 2.0}


def rotations(settings: Mapping[str, Any]) -> list[Rotation]:
    every = find(ConfigAlone(settings, "own"))
    return [one.form for one in every if isinstance(one.form, Rotation)]


def test_what_differs_comes_first_and_names_what_is_not_read_once() -> None:
    """Pairs of 0.1296 rad a position apart at most, from 10000^(−t) − 500000^(−t) at t = 0.0905."""
    yarn = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}
    known = {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}
    settings = [{"name": name, "ours": value, "theirs": None} for name, value in known.items()]
    [rule] = [rule for rule in all_rules() if rule.key == "readers"]
    values = {"readers": ["A", "B"], "theirs": [str(yarn)], "ours": ["ours"], "mend": {}}
    rest = {"settings": settings, "logits": [1.0, 1.0], "source": "config.json"}
    rest |= {"is_turned_alike": False, "factors": []}
    text = rule.wording("otherwise", **values, **rest, apart=0.1296)
    assert text.startswith(
        "Rotations differ by program: at a distance of 7.72 positions, the angle"
    )
    unread = "with beta_fast 32.0, beta_slow 1.0 and truncate false, which are not read by A and B"
    assert f", {unread}: angles" in text
    assert text.count("A and B") == 2
    fast = rule.wording("otherwise", **values, **rest, apart=1.5)
    assert fast.startswith("Rotations differ by program. From config.json, A and B take")


def test_where_magnitudes_alone_differ_no_angle_is_said_to() -> None:
    """YaRN's magnitude is 0.1 ln 4 + 1 = 1.1386 (Peng et al. 2023, section 3.4)."""
    factors: tuple[dict[str, float], ...] = ({}, {"attention_factor": 1.5})
    plain, given = (
        taken({**SIZES, "rope_parameters": {"rope_theta": 5e5, **YARN, **more}}, "own")[-2]
        for more in factors
    )
    assert plain.reader.key == "transformers5"
    assert plain.has_angles_of(given)
    assert not plain.turns_as(given)
    [(one, other)] = plain.factors_apart(given)
    assert [one, other] == pytest.approx([0.1 * math.log(4.0) + 1.0, 1.5])
    [rule] = [rule for rule in all_rules() if rule.key == "readers"]
    text = rule.wording("otherwise", **_both([plain], given), mend={}, source="config.json")
    assert text.startswith(
        "Rotations have the same angles in all programs, but another magnitude. From"
    )
    assert "multiplies sines and cosines by 1.139, and transformers 5 by 1.5." in text
    assert "rad" not in text


@pytest.mark.parametrize(
    ("reader", "new", "old"),
    [
        (transformers4, (10_000.0, False), (5e5, True)),
        (transformers5, (5e5, True), (5e5, True)),
        (mlx_lm, (10_000.0, False), (5e5, True)),
        (llama_cpp, (5e5, True), (5e5, True)),
        (vllm, (5e5, True), (5e5, True)),
        (sglang, (5e5, True), (5e5, True)),
    ],
)
def test_readers_take_each_spelling(
    reader: Any, new: tuple[float, bool], old: tuple[float, bool]
) -> None:
    for settings, expected in ((NEW, new), (OLD, old)):
        [form] = rotations(reader.takes(settings))
        assert (form.base, form.attention_factor > 1.0) == expected


def test_readers_agree_on_both_spellings() -> None:
    both = {**NEW, **OLD}
    for reader in (transformers4, transformers5, mlx_lm, llama_cpp, vllm, sglang):
        [form] = rotations(reader.READER.takes(both) or {})
        assert (form.base, form.attention_factor > 1.0) == (5e5, True)


def test_converter_of_llama_cpp_loses_scaling_that_it_does_not_know() -> None:
    [form] = rotations(llama_cpp.takes({**SIZES, "rope_parameters": DYNAMIC}) or {})
    assert form.base == 5e5
    assert form.parameters == rotations({**SIZES, "rope_theta": 5e5})[0].parameters


def test_own_ways_of_the_converter_of_llama_cpp_are_not_known() -> None:
    apart = {"full_attention": DYNAMIC, "sliding_attention": {"rope_theta": 1e4}}
    kinds = [{**DYNAMIC, "rope_type": "proportional"}, apart]
    for block in kinds:
        assert llama_cpp.takes({**SIZES, "rope_parameters": block}) is None
    assert llama_cpp.takes({**OLD, "model_type": "ministral3"}) is None


def test_converter_of_llama_cpp_takes_the_length_of_the_block() -> None:
    block = {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    }  # fmt: skip
    inner = {**OLD, "rope_scaling": block, "original_max_position_embeddings": 16}
    [form] = rotations(llama_cpp.takes(inner) or {})
    assert form.scaling["original_max_position_embeddings"] == 32
    with pytest.raises(RowError, match="no place for the factors of Llama 3"):
        llama_cpp.takes({**inner, "model_type": "granite"})


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        (OLD, 64),
        ({**OLD, "max_position_embeddings": 32}, 32),  # Not 4 × 16 of YaRN.
        ({**OLD, "model_max_length": 32, "rope_scaling": None}, 32),
        ({**OLD, "rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, 128),
        ({**OLD, "rope_scaling": None}, 64),
        # One of two rotations is scaled: vLLM has a case for that, and SGLang sees no factor.
        (
            {
                **SIZES,
                "model_type": "gemma3_text",
                "head_dim": 16,
                "rope_scaling": {"rope_type": "linear", "factor": 8.0},
            },
            64,
        ),
    ],
)
def test_limits_of_servers(settings: dict[str, Any], limit: int) -> None:
    every = {one.reader.key: one.limit for one in taken(settings, "own")}
    assert (every["vllm"], every["sglang"]) == (limit, limit)


@pytest.mark.parametrize("family", ["phi3", "phimoe", "minicpm3", "minicpm"])
def test_mlx_lm_takes_the_factors_for_long_texts_in_all(family: str) -> None:
    """Its SuScaledRoPE ran for these settings, with this factor of sqrt(1 + ln 4 / ln 16)."""
    block: dict[str, Any] = {
        "type": "longrope",
        "short_factor": [1.0] * 8,
        "long_factor": [2.0] * 8,
    }
    sizes = {"original_max_position_embeddings": 16, "qk_rope_head_dim": 16, "q_lora_rank": 8,
             "qk_nope_head_dim": 16, "v_head_dim": 16, "kv_lora_rank": 8}  # fmt: skip
    block |= {"original_max_position_embeddings": 16, "factor": 8.0}
    settings = {**SIZES, **sizes, "model_type": family, "rope_theta": 1e4, "rope_scaling": block}
    [form] = rotations(mlx_lm.takes(settings) or {})
    np.testing.assert_allclose(form.frequencies, 1e4 ** (-np.arange(8) / 8) / 2)
    assert form.attention_factor == pytest.approx(1.2247449)


@pytest.mark.parametrize(
    ("settings", "windows"),
    [
        # mlx_lm/models/llama.py: all layers are full without layer_types.
        ({**OLD, "model_type": "mistral", "sliding_window": 8}, [None] * 4),
        ({**NEW, "model_type": "ministral3", "sliding_window": 8,
          "rope_parameters": {**NEW["rope_parameters"], "llama_4_scaling_beta": 0.1},
          "layer_types": ["sliding_attention", "full_attention"] * 2}, [8, None] * 2),
        # gemma2.py and starcoder2.py there know no window.
        ({**SIZES, "model_type": "gemma2", "sliding_window": 8, "head_dim": 16}, [None] * 4),
        ({**OLD, "model_type": "starcoder2", "sliding_window": 8}, [None] * 4),
    ],
)  # fmt: skip
def test_windows_of_mlx_lm_are_those_of_its_code(
    settings: dict[str, Any], windows: list[int | None]
) -> None:
    every = {one.reader.key: one for one in taken(settings, "own")}
    assert list(every["mlx-lm"].windows) == windows
    assert 8 in every["transformers5"].windows


@pytest.mark.parametrize(
    ("settings", "order"),
    [({**OLD, "rope_traditional": True}, "adjacent"), (OLD, "halves"),
     # Of Cohere, its code turns neighbours without a key.
     ({**OLD, "model_type": "cohere", "rope_traditional": False}, "")],
)  # fmt: skip
def test_mlx_lm_turns_pairs_by_a_key_of_its_own(settings: dict[str, Any], order: str) -> None:
    every = {one.reader.key: one.pair_order for one in taken(settings, "own")}
    assert every["mlx-lm"] == order
    assert every["transformers5"] == ("" if settings["model_type"] == "cohere" else "halves")


def test_programs_that_take_the_same_share_a_sentence() -> None:
    first, *others, read = sentences(ModelConfig(NEW, "own"))
    assert "transformers 5 and vLLM 0cd57848 take base 500,000, 16 of 16" in first
    assert first.endswith("; they give no layer a window, and their length is 64 positions.")
    for other, name in zip(others, ("mlx-lm 0.32.2", "transformers 4.57.6"), strict=True):
        assert f"{name} takes base 10,000, 16 of 16 components, by" in other
    assert read.startswith("What SGLang")
    unknown = " ".join(sentences(ModelConfig({**NEW, "model_type": "olmo3"}, "own")))
    assert "mlx-lm 0.32.2 does not load the file: it has no default for rope_theta" in unknown


@pytest.mark.parametrize("value", ["yarn", ["yarn"], 4, {"factor": "four"}, {"type": 3}])
def test_settings_of_another_type_leave_open_what_a_program_takes(value: Any) -> None:
    for name in ("rope_scaling", "rope_parameters"):
        assert len(taken({**SIZES, name: value}, "own")) == len(all_readers())


def test_mend_is_the_least_that_makes_all_agree() -> None:
    plain = {"rope_theta": 5e5, "rope_type": "default"}
    assert agreed({**SIZES, "rope_parameters": plain}, "own") == {"rope_theta": 5e5}
    assert agreed(NEW, "own") == {
        "rope_theta": 5e5, "rope_scaling": {**YARN, "type": "yarn"},
    }  # fmt: skip
    # A value for each of two rotations is none that all programs know.
    assert agreed({**SIZES, "model_type": "gemma3_text", "num_hidden_layers": 6}, "own") == {}


def test_mend_gives_a_key_that_a_program_requires() -> None:
    """ModelArgs of glm4_moe.py in mlx-lm 0.32.2 has no default for rope_scaling."""
    given = next(one.settings for one in known_models() if one.id == "zai-org/GLM-4.6")
    kept = {name: given[name] for name in given if name not in ("rope_theta", "rope_scaling")}
    settings = {**kept, "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}}
    assert agreed(settings, "own") == {"rope_theta": 5e5, "rope_scaling": None}


def said_of(settings: dict[str, Any]) -> list[str]:
    files = ConfigAlone(settings, "own")
    every = findings(files, look_closely(files))
    return [one.text for one in every if one.rule == "readers"]


@pytest.mark.parametrize(
    ("family", "end"),
    [("phi3", "Texts longer than 16 tokens are turned by the same angles."),
     ("phimoe", "The angles differ at every length.")],
)  # fmt: skip
def test_no_mend_makes_mlx_lm_switch_between_lists(family: str, end: str) -> None:
    """models/rope_utils.py and su_rope.py of mlx-lm 0.32.2 read long_factor alone."""
    block: dict[str, Any] = {
        "type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8,
    }  # fmt: skip
    settings = {**SIZES, "model_type": family, "rope_theta": 1e4, "rope_scaling": block,
                "original_max_position_embeddings": 16}  # fmt: skip
    if family == "phimoe":
        block |= {"short_mscale": 1.25, "long_mscale": 1.25}
    [text] = [one for one in said_of(settings) if "no switch" in one]
    assert "because mlx-lm 0.32.2 has no switch between the two lists. " in text
    assert "transformers 5 and vLLM 0cd57848 read both. " in text
    assert text.endswith(end)


def test_a_program_that_no_spelling_makes_agree_is_named() -> None:
    """mlx-lm's qwen3_moe.py passes no scaling to its rotations."""
    scaled = {**OLD, "model_type": "qwen3_moe", "head_dim": 16}
    others = beyond_mend(scaled, "own")
    assert "mlx-lm" in [one.reader.key for one in others]
    [text] = [one for one in said_of(scaled) if "in both spellings" in one]
    assert text.endswith(
        "To give base and scaling in both spellings does not make mlx-lm 0.32.2 agree, because it"
        " takes no scaling for this family."
    )
    # One spelling is enough, or there are several rotations.
    assert beyond_mend(NEW, "own") == []
    assert beyond_mend({**SIZES, "model_type": "gemma3_text", "num_hidden_layers": 6}, "own") == []


def test_programs_count_the_query_with_a_window_or_not() -> None:
    """MiMoV2FlashConfig adds it, as SGLang does. In mlx-lm 0.32.2, a token 127 positions back
    changed the output of a layer of a model with sliding_window_size 128, and one 128 back did not.
    """
    model = next(one for one in known_models() if one.id == "XiaomiMiMo/MiMo-V2-Flash")
    assert model.settings["sliding_window_size"] == 128
    windows = {
        one.reader.key: {size for size in one.windows if size}
        for one in taken(model.settings, "own")
        if one.is_known
    }
    assert windows["mlx-lm"] == windows["vllm"] == {128}
    assert windows["transformers5"] == windows["sglang"] == {129}


@pytest.mark.parametrize("kind", ["yarn", "deepseek_yarn", "telechat3-yarn"])
def test_vllm_goes_by_the_length_for_yarn_of_any_name(kind: str) -> None:
    """Before and after, in the description of its pull request 56446: 131,072, not 5,242,880."""
    block = {"rope_type": kind, "factor": 40.0}
    assert vllm.limit({"max_position_embeddings": 131_072}, [block]) == 131_072


def test_lint_tells_of_defaults_and_of_refusals() -> None:
    silent = {**SIZES, "model_type": "qwen2"}
    files = ConfigAlone(silent, "own")
    [one] = [one for one in findings(files, look_closely(files)) if one.rule == "readers"]
    assert one.level == "note"
    assert "mlx-lm 0.32.2 takes base 1,000,000" in one.text
    files = ConfigAlone({**SIZES, "model_type": "qwen3", "head_dim": 16}, "own")
    [one] = [one for one in findings(files, look_closely(files)) if one.rule == "readers"]
    assert one.level == "note"
    assert one.text.endswith("does not load the file: it finds no base in the file.")


@pytest.mark.parametrize(
    ("reader", "settings", "reason"),
    [
        (mlx_lm, {**NEW, "model_type": "olmo3", "sliding_window": 8}, "no default for rope_theta"),
        (mlx_lm, {**SIZES, "model_type": "qwen3", "head_dim": 16}, "no base"),
        (mlx_lm, {**OLD, "rope_scaling": {"type": "own"}}, "no scaling of the kind own"),
        (llama_cpp, {**SIZES, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, "of YaRN"),
        (vllm, {**OLD, "rope_scaling": {**YARN, "type": "linear"}}, "beside type linear"),
        (vllm, {**OLD, "rope_scaling": {"type": "mrope"}}, "no mrope_section"),
    ],
)
def test_readers_refuse(reader: Any, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(RowError, match=reason):
        reader.takes(settings)


def test_base_of_other_code_is_not_known() -> None:
    for reader in (transformers4, transformers5, sglang):
        assert reader.takes({"model_type": "xlm-roberta", "rotary_emb_base": 2e4}) is None
    [form] = rotations(vllm.takes({**SIZES, "rotary_emb_base": 2e4}) or {})
    assert form.base == 2e4


@pytest.mark.thorough
def test_transformers4_takes_published_configs_as_transformers5() -> None:
    n_taken = 0
    for model in known_models():
        taken = transformers4.takes(model.settings)
        if taken is None:
            continue
        n_taken += 1
        one, other = rotations(model.settings), rotations(taken)
        assert [form.parameters for form in one] == [form.parameters for form in other], model.id
    assert n_taken > 200


def test_mlx_lm_loses_scaling_where_its_model_passes_none() -> None:
    scaled = {**OLD, "model_type": "qwen3_moe", "head_dim": 16}
    [form] = rotations(mlx_lm.takes(scaled) or {})
    assert form.parameters == rotations({**scaled, "rope_scaling": None})[0].parameters
    # Its code reads the top before the section.
    first = mlx_lm.takes({**NEW, "model_type": "qwen3", "head_dim": 16, "rope_theta": 1e6}) or {}
    assert (first["rope_theta"], first["rope_scaling"]["rope_type"]) == (1e6, "yarn")
    # Its code has a way of its own.
    assert mlx_lm.takes({**OLD, "model_type": "deepseek_v2"}) is None


def test_text_model_is_read_by_the_code_of_the_whole_or_by_its_own() -> None:
    text = {**NEW, "model_type": "kimi_k2"}
    taken_there = mlx_lm.takes({"model_type": "kimi_k25", "text_config": text}) or {}
    assert taken_there["text_config"]["rope_theta"] == 10_000.0
    assert mlx_lm.takes({"model_type": "paligemma", "text_config": OLD}) is None


@pytest.mark.parametrize(
    ("name", "positions", "by_others"),
    [("BAAI/bge-m3", "8,192", "8,194"), ("microsoft/codebert-base", "512", "514"),
     ("jinaai/jina-embeddings-v3", "8,192", "8,194")],
)  # fmt: skip
def test_rows_before_the_first_position_are_no_positions(
    name: str, positions: str, by_others: str
) -> None:
    """conversion/bert.py of llama.cpp 0c1e5709 takes 1 + pad_token_id from the length of RoBERTa's
    kin, also where these have a rotation; vLLM has all rows, without other files.
    """
    told = {one.split(";")[0]: one for model in known_models() if model.id == name
            for one in sentences(model.files.config)}  # fmt: skip
    [converter] = [one for one in told.values() if "llama.cpp's converter" in one][:1]
    assert f"length is {positions} positions." in converter
    [served] = [one for one in told.values() if "vLLM" in one and "max_seq_length" in one]
    assert f"where there is one, and otherwise {by_others} positions" in served


def test_the_limit_of_a_model_that_writes_nothing_may_be_in_other_files() -> None:
    """vllm/config/model.py of 0.33.0: max_seq_length replaces the length of a config.json, and the
    tokenizer's counts where position_embedding_type is absolute.
    """
    assert vllm.limit_elsewhere({"architectures": ["LlamaForCausalLM"]}) == []
    of_sentences = {"architectures": ["NomicBertModel"]}
    assert vllm.limit_elsewhere(of_sentences) == ["sentence_bert_config.json"]
    of_table = {"architectures": ["BertModel"], "position_embedding_type": "absolute"}
    assert vllm.limit_elsewhere(of_table) == [
        "sentence_bert_config.json", "tokenizer_config.json"
    ]  # fmt: skip


def test_mlx_lm_has_no_limit() -> None:
    """generate.py and server.py of mlx-lm 0.32.2 take no length from a config."""
    settings = {**SIZES, "rope_theta": 1e4}
    [one] = [one for one in taken(settings, "own") if one.reader.key == "mlx-lm"]
    assert one.is_known
    assert one.limit is None
    assert any(
        "mlx-lm 0.32.2 takes" in text and text.endswith("and it reads no length.")
        for text in sentences(ConfigAlone(settings, "own").config)
    )
