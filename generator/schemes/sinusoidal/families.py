"""Model families whose code makes sinusoids that no tensor holds, and how."""

from dataclasses import dataclass

from generator.contracts import ModelConfig
from generator.encodings import SinusoidLayout

Lengths = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Made:
    """How a family makes its table.

    lengths: for each part, the keys of config.json that add up to its number of positions (its usual ones if none is given)
    after_padding: whether the first position has the angles of pad_token_id + 1, as in fairseq
    skipped: how many of these positions come before the first in use
    scaled: whether the values are divided by the square root of the width
    width: the keys whose product is the width (the usual one if none is given)
    """

    layout: SinusoidLayout
    lengths: Lengths
    after_padding: bool = False
    cosines_first: bool = False
    skipped: int = 0
    scaled: bool = False
    width: tuple[str, ...] = ()


ENCODER: Lengths = (("encoder", ()),)
DECODER: Lengths = (("decoder", ()),)
BOTH: Lengths = (("encoder", ()), ("decoder", ()))
SPEECH: Lengths = (("encoder", ("max_source_positions",)), ("decoder", ("max_target_positions",)))
SERIES: Lengths = tuple((part, ("context_length", "prediction_length")) for part in ("encoder", "decoder"))
SOUND = Made("tensor2tensor", (("audio encoder", ("max_source_positions",)),))
DECLARED = Made("interleaved", ENCODER)  # What a config means that has a setting for a sinusoid, and a family that is not here.
FAMILIES = {
    "ctrl": Made("halves", DECODER),
    "marian": Made("halves", BOTH),
    "pegasus": Made("halves", BOTH),
    "pegasus_x": Made("tensor2tensor", BOTH),
    "informer": Made("halves", SERIES),
    "autoformer": Made("halves", SERIES),
    "time_series_transformer": Made("halves", SERIES),
    "m2m_100": Made("tensor2tensor", BOTH, after_padding=True),
    "nllb-moe": Made("tensor2tensor", BOTH, after_padding=True),
    "fsmt": Made("tensor2tensor", BOTH, after_padding=True),
    "xglm": Made("tensor2tensor", DECODER, after_padding=True),
    "kosmos_2_text_model": Made("tensor2tensor", DECODER, after_padding=True),
    "kosmos_2_5_text_model": Made("tensor2tensor", DECODER, after_padding=True),
    "speech_to_text": Made("tensor2tensor", SPEECH, after_padding=True),
    "speecht5": Made(
        "tensor2tensor", (("speech encoder", ("max_speech_positions",)), ("text decoder", ("max_text_positions",))), after_padding=True
    ),
    "seamless_m4t": Made("tensor2tensor", (("text encoder", ()), ("text decoder", ())), after_padding=True),
    "seamless_m4t_v2": Made("tensor2tensor", (("text encoder", ()), ("text decoder", ())), after_padding=True),
    "musicgen_decoder": Made("tensor2tensor", DECODER, cosines_first=True),
    "musicgen_melody_decoder": Made("tensor2tensor", DECODER, cosines_first=True),
    "qwen2_5_omni_audio_encoder": SOUND,
    "qwen3_omni_moe_audio_encoder": SOUND,
    "qwen3_asr_encoder": Made("tensor2tensor", (("audio encoder", ()),)),
    "fun_asr_nano_encoder": Made("tensor2tensor", (("audio encoder", ()),), skipped=1, width=("num_mel_bins", "num_stacked_frames")),
    "canary_decoder": Made("halves", DECODER, scaled=True),
    "tipsv2_text_model": Made("tensor2tensor", ENCODER),
}
NOT_LEARNED = {"trocr": Made("tensor2tensor", DECODER, after_padding=True)}  # Where a setting says that the table is not learned.
OF_CLIPS = frozenset({"videomae"})  # Add a sinusoid to patches that are counted through all frames of a clip.


@dataclass(frozen=True)
class Head:
    """What a head for detection or segmentation calls the width of its vectors and the strides of its feature maps.

    turns: whether coordinates are scaled to one whole turn (DETR) rather than counted from 0 (RT-DETR)
    """

    width: tuple[str, ...]
    strides: str
    turns: bool


HYBRID = Head(("encoder_hidden_dim",), "feat_strides", turns=False)
MASKS = Head(("hidden_dim", "hidden_size"), "feature_strides", turns=True)
HEADS = {
    **dict.fromkeys(("rt_detr", "rt_detr_v2", "d_fine", "deimv2", "pp_doclayout_v2", "pp_doclayout_v3", "pp_doclayout_v4"), HYBRID),
    "mask2former": MASKS,
    "oneformer": Head(("hidden_dim", "hidden_size"), "strides", turns=True),
    "maskformer": Head(("d_model", "hidden_size"), "", turns=True),
}


def made_by(config: ModelConfig) -> Made | None:
    """How the family of ``config`` makes its table, if it does."""
    return (NOT_LEARNED if config.flag("use_learned_position_embeddings") is False else FAMILIES).get(config.family)
