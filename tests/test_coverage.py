"""What the atlas finds against what a model's modules show, for types that are quick to build;
benchmarks/coverage.py takes all.
"""

import pytest

from benchmarks.coverage import Row, compare, total
from benchmarks.models import VARIANTS, Case

TYPES = (
    # a learned table, with and without reserved rows, of tokens, patches and frames
    "albert", "bart", "bert", "big_bird", "biogpt", "blenderbot", "camembert", "clip",
    "data2vec-text", "deit", "dinov2",
    "distilbert", "electra", "gpt2", "gpt_bigcode", "gpt_neo", "layoutlm", "longformer", "mbart",
    "openai-gpt", "opt", "roberta",
    "siglip", "timesformer", "vit", "xlm-roberta", "mllama_vision_model", "patchtst",
    "pix2struct_vision_model",
    # a sinusoid, stored or made at run time
    "ctrl", "m2m_100", "marian", "pegasus", "whisper", "xglm", "canary_decoder",
    "fun_asr_nano_encoder", "rt_detr",
    # a rotation, of all layers or by kind, of a part of each head, under an older name
    "codegen", "cohere", "deepseek_v3", "falcon", "gemma", "gemma3", "gpt_neox", "gptj", "llama",
    "mistral", "mixtral", "modernbert",
    "olmo2", "phi", "phi3", "qwen2", "qwen2_vl", "qwen3", "roformer", "smollm3", "stablelm",
    "starcoder2",
    # a bias by bucket, by slope, by offset in a window
    "bloom", "longt5", "mpnet", "mpt", "mt5", "swin", "swinv2", "switch_transformers", "t5", "umt5",
    # a bias by row and column; vectors by offset, of three kinds; a convolution, with and without a
    # bias
    "sam_vision_model", "vits", "wav2vec2-bert", "fastspeech2_conformer", "granite_speech_encoder",
    "xlnet", "hubert", "sew-d",
    "unispeech", "wav2vec2", "wavlm",
    # nothing at all
    "beit", "convnext", "jamba", "mamba", "resnet",
)  # fmt: skip
OPTIONS = {
    "falcon", "llama", "gpt_neox", "beit", "swin", "deberta", "deberta-v2", "distilbert",
    "wav2vec2-conformer",
}  # fmt: skip
CASES = [*(Case(name) for name in TYPES), *(case for case in VARIANTS if case.type in OPTIONS)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_atlas_finds_what_the_modules_show(case: Case) -> None:
    row = compare(case)
    assert (row.problem, row.atlas) == ("", row.oracle)


def test_the_share_counts_those_compared_alone() -> None:
    one, other = frozenset({"table"}), frozenset({"rotation"})
    rows = [Row("a", one, one), Row("b", one, other), Row("c", problem="not built: LookupError")]
    assert total(rows) == "3 cases; 2 compared, of which 1 agree (50.0%); 1 not built\n"
