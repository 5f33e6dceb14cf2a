"""Sinusoids that no tensor holds: the families whose code makes them, and how."""

from dataclasses import dataclass

from generator.checkpoints.model.config_json import family
from generator.contracts import Json
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
HEARD = Made("tensor2tensor", (("audio encoder", ("max_source_positions",)),))
DECLARED = Made("interleaved", ENCODER)  # What a config means that asks for a sinusoid without naming a family here.
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
    "qwen2_5_omni_audio_encoder": HEARD,
    "qwen3_omni_moe_audio_encoder": HEARD,
    "qwen3_asr_encoder": Made("tensor2tensor", (("audio encoder", ()),)),
    "fun_asr_nano_encoder": Made("tensor2tensor", (("audio encoder", ()),), skipped=1, width=("num_mel_bins", "num_stacked_frames")),
    "canary_decoder": Made("halves", DECODER, scaled=True),
    "tipsv2_text_model": Made("tensor2tensor", ENCODER),
}
TOLD_NOT_TO_LEARN = {"trocr": Made("tensor2tensor", DECODER, after_padding=True)}


def made_by(config: Json) -> Made | None:
    """How the family of ``config`` makes its table, if it does."""
    if config.get("use_learned_position_embeddings") is False:
        return TOLD_NOT_TO_LEARN.get(family(config))
    return FAMILIES.get(family(config))


def first_angle(config: Json, how: Made) -> int:
    """The number whose angles the first position has."""
    padding = config.get("pad_token_id")
    if not how.after_padding:
        return how.skipped
    return padding + 1 if isinstance(padding, int) and not isinstance(padding, bool) and 0 <= padding < 2**20 else 2
