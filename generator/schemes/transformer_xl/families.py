"""Model families of audio that map a sinusoid of the offset, with no bias beside it."""

import re

# For each family the learned map's name, and what stands before the names of its settings.
AUDIO = {
    "gemma3n_audio": (re.compile(r"(^|\.)relative_position_embedding\.pos_proj\.weight$"), "conf_"),
    "gemma4_audio": (re.compile(r"(^|\.)self_attn\.relative_k_proj\.weight$"), ""),
}
