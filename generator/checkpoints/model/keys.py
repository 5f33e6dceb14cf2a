"""Keys of files of settings: which of them concern position, and what a reading takes from each,
found by changing it.

What a changed key does not change was not read, whatever reads it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from generator.contracts import Json
from generator.contracts.model_config import DEEPEST, HEAD_DIM, SIZES

# Parts of names of settings that concern position, as in the config classes of transformers, in
# GGUF (gguf-py/gguf/constants.py of llama.cpp) and in params.json of Meta and Mistral.
OF_POSITION = re.compile(
    r"rope|rotary|(^|_)pos(ition|itional)?(_|s_|$|ition)|alibi|window|chunk|(^|_)(local|global)_"
    r"|nope|yarn|ntk|theta|(^|_)freq|mscale|(attn|attention)_temperature"
    r"|temperature_(scal|tun|len)|(^|_)sinks?(_|$)|sections?$|relative"
    r"|axes|layer_types|layers_block_type|attn_(factor|layer|bias|scale)|nextn"
    r"|attention_(bias_m|chunk|layer)|llama_4_scaling"
)
# What such a part means elsewhere.
OF_ELSE = re.compile(
    r"feed_forward|drop|loss|router|moe_|mlp_|experts|initializer|init_(std|scale)|_flash_|_id$"
    r"|logits?_|_view_|vocab|time_theta|^freq_dim$|^max_window_layers$|nextn_predict|prefill"
)
OF_ROPE = re.compile(r"rope|rotary|yarn")
# Of what follows from settings even where there are weights.
OF_FORMULA = re.compile(r"rope|rotary|alibi|nope|yarn|ntk|theta|mscale|attn_factor")
# Sizes of heads and kinds of layers, which may concern a rotation in a family that is not known.
OF_HEADS = re.compile(r"head_(size|dim)|key_length|hybrid|interleav")
# Which layers are of which kind, in the names of families.
OF_LAYERS = re.compile(r"interval|pattern|period|offset|every|attn|attention|layers")
# What config classes with a rotation take beside their fields, and what its section may hold
# (modeling_rope_utils.py of transformers).
IN_ROPE = frozenset(
    {"rope_theta", "rope_scaling", "rope_type", "type", "factor", "partial_rotary_factor",
     "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow",
     "short_factor", "long_factor", "short_mscale", "long_mscale", "low_freq_factor",
     "high_freq_factor", "mscale", "mscale_all_dim", "truncate", "mrope_section",
     "mrope_interleaved", "max_position_embeddings"}
)  # fmt: skip
# Names of the share of a head that is rotated.
SHARES = frozenset(
    {"partial_rotary_factor", "rotary_pct", "rotary_percent", "rotary_emb_fraction", "rope_pct"}
)
SIZE_NAMES = frozenset(name for names in SIZES.values() for name in names) | {*HEAD_DIM}
MOST_TRIED = 512
# Added to settings that were read from another file: as in ``ModelConfig``.
OF_FILE = (KEYS_OF_FILE, UNREAD_KEYS, PROGRAM) = ("keys_of_file", "unread_keys", "program")
FAMILY = "model_type"
Path = tuple[str, ...]


def traced(given: Json, read: Callable[[Json], Json | None], program: str) -> Json | None:
    """``read(given)``, with ``OF_FILE``, empty for more than ``MOST_TRIED`` keys; None where
    that is None.

    program: which reads such files, and has defaults of its own
    """
    settings, own = read(given), list(leaves(given))
    if settings is None:
        return None
    if len(own) > MOST_TRIED:
        return {**settings, KEYS_OF_FILE: {}, UNREAD_KEYS: {}, PROGRAM: program}
    before = dict(leaves(settings))
    by_setting: dict[str, dict[str, Any]] = {}
    unread = {}
    for path, value in own:
        name, is_read = dotted(path), False
        for other in others(value):
            changed = read(with_value(given, path, other)) or {}
            if FAMILY in settings and FAMILY not in changed:  # That value is none that is read.
                is_read = True
                continue
            after = dict(leaves(changed))
            differing = [at for at in before.keys() | after if before.get(at) != after.get(at)]
            for at in differing:
                by_setting.setdefault(dotted(at), {})[name] = value
            if differing:
                is_read = True
                break
        concerns = concerns_position(path) or OF_HEADS.search(name)
        if not is_read and concerns and value:
            unread[name] = value
    return {**settings, KEYS_OF_FILE: by_setting, UNREAD_KEYS: unread, PROGRAM: program}


def leaves(settings: Json, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every setting that is no nested one, by its path."""
    for name, value in settings.items():
        if isinstance(value, Mapping) and len(path) <= DEEPEST:
            yield from leaves(value, (*path, name))
        else:
            yield (*path, name), value


def dotted(path: Path) -> str:
    """A path as pages show it."""
    return ".".join(path)


def at(settings: Any, path: Sequence[str]) -> Any:
    """What stands at a path."""
    for name in path:
        settings = settings[name]
    return settings


def with_value(settings: Json, path: Path, value: Any) -> Json:
    """``settings`` with another value at ``path``."""
    name, *inner = path
    return {**settings, name: with_value(settings[name], tuple(inner), value) if inner else value}


def others(value: Any) -> Iterator[Any]:
    """Other values of the same type."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield 2 * value or 1
        yield value // 2 if isinstance(value, int) else value / 2
    elif isinstance(value, str):
        yield f"{value}_"
    elif isinstance(value, list | tuple) and value:
        items: Any = value
        yield items[1:] + items[:1]
        yield items[:-1]
    else:
        yield 1


def concerns_position(path: Path) -> bool:
    """Whether the name at the end of a path, or one of a rotation around it, says so."""
    *around, name = path
    *_, last = name.split(".")
    if OF_ELSE.search(last):
        return False
    parts = (*around, *name.split(".")[:-1])
    return OF_POSITION.search(last) is not None or any(map(OF_ROPE.search, parts))


def may_matter(path: Path, value: Any) -> bool:
    """Whether a setting may change what an encoding is or which layers have it."""
    is_of_layers = isinstance(value, list | tuple) or OF_LAYERS.search(path[-1]) is not None
    return concerns_position(path) or path[-1] in SIZE_NAMES or is_of_layers
