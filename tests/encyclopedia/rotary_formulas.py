"""Frequencies of rotations by their settings, as papers give them, in double precision, without
numpy, torch, transformers, or anything of the atlas.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

Rope = Mapping[str, Any]


def plain(rope: Rope, dim: int) -> list[float]:
    """Su et al. 2021 (arXiv 2104.09864), section 3.2.2."""
    return [rope["rope_theta"] ** (-2 * pair / dim) for pair in range(dim // 2)]


def linear(rope: Rope, dim: int) -> list[float]:
    """Chen et al. 2023 (arXiv 2306.15595), equation 4: positions divided by the factor."""
    return [frequency / rope["factor"] for frequency in plain(rope, dim)]


def dynamic(rope: Rope, dim: int) -> list[float]:
    """No change up to the configured context; with a fixed alpha, as in modeling_hunyuan.py of
    tencent/Hunyuan-A13B-Instruct, a base × alpha^(d / (d − 2)).
    """
    alpha = rope.get("alpha") or 1.0
    return plain({"rope_theta": rope["rope_theta"] * alpha ** (dim / (dim - 2))}, dim)


def ntk(rope: Rope, dim: int) -> list[float]:
    """Su Jianlin 2023 (https://kexue.fm/archives/9706), equation 6."""
    return [
        frequency * rope["factor"] ** (-2 * (pair + 1) / dim)
        for pair, frequency in enumerate(plain(rope, dim))
    ]


def proportional(rope: Rope, dim: int) -> list[float]:
    """Gemma 4: the pairs of a rotation of the whole head, of which the slow ones rest."""
    turning = round(rope["partial_rotary_factor"] * dim) // 2
    return [
        frequency / rope.get("factor", 1.0) if pair < turning else 0.0
        for pair, frequency in enumerate(plain(rope, dim))
    ]


def llama3(rope: Rope, dim: int) -> list[float]:
    """apply_scaling of models/llama3/reference_impl/model.py of meta-llama/llama-models."""
    names = ("factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor")
    factor, original, low, high = (float(rope[name]) for name in names)

    def scaled(frequency: float) -> float:
        turns = original * frequency / (2 * math.pi)
        if turns > high:
            return frequency
        kept = (turns - low) / (high - low) if turns > low else 0.0
        return (1 - kept) * frequency / factor + kept * frequency

    return [scaled(frequency) for frequency in plain(rope, dim)]


def yarn(rope: Rope, dim: int) -> list[float]:
    """Peng et al. 2023 (arXiv 2309.00071), section 3.2, with the bounds of the ramp in whole pairs
    as in the authors' code, unless ``truncate`` is false.
    """
    original, base = rope["original_max_position_embeddings"], rope["rope_theta"]

    def turning(turns: float) -> float:
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = turning(rope.get("beta_fast") or 32), turning(rope.get("beta_slow") or 1)
    if rope.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    ramp = [min(max((pair - low) / (high - low), 0.0), 1.0) for pair in range(dim // 2)]
    return [
        frequency * (1 - slowed) + frequency / rope["factor"] * slowed
        for frequency, slowed in zip(plain(rope, dim), ramp, strict=True)
    ]


def longrope(rope: Rope, dim: int, *, longer: bool) -> list[float]:
    """Ding et al. 2024 (arXiv 2402.13753), equation 2: each pair has a factor of its own, and texts
    beyond the original length have others.
    """
    factors = rope["long_factor" if longer else "short_factor"]
    return [frequency / factor for frequency, factor in zip(plain(rope, dim), factors, strict=True)]


def attention_factor(rope: Rope, context: int | None) -> float:
    """Of cosine and sine: √(1 + ln s / ln L) for LongRoPE (Ding et al., section 3.3; L: original
    length), 0.1 ln s + 1 for YaRN (Peng et al., equation 22), or with DeepSeek's ``mscale``, the
    ratio of two such; the given one, if any.
    """
    given = rope.get("attention_factor")
    if given is not None or rope["rope_type"] not in ("yarn", "longrope"):
        return given or 1.0
    original = rope["original_max_position_embeddings"]
    scale = rope.get("factor") or (context or original) / original
    if rope["rope_type"] == "longrope":
        return math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0

    def larger(share: float) -> float:
        return 0.1 * share * math.log(scale) + 1.0 if scale > 1 else 1.0

    if rope.get("mscale") and rope.get("mscale_all_dim"):
        return larger(rope["mscale"]) / larger(rope["mscale_all_dim"])
    return larger(1.0)


FORMULAS: Mapping[str, Callable[[Rope, int], list[float]]] = {
    "default": plain, "linear": linear, "dynamic": dynamic, "ntk": ntk, "yarn": yarn,
    "llama3": llama3, "proportional": proportional,
}  # fmt: skip


def rotation(given: Mapping[str, Any], context: int | None) -> tuple[list[float], float]:
    """Frequencies and factor of a rotation in a file of expected values, by its settings alone."""
    rope, dim = given["rope_parameters"], given["rotary_dim"]
    if given["formula"] == "longrope":
        frequencies = longrope(rope, dim, longer=given["lengths"][0] > 1)
    else:
        frequencies = FORMULAS[given["formula"]](rope, dim)
    return frequencies, attention_factor(rope, context)
