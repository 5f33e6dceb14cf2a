"""Model families with a mapped sinusoid of the offset, as far as their tensors do not show what it is of."""

import re

TEXT_ENCODERS = frozenset({"fastspeech2_conformer", "fastspeech2_conformer_with_hifigan"})  # Conformers whose encoder reads phonemes.
# Of audio, with no bias beside the map: for each family the learned map's name, and what stands before the names of its settings.
AUDIO = {
    "gemma3n_audio": (re.compile(r"(^|\.)relative_position_embedding\.pos_proj\.weight$"), "conf_"),
    "gemma4_audio": (re.compile(r"(^|\.)self_attn\.relative_k_proj\.weight$"), ""),
}
