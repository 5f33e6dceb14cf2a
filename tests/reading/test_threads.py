"""Files of public threads, made from what these say of them: what ``lint`` names in each, and what
it leaves alone.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.reading import lint
from generator.reading.evidence import look_closely
from tests.gguf_files import write
from tests.support import save_folder

Settings = dict[str, Any]
SIZES: Settings = {
    "hidden_size": 512, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 8,
    "vocab_size": 128,
}  # fmt: skip
LLAMA: Settings = {**SIZES, "model_type": "llama", "max_position_embeddings": 131_072}
QWEN2: Settings = {
    **SIZES, "model_type": "qwen2", "max_position_embeddings": 32_768, "rope_theta": 1e6,
    "use_sliding_window": False,
}  # fmt: skip
QWEN3: Settings = {**SIZES, "model_type": "qwen3", "head_dim": 128,
                   "max_position_embeddings": 40_960}  # fmt: skip
BERT: Settings = {**SIZES, "model_type": "bert", "max_position_embeddings": 512}
ROBERTA: Settings = {**SIZES, "model_type": "roberta", "max_position_embeddings": 514,
                     "pad_token_id": 1}  # fmt: skip
LLAMA3: Settings = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
YARN: Settings = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
GEMMA3: Settings = {
    **SIZES, "model_type": "gemma3_text", "head_dim": 256, "sliding_window": 1024,
    "max_position_embeddings": 131_072,
    "layer_types": [*["sliding_attention"] * 5, "full_attention", *["sliding_attention"] * 2],
}  # fmt: skip
LOCAL = {"rope_type": "default", "rope_theta": 1e4}
GLOBAL = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
GPT_OSS: Settings = {
    **SIZES, "model_type": "gpt_oss", "head_dim": 64, "max_position_embeddings": 4096,
    "rope_theta": 150_000, "rope_scaling": {"rope_type": "default"},
    "layer_types": ["sliding_attention", "full_attention"] * 4,
}  # fmt: skip

# The thread, config.json, other files, and the level, rule and sentence of what is wrong.
NAMED: list[tuple[str, Settings, Mapping[str, Any], str]] = [
    ("marin-community/marin#7146", {**LLAMA, "rope_parameters": {**LLAMA3, "rope_theta": 5e5}}, {},
     "warning readers: Rotations differ by program: at a distance of 7.72 positions, the angle of"
     " one pair is a radian off. From config.json, mlx-lm 0.32.2 and transformers 4.57.6 take"),
    ("vllm-project/vllm#53634",
     {**LLAMA, "rope_parameters": {"rope_type": "deepseek_yarn", "rope_theta": 5e4, "factor": 32.0,
                                   "original_max_position_embeddings": 4096}}, {},
     "note not-understood: A rotation with base 50,000 and scaling “deepseek_yarn” is configured."),
    # The description of the pull request has this product.
    ("vllm-project/vllm#53634, the length",
     {**LLAMA, "max_position_embeddings": 1_048_576,
      "rope_parameters": {"rope_type": "deepseek_yarn", "rope_theta": 5e4, "factor": 32.0,
                          "original_max_position_embeddings": 32_768}}, {},
     "note older-releases: vLLM 0.25 multiplies the length by the factor once more, since the"
     " scaling is named deepseek_yarn and not yarn: where no length is asked for, it takes texts of"
     " 1,048,576 × 32 = 33,554,432 positions."),
    ("huggingface/transformers#14243", ROBERTA, {},
     "note lengths: max_position_embeddings is 514, which counts rows of the table"),
    ("huggingface/transformers#16186", BERT, {"tokenizer_config": {"do_lower_case": False}},
     "note lengths: tokenizer_config.json has no model_max_length, so the tokenizer cuts no text,"
     " and the model has 512 positions"),
    ("dccuchile/beto#16", BERT, {"tokenizer_config": {"model_max_length": 10**30}},
     "note lengths: tokenizer_config.json states no limit"),
    ("huggingface/transformers#6606",
     {"model_type": "pegasus", "d_model": 64, "encoder_layers": 1, "decoder_layers": 1,
      "encoder_attention_heads": 4, "decoder_attention_heads": 4, "vocab_size": 128,
      "max_position_embeddings": 512}, {"tokenizer_config": {"model_max_length": 1024}},
     "warning lengths: Longer texts are let through than the config allows: 512"),
    ("mixedbread-ai/mxbai-rerank#4", QWEN2, {"tokenizer_config": {"model_max_length": 131_072}},
     "warning lengths: Longer texts are let through than the config allows: 32,768"),
    ("qdrant/fastembed#689", BERT,
     {"tokenizer_config": {"model_max_length": 512, "max_length": 128}},
     "note lengths: Limits differ: 128 by max_length in tokenizer_config.json"),
    ("martin-conur/quackformers#83", BERT,
     {"tokenizer": {"version": "1.0", "truncation": {"direction": "Right", "max_length": 128}},
      "sentence_bert_config": {"max_seq_length": 256}},
     "note lengths: Limits differ: 128 by truncation.max_length in tokenizer.json, 256 by"),
    ("ServiceNow/Fast-LLM#55",
     {**LLAMA, "rope_theta": 5e5, "rope_scaling": {**LLAMA3, "rope_type": "default"}}, {},
     "warning scaling-without-effect: The kind of scaling is “default”, which is none, so factor,"
     " low_freq_factor and high_freq_factor beside it change no angle"),
    ("runpod-workers/worker-vllm#257",
     {**GEMMA3, "rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": {"factor": 8.0}},
     {}, "warning scaling-without-effect: No rope_type says which kind of scaling is meant, so"
     " transformers applies none, and factor changes no angle"),
    ("turboderp-org/exllamav3#332",
     {**QWEN2, "model_type": "qwen2_vl",
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
      "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0,
                          "original_max_position_embeddings": 32_768,
                          "mrope_section": [16, 24, 24]}}, {},
     'warning two-places: rope_parameters.rope_type is "yarn", and rope_scaling.type is "mrope"'),
    # mlx_lm/models/glm.py of mlx-lm 0.32.2: nn.RoPE(dims=self.head_dim, …), and no field for it.
    ("ml-explore/mlx-lm#1698",
     {**SIZES, "model_type": "glm", "head_dim": 128, "max_position_embeddings": 8192,
      "rope_theta": 1e4}, {},
     "warning readers: Rotations differ by program. From config.json, mlx-lm 0.32.2 takes base"
     " 10,000, 128 of 128 components, and transformers 5 takes base 10,000, 64 of 128 components"),
    ("NVIDIA-NeMo/Megatron-Bridge#3077",
     {**QWEN3, "rope_parameters": {"rope_type": "yarn", "factor": 4.0,
                                   "original_max_position_embeddings": 32_768}}, {},
     "warning missing-base: rope_parameters in config.json has no rope_theta, so transformers 5"
     " takes 10,000, the default for qwen3"),
    ("unslothai/unsloth#7028",
     {**LLAMA, "rope_parameters": {"rope_type": "linear", "factor": 2.0}}, {},
     "warning missing-base: rope_parameters in config.json has no rope_theta"),
    ("huggingface/transformers#41922",
     {**GEMMA3, "rope_parameters": {"sliding_attention": GLOBAL, "full_attention": LOCAL}}, {},
     "warning layer-schedule: The “linear” scaling applies to layers 0–4, 6–7, which see no further"
     " than 1,024 positions, and not to the layers that see everything"),
    ("NVIDIA-NeMo/Megatron-Bridge#4800", GPT_OSS, {},
     "note layer-schedule: The windows of 128 positions in layers 0, 2, … 6 (one in 2) are the"
     " default of gpt_oss's config class in transformers"),
    ("modelscope/ms-swift#2340",
     {**QWEN2, "model_type": "qwen2_vl",
      "rope_scaling": {"type": "default", "mrope_section": [16, 24, 24]}}, {},
     "note sections: mrope_section stands beside the kind “default”"),
    ("sgl-project/sglang#2108", {**QWEN2, "rope_scaling": YARN}, {},
     "note factor-times-original: YaRN reaches further than the context: 4 × 32,768 = 131,072, and"
     " the context is 32,768. Where no length is asked for, SGLang 0.5.23 and vLLM 0cd57848 go by"
     " the context, and not by this product."),
    ("Open-Athena/MarinFold#184", {**LLAMA, "rope_parameters": {**LLAMA3, "rope_theta": 5e5}}, {},
     "warning readers: Rotations differ by program: at a distance of 7.72 positions, the angle of"
     " one pair is a radian off. From config.json, mlx-lm 0.32.2 and transformers 4.57.6 take base"
     " 10,000"),
]  # fmt: skip

# The same without the fault, and files that a thread takes for faulty that are not.
FINE: list[tuple[str, Settings, Mapping[str, Any]]] = [
    ("Open-Athena/MarinFold#198", {**LLAMA, "rope_theta": 1e4, "rope_scaling": None}, {}),
    ("QwenLM/Qwen3#342", QWEN2, {"tokenizer_config": {"model_max_length": 10**30}}),
    ("no key, but a rotation", QWEN2, {"tokenizer_config": {"add_bos_token": False}}),
    ("a tokenizer that cuts", BERT, {"tokenizer_config": {"model_max_length": 512}}),
    ("cut by tokenizer.json", BERT,
     {"tokenizer_config": {"do_lower_case": False},
      "tokenizer": {"version": "1.0", "truncation": {"max_length": 512}}}),
    ("not swapped",
     {**GEMMA3, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
      "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, {}),
    ("a base beside the block", {**LLAMA, "rope_theta": 5e5,
                                 "rope_parameters": {"rope_type": "default"}}, {}),
    ("one kind by two words",
     {**QWEN2, "model_type": "qwen2_vl",
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
      "rope_parameters": {"rope_type": "default", "rope_theta": 1e6,
                          "mrope_section": [16, 24, 24]}}, {}),
    # Its key of the size has a name of its own.
    ("attention_window_size",
     {**SIZES, "model_type": "recurrent_gemma", "attention_window_size": 2048}, {}),
]  # fmt: skip
TABLES = {
    "bert": "embeddings.position_embeddings.weight",
    "roberta": "roberta.embeddings.position_embeddings.weight",
}
ABOUT = ("missing-base", "scaling-without-effect", "lengths", "rows", "layer-schedule",
         "two-places")  # fmt: skip


def said(path: Path, settings: Settings, beside: Mapping[str, Any], rows: int = 0) -> list[str]:
    """Level, rule and sentence of each finding that is no fact. rows: of a table, where its family
    has one; by default as many as the config says
    """
    texts = {f"{name}.json": json.dumps(content) for name, content in beside.items()}
    name = TABLES.get(settings["model_type"], "other")
    n_rows = rows or settings.get("max_position_embeddings", 1)
    table = np.eye(n_rows if name in TABLES.values() else 1, 512, dtype=np.float32)
    save_folder(path, settings, {name: table}, texts)
    return _said(FolderFiles(path, "own", Choice(name="model.safetensors")))


def _said(files: FolderFiles) -> list[str]:
    every = lint.findings(files, look_closely(files))
    return [f"{one.level} {one.rule}: {one.text}" for one in every if one.level != "fact"]


@pytest.mark.parametrize(("thread", "settings", "beside", "text"), NAMED)
def test_what_a_thread_found_is_named(
    thread: str, settings: Settings, beside: Mapping[str, Any], text: str, tmp_path: Path
) -> None:
    every = said(tmp_path, settings, beside)
    assert any(one.startswith(text) for one in every), (thread, every)


@pytest.mark.parametrize(("thread", "settings", "beside"), FINE)
def test_what_is_right_is_left_alone(
    thread: str, settings: Settings, beside: Mapping[str, Any], tmp_path: Path
) -> None:
    every = said(tmp_path, settings, beside)
    assert [one for one in every if one.split()[1].rstrip(":") in ABOUT] == [], thread


@pytest.mark.parametrize(("length", "is_named"), [(128, True), (512, False)])
def test_rows_that_no_length_of_the_config_is(length: int, is_named: bool, tmp_path: Path) -> None:
    """huggingface/sentence-transformers#3347; of RoBERTa, the length counts rows."""
    every = said(tmp_path, {**BERT, "max_position_embeddings": length}, {}, rows=512)
    text = "warning rows: embeddings.position_embeddings.weight has 512 rows, while the config"
    assert any(one.startswith(text) for one in every) == is_named
    unstated = {name: value for name, value in BERT.items() if "position" not in name}
    for name, given in (("roberta", ROBERTA), ("unstated", {**unstated, "max_length": 20})):
        every = said(tmp_path / name, given, {}, rows=512 if given is not ROBERTA else 514)
        assert not [one for one in every if "while the config" in one]


def test_what_is_filled_in_for_a_lost_base_is_no_mend(tmp_path: Path) -> None:
    lost = {"rope_type": "linear", "factor": 2.0}
    for block, is_offered in ((lost, False), ({**lost, "rope_theta": 5e5}, True)):
        every = said(tmp_path / str(is_offered), {**LLAMA, "rope_parameters": block}, {})
        assert any("All programs that know the family agree" in one for one in every) == is_offered


def test_a_window_of_a_gguf_file_is_not_weighed_by_a_key_that_it_cannot_have(
    tmp_path: Path,
) -> None:
    """ggml-org/llama.cpp#17597"""
    settings = {
        "block_count": 4, "embedding_length": 64, "attention.head_count": 4, "context_length": 256,
        "rope.freq_base": 1e6, "attention.sliding_window": 8,
        "attention.sliding_window_pattern": [True, True, True, False],
    }  # fmt: skip
    write(tmp_path / "x.gguf", "qwen3", settings)
    texts = _said(FolderFiles(tmp_path, "own", Choice(name="x.gguf")))
    assert [one for one in texts if "window" in one] == [
        "note window-without-effect: The file gives 3 layers a window of 8 positions. In"
        " transformers, the config class of qwen3 has windows only with use_sliding_window, which"
        " this format lacks, so it depends on the code of a program whether these layers are"
        " limited."
    ]
