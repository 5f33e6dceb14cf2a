"""Model families with mapped sinusoids whose modality or map is special."""

import re

# Conformers with an encoder of phonemes.
TEXT_ENCODERS = frozenset({"fastspeech2_conformer", "fastspeech2_conformer_with_hifigan"})
# Audio stacks without a bias: pattern for the name of the map, and prefix of their settings.
AUDIO = {
    "gemma3n_audio": (re.compile(r"(^|\.)relative_position_embedding\.pos_proj\.weight$"), "conf_"),
    "gemma4_audio": (re.compile(r"(^|\.)self_attn\.relative_k_proj\.weight$"), ""),
}
