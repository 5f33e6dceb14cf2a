"""Model families that compute a sinusoid when they run, with its arrangement and size."""

from dataclasses import dataclass

from generator.contracts import Modality, ModelConfig, StackKind
from generator.encodings import Arrangement

MOST_VALUES = 2**27  # Of a table: 1 GB in float64; ten times the largest in use.


@dataclass(frozen=True)
class TablePart:
    """A part of a model with a sinusoid.

    sizes: the keys of config.json that add up to its number of positions; ``n_positions`` if empty
    """

    name: str
    sizes: tuple[str, ...] = ()
    modality: Modality = "text"

    @property
    def stack(self) -> StackKind:
        """Whether it reads an input or generates an output."""
        return "decoder" if self.name.endswith("decoder") else "encoder"


@dataclass(frozen=True)
class RuntimeSinusoid:
    """The table that a family computes when the model runs.

    after_padding: whether the first position has the angles of pad_token_id + 1, as in fairseq
    skipped: number of positions before the first in use
    scaled: whether the values are divided by the square root of the width
    width: the keys of config.json whose product is the width; ``d_model`` if empty
    stored: name of the clause on how the sinusoid comes into a table among the weights that is not
        trained; "" where no table is stored
    half_chunk: the key of config.json for half the number of frames of sound after which positions
        are counted from 0 again, "" for all
    """

    arrangement: Arrangement
    parts: tuple[TablePart, ...]
    after_padding: bool = False
    cosines_first: bool = False
    skipped: int = 0
    scaled: bool = False
    width: tuple[str, ...] = ()
    half_chunk: str = ""
    stored: str = ""


ENCODER, DECODER = TablePart("encoder"), TablePart("decoder")
TEXT_PARTS = (TablePart("text encoder"), TablePart("text decoder"))
SPEECH_TO_TEXT = (
    TablePart("encoder", ("max_source_positions",), "audio"),
    TablePart("decoder", ("max_target_positions",)),
)
SPEECHT5 = (
    TablePart("speech encoder", ("max_speech_positions",), "audio"),
    TablePart("text decoder", ("max_text_positions",)),
)
SERIES = tuple(
    TablePart(name, ("context_length", "prediction_length")) for name in ("encoder", "decoder")
)
AUDIO_DECODER = (TablePart("decoder", modality="audio"),)
SOUND = RuntimeSinusoid(
    "tensor2tensor",
    (TablePart("audio encoder", ("max_source_positions",), "audio"),),
    half_chunk="n_window",
)
FILLED = "filled_by_code"
# Whisper (arXiv 2212.04356, section 2.2), and encoders that start from its weights: Voxtral (arXiv
# 2507.13264), Qwen2-Audio (arXiv 2407.10759), Audio Flamingo 3 (arXiv 2507.08128).
WHISPER = RuntimeSinusoid(
    "tensor2tensor", (TablePart("encoder", ("max_source_positions",), "audio"),), stored=FILLED
)
AUDIO_ENCODER = RuntimeSinusoid(
    "tensor2tensor",
    (TablePart("audio encoder", ("max_source_positions",), "audio"),),
    stored="starts_from_whisper",
)
# Of other families with a setting for a sinusoid.
DEFAULT = RuntimeSinusoid("interleaved", (ENCODER,))
FAMILIES = {
    "ctrl": RuntimeSinusoid("halves", (DECODER,)),
    "marian": RuntimeSinusoid("halves", (ENCODER, DECODER)),
    "pegasus": RuntimeSinusoid("halves", (ENCODER, DECODER)),
    "pegasus_x": RuntimeSinusoid("tensor2tensor", (ENCODER, DECODER)),
    "informer": RuntimeSinusoid("halves", SERIES),
    "autoformer": RuntimeSinusoid("halves", SERIES),
    "time_series_transformer": RuntimeSinusoid("halves", SERIES),
    "m2m_100": RuntimeSinusoid("tensor2tensor", (ENCODER, DECODER), after_padding=True),
    "nllb-moe": RuntimeSinusoid("tensor2tensor", (ENCODER, DECODER), after_padding=True),
    "fsmt": RuntimeSinusoid("tensor2tensor", (ENCODER, DECODER), after_padding=True),
    "xglm": RuntimeSinusoid("tensor2tensor", (DECODER,), after_padding=True),
    "kosmos_2_text_model": RuntimeSinusoid("tensor2tensor", (DECODER,), after_padding=True),
    "kosmos_2_5_text_model": RuntimeSinusoid("tensor2tensor", (DECODER,), after_padding=True),
    "speech_to_text": RuntimeSinusoid("tensor2tensor", SPEECH_TO_TEXT, after_padding=True),
    "speecht5": RuntimeSinusoid("tensor2tensor", SPEECHT5, after_padding=True),
    "seamless_m4t": RuntimeSinusoid("tensor2tensor", TEXT_PARTS, after_padding=True),
    "seamless_m4t_v2": RuntimeSinusoid("tensor2tensor", TEXT_PARTS, after_padding=True),
    "musicgen_decoder": RuntimeSinusoid("tensor2tensor", AUDIO_DECODER, cosines_first=True),
    "musicgen_melody_decoder": RuntimeSinusoid("tensor2tensor", AUDIO_DECODER, cosines_first=True),
    "qwen2_5_omni_audio_encoder": SOUND,
    "qwen3_omni_moe_audio_encoder": SOUND,
    "qwen3_asr_encoder": RuntimeSinusoid(
        "tensor2tensor", (TablePart("audio encoder", modality="audio"),), half_chunk="n_window"
    ),
    "fun_asr_nano_encoder": RuntimeSinusoid(
        "tensor2tensor",
        (TablePart("audio encoder", modality="audio"),),
        skipped=1,
        width=("num_mel_bins", "num_stacked_frames"),
    ),
    "canary_decoder": RuntimeSinusoid("halves", (DECODER,), scaled=True),
    "whisper": WHISPER,
    **dict.fromkeys(("audioflamingo3_encoder", "moss_transcribe_diarize_audio"), AUDIO_ENCODER),
    **dict.fromkeys(("qwen2_audio_encoder", "voxtral_encoder"), AUDIO_ENCODER),
    "videoprism_text_model": RuntimeSinusoid("halves", (TablePart("text"),), stored=FILLED),
    "tipsv2_text_model": RuntimeSinusoid("tensor2tensor", (ENCODER,)),
}
# With use_learned_position_embeddings: false.
NOT_LEARNED = {"trocr": RuntimeSinusoid("tensor2tensor", (DECODER,), after_padding=True)}
OF_CLIPS = frozenset({"videomae"})  # Number patches through all frames of a clip.
OF_FRAMES = frozenset({"kimi_k25"})  # Number frames, beside a trained table of rows and columns.


@dataclass(frozen=True)
class Head:
    """A kind of head for detection or segmentation.

    width: keys of config.json for the width of vectors; strides: that for the strides of feature
        maps, "" without one
    turns: whether coordinates are scaled to one whole turn (DETR) or counted from 0 (RT-DETR)
    """

    width: tuple[str, ...]
    strides: str
    turns: bool


HYBRID = Head(("encoder_hidden_dim",), "feat_strides", turns=False)

HEADS = {
    **dict.fromkeys(("rt_detr", "rt_detr_v2", "d_fine", "deimv2"), HYBRID),
    **dict.fromkeys(("pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4"), HYBRID),
    "mask2former": Head(("hidden_dim", "hidden_size"), "feature_strides", turns=True),
    "oneformer": Head(("hidden_dim", "hidden_size"), "strides", turns=True),
    "maskformer": Head(("d_model", "hidden_size"), "", turns=True),
}


def runtime_sinusoid(config: ModelConfig) -> RuntimeSinusoid | None:
    """The sinusoid that the family of ``config`` computes when the model runs; None for other
    families.
    """
    is_learned = config.flag("use_learned_position_embeddings") is not False
    return (FAMILIES if is_learned else NOT_LEARNED).get(config.family)
