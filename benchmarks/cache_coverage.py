"""What the atlas says that a decoder keeps of each position (`kv_cache.py`), against
the cache of transformers after small models of the published configs have read 20 and 30 tokens.

`python -m benchmarks.cache_coverage [NAME …]` takes every published config, or those whose ids have
one of the names. transformers keeps keys and values in place of some latents, and of a window one
position fewer than it sees.
"""

import gc
import logging
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks import models
from benchmarks.inputs import tokens
from benchmarks.layers_oracle import build
from benchmarks.shrink import shrink
from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.kv_cache import CachedLayers, kv_cache
from generator.checkpoints.model.layer_map import layer_map
from generator.contracts import Json, ModelConfig
from generator.encyclopedia.known_models import known_models
from generator.reading.find import look

LENGTHS = (20, 30)
SECONDS = 60
Held = Counter[tuple[int, ...]]  # Layers by the numbers that they hold at each length.


def observed(settings: Json) -> tuple[Json, Held]:
    """The small config, and what the cache of its model holds; of a layer with nothing, nothing.

    errors: any that its code raises
    """
    from transformers import CONFIG_MAPPING

    config = CONFIG_MAPPING[settings["model_type"]].from_dict(dict(settings))
    problem: Exception = LookupError("not built")
    for heads in (2, 4, None):
        small = shrink(settings, config, heads=heads)
        try:
            model = build(small.settings, small.path)
            sizes = [_held(model, length) for length in LENGTHS]
        except models.TooLongError:
            raise
        except Exception as error:  # noqa: BLE001 (of any model's code)
            problem = error
            continue
        of_layers = zip(*sizes, strict=True)
        return small.settings, Counter(each for each in of_layers if any(each))
    raise problem


def _held(model: Any, length: int) -> list[int]:
    import torch

    for part in model.modules():
        if hasattr(getattr(part, "config", None), "use_cache"):
            part.config.use_cache = True
    with torch.no_grad():
        found = model(input_ids=tokens(model, length), use_cache=True).past_key_values
    tensors = (
        [getattr(layer, name, None) for name in ("keys", "values")] for layer in found.layers
    )
    return [sum(one.numel() for one in pair if one is not None) for pair in tensors]


def expected(settings: Json) -> tuple[Held, ...]:
    """What the atlas says of the same: with a latent as it is, and as the keys and values that are
    made of it; empty where it is not known.
    """
    files = ConfigAlone(settings, "config")
    found = look(files)
    layers = layer_map(files, found.all, is_complete=found.is_complete)
    kept = kv_cache(files.resolved.config, layers)
    if kept is None:
        return ()
    return tuple(_total(kept, files.config.text_model, made) for made in (False, True))


def _total(kept: Sequence[CachedLayers], text: ModelConfig, made: bool) -> Held:
    total: Held = Counter()
    for one in kept:
        total[_at_lengths(one, text, made)] += one.count
    return total


def _at_lengths(one: CachedLayers, text: ModelConfig, made: bool) -> tuple[int, ...]:
    most = LENGTHS[-1] if one.positions is None else one.positions - 1
    # The key of an indexer is kept elsewhere.
    values = one.values - (text.count("index_head_dim") or 0)
    if one.is_latent and made:
        sizes = [
            text.whole(name) for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
        ]
        values = text.needed("n_heads") * sum(sizes)
    return tuple(values * min(length, most) for length in LENGTHS)


def main() -> None:
    """Print each config with its outcome, and the numbers of these."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    outcomes: Counter[str] = Counter()
    for model in known_models():
        if len(sys.argv) > 1 and not any(name in model.id for name in sys.argv[1:]):
            continue
        outcome, text = "not run", ""
        try:
            with models.limit(SECONDS):
                small, theirs = observed(model.settings)
                ours = expected(small)
            outcome = "agrees" if theirs in ours else "differs" if ours else "unknown"
            text = f"{ours} {dict(theirs)}" if outcome != "agrees" else ""
        except Exception as error:  # noqa: BLE001 (of any model's code)
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:90]}"
        outcomes[outcome] += 1
        sys.stdout.write(
            f"{model.id} ({model.settings.get('model_type')}): {outcome} {text}" + "\n"
        )
        gc.collect()
    sys.stdout.write(
        ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) + "\n"
    )


if __name__ == "__main__":
    main()
