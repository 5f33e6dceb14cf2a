"""What libraries, and people in their own code, call the tensors that tell position."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Meaning = Literal["table", "sinusoid", "bias", "frequencies", "other"]


@dataclass(frozen=True)
class NamedTensor:
    """A name, and what it stands for.

    ends: pattern of the end of the name; example: a whole name
    meaning: "table" for a position table, learned unless it equals a sinusoid; "sinusoid" for a
        name that says so little that the table has to equal one; "bias" and "frequencies" for what
        attention adds or turns by; "other" for what no scheme reads
    axes: of the tensor, n positions by d dimensions; "" for no table
    library, source: where the name stands, and the address of the file
    is_sequence: whether the rows are words or steps of time, whatever axes of length 1 there are
    is_divided: whether the library divides the table by the square root of its width
    question: key of what stays open where no scheme reads the tensor, named_… of its template
    """

    ends: str
    example: str
    meaning: Meaning
    axes: str
    library: str
    source: str
    is_sequence: bool = False
    is_divided: bool = False
    question: str = ""


ROWS, BATCH, FREE = "n × d", "1 × n × d", "n × d, 1 × n × d or n × 1 × d"
HUB = "https://github.com/"
TRANSFORMERS = f"{HUB}huggingface/transformers/blob/main/src/transformers/models/"
TIMM = f"{HUB}huggingface/pytorch-image-models/blob/main/timm/models/"
VIT_PYTORCH = f"{HUB}lucidrains/vit-pytorch/blob/main/vit_pytorch/"
X_TRANSFORMERS = f"{HUB}lucidrains/x-transformers/blob/main/x_transformers/x_transformers.py"
INTERN_VIDEO = (
    f"{HUB}OpenGVLab/InternVideo/blob/main/InternVideo2/multi_modality/models/backbones/"
    "internvideo2/internvideo2.py"
)
FAIRSEQ = f"{HUB}facebookresearch/fairseq/blob/main/fairseq/modules/"
MEGATRON = (
    f"{HUB}NVIDIA/Megatron-LM/blob/main/megatron/core/models/common/embeddings/"
    "language_model_embedding.py"
)

# Alternatives of one pattern, whose order is that in which they are tried.
NAMES: tuple[NamedTensor, ...] = (
    NamedTensor(
        r"position_embeddings?", "embeddings.position_embeddings.weight", "table", ROWS,
        "transformers, BERT", f"{TRANSFORMERS}bert/modeling_bert.py",
    ),
    NamedTensor(
        r"position_embeddings", "embedding.position_embeddings.weight", "table", ROWS,
        "Megatron-LM, NeMo", MEGATRON,
    ),
    NamedTensor(
        r"position_embedding", "position_embedding.embeddings", "table", ROWS,
        "KerasHub", f"{HUB}keras-team/keras-hub/blob/master/keras_hub/src/layers/modeling/"
        "position_embedding.py",
    ),
    NamedTensor(
        r"position_embedding", "text.position_embedding", "table", ROWS, "torchtune, CLIP",
        f"{HUB}pytorch/torchtune/blob/main/torchtune/models/clip/_text_encoder.py",
    ),
    NamedTensor(
        r"positions_embed", "transformer.positions_embed.weight", "table", ROWS,
        "transformers, GPT", f"{TRANSFORMERS}openai/modeling_openai.py",
    ),
    NamedTensor(
        r"embed_positions", "encoder.embed_positions.weight", "table", ROWS,
        "fairseq", f"{FAIRSEQ}learned_positional_embedding.py",
    ),
    NamedTensor(
        r"wpe", "transformer.wpe.weight", "table", ROWS, "nanoGPT, transformers (GPT-2)",
        f"{HUB}karpathy/nanoGPT/blob/master/model.py",
    ),
    NamedTensor(
        r"(decoder_)?pos_embed", "pos_embed", "table", BATCH, "timm",
        f"{TIMM}vision_transformer.py",
    ),
    NamedTensor(
        r"img_pos_embed", "vision_encoder.img_pos_embed", "table", BATCH, "InternVideo2",
        INTERN_VIDEO,
    ),
    NamedTensor(
        r"positional_embedding(_vlm)?", "visual.positional_embedding", "table", ROWS,
        "OpenCLIP, Whisper",
        f"{HUB}mlfoundations/open_clip/blob/main/src/open_clip/transformer.py",
    ),
    NamedTensor(
        r"position_embedding_table", "position_embedding_table.weight", "table", ROWS,
        "ng-video-lecture", f"{HUB}karpathy/ng-video-lecture/blob/master/gpt.py",
    ),
    NamedTensor(
        r"position_embeds_layer", "position_embeds_layer.weight", "table", ROWS,
        "transformers, CLVP", f"{TRANSFORMERS}clvp/modeling_clvp.py",
    ),
    NamedTensor(
        r"char_position_embeddings", "embeddings.char_position_embeddings.weight", "table", ROWS,
        "transformers, CANINE", f"{TRANSFORMERS}canine/modeling_canine.py",
    ),
    NamedTensor(
        r"text_position_embedding", "text_position_embedding.weight", "table", ROWS,
        "transformers, CLVP", f"{TRANSFORMERS}clvp/modeling_clvp.py",
    ),
    NamedTensor(
        r"pos_emb", "pos_emb", "table", BATCH, "minGPT",
        f"{HUB}karpathy/minGPT/blob/3ed14b2cec0dfdad3f4b2831f2b4a86d11aef150/mingpt/model.py",
    ),
    NamedTensor(
        r"position_enc", "encoder.position_enc.weight", "table", ROWS,
        "attention-is-all-you-need-pytorch",
        f"{HUB}jadore801120/attention-is-all-you-need-pytorch/blob/master/transformer/Models.py",
    ),
    NamedTensor(
        r"position_embeddings\.embedding", "embeddings.position_embeddings.embedding.weight",
        "table", ROWS, "transformers, Reformer", f"{TRANSFORMERS}reformer/modeling_reformer.py",
    ),
    NamedTensor(
        r"position_embd", "position_embd.weight", "table", ROWS, "llama.cpp",
        f"{HUB}ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py",
    ),
    NamedTensor(
        r"pos_embeddings?", "encoder.pos_embedding", "table", BATCH, "torchvision",
        f"{HUB}pytorch/vision/blob/main/torchvision/models/vision_transformer.py",
    ),
    NamedTensor(
        r"pos_embedding", "pos_embedding", "table", "1 × n × d or n × d", "vit-pytorch",
        f"{VIT_PYTORCH}vit.py",
    ),
    NamedTensor(
        r"pos_embedding", "Transformer.posembed_input.pos_embedding", "table", BATCH,
        "Flax, Vision Transformer",
        f"{HUB}google-research/vision_transformer/blob/main/vit_jax/models_vit.py",
    ),
    NamedTensor(
        r"pos_emb\.emb", "pos_emb.emb.weight", "table", ROWS, "x-transformers", X_TRANSFORMERS,
        is_divided=True,
    ),
    NamedTensor(
        r"pos_emb\.emb", "pos_emb.emb", "table", ROWS, "performer-pytorch",
        f"{HUB}lucidrains/performer-pytorch/blob/main/performer_pytorch/performer_pytorch.py",
        is_sequence=True,
    ),
    NamedTensor(
        r"(abs|absolute)_pos_emb(ed)?", "text_transformer.abs_pos_emb.weight", "table", ROWS,
        "x-clip", f"{HUB}lucidrains/x-clip/blob/main/x_clip/x_clip.py",
    ),
    NamedTensor(
        r"text_pos_emb", "text_pos_emb.weight", "table", ROWS, "DALLE-pytorch",
        f"{HUB}lucidrains/DALLE-pytorch/blob/main/dalle_pytorch/dalle_pytorch.py",
    ),
    NamedTensor(
        r"decoder_pos_emb", "decoder_pos_emb.weight", "table", ROWS, "vit-pytorch, MAE",
        f"{VIT_PYTORCH}mae.py",
    ),
    NamedTensor(
        r"positional_emb", "classifier.positional_emb", "table", BATCH, "vit-pytorch, CCT",
        f"{VIT_PYTORCH}cct.py",
    ),
    NamedTensor(
        r"patch_pos", "patch_pos", "table", BATCH, "timm, TNT", f"{TIMM}tnt.py"
    ),
    NamedTensor(
        r"pos_enc", "decoder.embedding.position_embedding.pos_enc", "table", FREE, "NeMo",
        f"{HUB}NVIDIA/NeMo/blob/main/nemo/collections/asr/modules/transformer/"
        "transformer_modules.py",
        is_sequence=True,
    ),
    NamedTensor(
        r"(pos|position|positional)_encodings?", "positional_encoding", "table", FREE,
        "people's own code", "", is_sequence=True,
    ),
    NamedTensor(
        r"pos\w*\.pe", "pos_encoder.pe", "table", FREE, "PyTorch tutorial",
        f"{HUB}pytorch/tutorials/blob/e5f60c64367b2ff3c19e5b73a2c7eac4bf1269f1/beginner_source/"
        "transformer_tutorial.py",
        is_sequence=True,
    ),
    NamedTensor(
        r"pe", "src_embed.1.pe", "sinusoid", FREE, "The Annotated Transformer",
        f"{HUB}harvardnlp/annotated-transformer/blob/master/the_annotated_transformer.py",
        is_sequence=True,
    ),
    NamedTensor(
        r"pos_table", "encoder.position_enc.pos_table", "sinusoid", BATCH,
        "attention-is-all-you-need-pytorch",
        f"{HUB}jadore801120/attention-is-all-you-need-pytorch/blob/master/transformer/Models.py",
        is_sequence=True,
    ),
    NamedTensor(
        r"rel_pos\.learned_logslopes", "attn_layers.rel_pos.learned_logslopes", "bias", "",
        "x-transformers, ALiBi (to 2023)", X_TRANSFORMERS,
        question="slopes_alone",
    ),
    NamedTensor(
        r"(rel_pos|alibi\w*)\.slopes", "attn_layers.rel_pos.slopes", "bias", "",
        "x-transformers, ALiBi (to 2023)", X_TRANSFORMERS,
        question="no_slopes",
    ),
    NamedTensor(
        r"rel_pos\.relative_attention_bias\.weight",
        "attn_layers.rel_pos.relative_attention_bias.weight", "bias", "",
        "x-transformers, T5 bias", X_TRANSFORMERS,
        question="no_sides",
    ),
    NamedTensor(
        r"rotary_pos_emb\.inv_freq", "attn_layers.rotary_pos_emb.inv_freq", "frequencies", "",
        "x-transformers, rotary", X_TRANSFORMERS,
        question="no_base",
    ),
    NamedTensor(
        r"rotary_emb\.freqs", "layers.0.0.rotary_emb.freqs", "frequencies", "",
        "rotary-embedding-torch",
        f"{HUB}lucidrains/rotary-embedding-torch/blob/main/rotary_embedding_torch/"
        "rotary_embedding_torch.py",
        question="no_base",
    ),
    NamedTensor(
        r"rope\.freqs", "rope.freqs", "frequencies", "", "Llama, as Meta published it",
        f"{HUB}ggml-org/llama.cpp/blob/master/gguf-py/gguf/tensor_mapping.py",
        question="no_base",
    ),
    NamedTensor(
        r"embed_positions\._float_tensor", "encoder.embed_positions._float_tensor", "other", "",
        "fairseq, sinusoid", f"{FAIRSEQ}sinusoidal_positional_embedding.py",
        question="marked_sinusoid",
    ),
    NamedTensor(
        r"pos_emb\.scale", "pos_emb.scale", "other", "", "x-transformers, sinusoid",
        X_TRANSFORMERS,
        question="factor_of_sinusoid",
    ),
    NamedTensor(
        r"rotary_pos_emb\.scale", "attn_layers.rotary_pos_emb.scale", "other", "",
        "x-transformers, xPos", X_TRANSFORMERS,
        question="xpos",
    ),
    NamedTensor(
        r"(embed\.\d+|pos_enc\w*)\.alpha", "encoder.embed.1.alpha", "other", "",
        "ESPnet, sinusoid",
        f"{HUB}espnet/espnet/blob/master/espnet2/legacy/nets/pytorch_backend/transformer/"
        "embedding.py",
        question="factor_of_sinusoid",
    ),
    NamedTensor(
        r"cope\.pos_emb", "attn_layers.layers.0.1.attend.cope.pos_emb", "other", "",
        "x-transformers, CoPE", X_TRANSFORMERS,
        question="cope",
    ),
    NamedTensor(
        r"rel_pos\.mlp\.\d+(\.0)?\.weight", "attn_layers.rel_pos.mlp.0.0.weight", "other", "",
        "x-transformers, dynamic bias", X_TRANSFORMERS,
        question="dynamic_bias",
    ),
    NamedTensor(
        r"conv\w*\.pos_emb", "stages.2.0.conv2_kxk.pos_emb", "other", "", "timm, LambdaNetworks",
        f"{HUB}huggingface/pytorch-image-models/blob/main/timm/layers/lambda_layer.py",
        question="lambda_layer",
    ),
    NamedTensor(
        r"(row|col)_embed\.weight", "backbone.1.row_embed.weight", "other", ROWS, "DETR",
        f"{HUB}facebookresearch/detr/blob/main/models/position_encoding.py",
        question="rows_or_columns",
    ),
    NamedTensor(
        r"pos_embed_(height|width|frame|x|y)", "pos_embed_height", "other", ROWS,
        "vit-pytorch (NaViT), timm (NaFlexViT)", f"{VIT_PYTORCH}na_vit.py",
        question="one_axis",
    ),
    NamedTensor(
        r"clip_(img_)?pos_embed", "vision_encoder.clip_pos_embed", "other", BATCH, "InternVideo2",
        INTERN_VIDEO, question="after_layers",
    ),
    NamedTensor(
        r"(local|global)_token_positional_embedding",
        "token_pos_embedding.local_token_positional_embedding", "other", "",
        "torchtune, tiles of CLIP",
        f"{HUB}pytorch/torchtune/blob/main/torchtune/models/clip/_position_embeddings.py",
        question="tiles",
    ),
)  # fmt: skip


def _pattern(names: Iterable[NamedTensor], end: str = "") -> re.Pattern[str]:
    ends = "|".join(dict.fromkeys(name.ends for name in names))
    return re.compile(rf"(^|\.)({ends}){end}$")


def _of(*meanings: Meaning) -> list[NamedTensor]:
    return [name for name in NAMES if name.meaning in meanings]


TABLE = _pattern(_of("table"), r"(\.weight|\.embeddings?)?")
SINUSOID = _pattern(_of("sinusoid"), r"(\.weight)?")
OTHER = _pattern(_of("other"))
OF_SEQUENCES = _pattern((name for name in NAMES if name.is_sequence), r"")
DIVIDED = _pattern((name for name in NAMES if name.is_divided), r"(\.weight)?")
_QUESTIONS = [(_pattern([name]), name.question) for name in NAMES if name.question]


def question(tensor: str) -> str:
    """The question of a tensor with a name of the list that no scheme reads; "" for other names."""
    return next((key for pattern, key in _QUESTIONS if pattern.search(tensor)), "")
