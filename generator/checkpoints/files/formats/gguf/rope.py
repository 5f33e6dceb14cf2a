"""The rotation in the settings and the tensors of a GGUF file, in the words of transformers."""

import math
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.gguf import architectures
from generator.checkpoints.files.formats.gguf.header import Header, Unread, positive
from generator.checkpoints.model.resolved import defaults
from generator.encodings.rotations import STORED
from generator.numerics.arrays import Floats

BASE = 10_000.0  # Where a file gives none (llama-model.cpp of llama.cpp).
FACTORS, SHORT, LONG = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"
# Context before the scaling of Llama 3; the converter takes it for that of any model.
TRAINED = 8192
USUAL = ((1.0, 4.0), (1.0, 1.0))  # Edges of Llama 3.1 and of Llama 4 Scout.
TOLERANCE = 1e-5  # Stored factors were computed in single precision.
SHARE = "partial_rotary_factor"
UNTURNED = 1e9  # A factor that leaves a pair without a rotation; 1e30 in Gemma 4.


def rope_settings(
    header: Header, architecture: str, settings: Mapping[str, Any], tensor: Callable[[str], Floats]
) -> dict[str, Any]:
    """``rope_parameters`` and what belongs to them, with the defaults of llama.cpp for what the
    file leaves out; empty for a family without a rotation, and for one that is not known and of
    whose rotation the file says nothing.

    settings: sizes and model type as found so far
    """
    given = {
        key.removeprefix(f"{architecture}.rope."): value
        for key, value in header.settings.items()
        if key.startswith(f"{architecture}.rope.") and not isinstance(value, Unread)
    }
    is_said = bool(given or {FACTORS, SHORT} & header.spans.keys())
    is_said |= bool(defaults(settings["model_type"]).get("rope_parameters"))
    if not is_said or settings.get("qk_rope_head_dim") == 0:
        return {}
    share = _share(given, settings)
    if architecture in architectures.HALF_TURNED:
        share, tensor = _half(share, tensor)
    rope = {"rope_theta": given.get("freq_base", BASE), **share}
    rope |= _scaling(given, architecture)
    rope |= _stored(header, rope, given, settings, tensor)
    rope |= _sections(given, architecture)
    rope |= _temperature(header, architecture, rope)
    top = (
        {"original_max_position_embeddings": rope["original_max_position_embeddings"]}
        if "long_factor" in rope
        else {}
    )
    local = _local(given, architecture, settings)
    if local is None:
        return {"rope_parameters": rope, **top}
    return {"rope_parameters": {"full_attention": rope, "sliding_attention": local}}


def _local(
    given: Mapping[str, Any], architecture: str, settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The rotation in layers with a window; None where it is that of the others, or not said."""
    base = given.get("freq_base_swa")
    if base is None and architecture in architectures.BY_KIND:
        base = BASE
    elif (
        base is None
        and architecture in architectures.UNSCALED_WINDOWS
        and settings.get("sliding_window")
    ):
        base = architectures.UNSCALED_WINDOWS[architecture] or given.get("freq_base", BASE)
    if base is None:
        return None
    # As many as in the other layers, where no key says so (llama-model.cpp).
    turned = given.get("dimension_count_swa", given.get("dimension_count"))
    own = {name: size for name, size in settings.items() if name != "global_head_dim"}
    share = _share({"dimension_count": turned}, own)
    return {"rope_type": "default", "rope_theta": base, **share}


def llama3_factors(
    wavelengths: Floats, factor: float, low: float, high: float, trained: float
) -> Floats:
    """What llama3 scaling divides frequencies by: (n_pairs,), from 1 to ``factor``.

    wavelengths: (n_pairs,), in positions
    """
    turns = trained / wavelengths
    smooth = (turns - low) / (high - low) if high > low else np.zeros_like(turns)
    with np.errstate(all="ignore"):  # Beyond the edges, where it is not taken.
        between = 1.0 / ((1.0 - smooth) / factor + smooth)
    return np.where(turns > high, 1.0, np.where(turns < low, factor, between))


def _share(given: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, float]:
    """The share of rotated components of a head: all, where the file does not give their number
    (llama-model.cpp), whatever the family has in transformers; empty where a setting of latent
    attention gives it.
    """
    sizes = (
        settings.get(name)
        for name in ("global_head_dim", "head_dim", "hidden_size", "num_attention_heads")
    )
    full, head_dim, width, heads = (positive(size) for size in sizes)
    head_dim = full or head_dim or (width // heads if width and heads else None)
    turned = positive(given.get("dimension_count"))
    if "qk_rope_head_dim" in settings:
        return {}
    if given.get("dimension_count") is None:
        return {SHARE: 1.0}
    if not turned or not head_dim or turned > head_dim:
        return {}
    share = turned / head_dim
    return {SHARE: (share if int(share * head_dim) == turned else math.nextafter(share, 1.0))}


def _half(
    share: Mapping[str, float], tensor: Callable[[str], Floats]
) -> tuple[dict[str, float], Callable[[str], Floats]]:
    """Half of the rotated components, which have the first of the stored factors."""

    def first(name: str) -> Floats:
        factors = tensor(name)
        return factors[: len(factors) // 2]

    return {SHARE: share.get(SHARE, 1.0) / 2}, first


def _scaling(given: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    factor = given.get("scaling.factor", given.get("scale_linear"))
    kind = given.get("scaling.type", "linear")
    if kind == "none" or (kind in ("linear", "yarn") and factor in (None, 0.0, 1.0)):
        return {"rope_type": "default"}
    read = architectures.READ_OF_YARN.get(architecture, ())
    mixed = given.get("scaling.yarn_ext_factor", 1.0) if "yarn_ext_factor" in read else 1.0
    if kind != "yarn":
        return {"rope_type": kind, "factor": factor}
    mixed_kinds = {-1.0: "yarn", 0.0: "linear", 1.0: "yarn"}  # by the share of YaRN's ramp (ggml)
    kind = mixed_kinds.get(mixed, f"yarn with yarn_ext_factor {mixed:g}")
    return {"rope_type": kind, "factor": factor, **_yarn(given, architecture, read)}


def _yarn(given: Mapping[str, Any], architecture: str, read: Container[str]) -> dict[str, Any]:
    """What llama.cpp takes beside the factor, whose ramp always ends at pairs (ggml.c)."""
    rope: dict[str, Any] = {
        end: given[key] if f"yarn_{end}" in read else usual
        for end, usual in architectures.RAMP.items()
        if (key := f"scaling.yarn_{end}") in given
    }
    if "scaling.original_context_length" in given:
        rope["original_max_position_embeddings"] = given["scaling.original_context_length"]
    logits, slowed = (
        positive(given.get("scaling.attn_factor")),
        positive(given.get("scaling.factor")),
    )
    is_said = logits or (
        "scaling.yarn_attn_factor" in given and architecture not in architectures.LOG_MULTIPLIED
    )
    if is_said and slowed:  # It multiplies by the former what YaRN has without one.
        rope["attention_factor"] = (logits or 1.0) * (0.1 * math.log(slowed) + 1.0)
    return rope


def _stored(
    header: Header,
    rope: Mapping[str, Any],
    given: Mapping[str, Any],
    settings: Mapping[str, Any],
    tensor: Callable[[str], Floats],
) -> dict[str, Any]:
    """A scaling with a factor for each pair, which is stored as a tensor."""
    trained = given.get("scaling.original_context_length")
    if {SHORT, LONG} <= header.spans.keys():
        names = architectures.MAGNITUDES.get(
            header.text("general.architecture"), ("attention_factor",)
        )
        factor = (
            dict.fromkeys(names, given["scaling.attn_factor"])
            if "scaling.attn_factor" in given
            else {}
        )
        lists = {"short_factor": tensor(SHORT).tolist(), "long_factor": tensor(LONG).tolist()}
        before = settings.get("max_position_embeddings") if trained is None else trained
        return {
            "rope_type": "longrope",
            **lists,
            "original_max_position_embeddings": before,
            **factor,
        }
    if FACTORS not in header.spans:
        return {}
    found = recognised(
        tensor(FACTORS), positive(rope["rope_theta"]) or BASE, positive(trained) or TRAINED
    )
    return (
        {"rope_type": f"{rope['rope_type']} and {found['rope_type']}"}
        if found and rope["rope_type"] != "default"
        else found
    )


def recognised(factors: Floats, base: float, trained: float) -> dict[str, Any]:
    """The scaling of transformers that divides the frequencies by ``factors`` (n_pairs,):
    ``STORED``, with the factors, where none does, and empty where they change nothing.

    Llama 3's has four parameters, and multiplying three of them changes nothing: ``trained`` is
    given, and the edges are those of published models.
    """
    largest, n_pairs = float(factors.max(initial=1.0)), len(factors)
    if np.all(factors == 1.0):
        return {}
    n_turned = int(np.argmax(factors >= UNTURNED))
    if n_turned and np.all(factors[:n_turned] == 1.0) and np.all(factors[n_turned:] >= UNTURNED):
        return {"rope_type": "proportional", "partial_rotary_factor": n_turned / n_pairs}
    with np.errstate(over="ignore"):
        wavelengths = 2.0 * math.pi * float(base) ** (np.arange(n_pairs) / n_pairs)
    for low, high in USUAL:
        if np.allclose(
            llama3_factors(wavelengths, largest, low, high, trained),
            factors,
            rtol=TOLERANCE,
            atol=0.0,
        ):
            edges = {
                "low_freq_factor": low,
                "high_freq_factor": high,
                "original_max_position_embeddings": int(trained),
            }
            return {"rope_type": "llama3", "factor": largest, **edges}
    return {"rope_type": STORED, "factors": factors.tolist()}


def _sections(given: Mapping[str, Any], architecture: str) -> dict[str, Any]:
    """Numbers of pairs for time, height and width (arXiv 2409.12191, section 2.1), and for a fourth
    axis where all have some.
    """
    sections = given.get("dimension_sections")
    if not isinstance(sections, tuple) or len(sections) < 3 or not any(sections[1:3]):
        return {}
    return {
        "mrope_section": list(sections[: 4 if all(sections) else 3]),
        **({"mrope_interleaved": True} if architecture in architectures.INTERLEAVED else {}),
    }


def _temperature(header: Header, architecture: str, rope: Mapping[str, Any]) -> dict[str, Any]:
    """Growth of the logits with the position (Ministral 3), and what latent attention adds to
    YaRN.
    """
    added: dict[str, Any] = {}
    scale = positive(header.settings.get(f"{architecture}.attention.temperature_scale"))
    if scale and "original_max_position_embeddings" in rope:
        added["llama_4_scaling_beta"] = scale
    multiplier = header.settings.get(f"{architecture}.rope.scaling.yarn_log_multiplier")
    is_read = architecture in architectures.LOG_MULTIPLIED and rope["rope_type"] == "yarn"
    if is_read and isinstance(multiplier, float) and multiplier:
        share = multiplier
        if architecture not in architectures.PLAINLY_MULTIPLIED:
            share = float(f"{multiplier / 0.1:.6g}")
        # llama.cpp takes 1 for the other one, but for DeepSeek's (llama-context.cpp).
        added |= {"mscale": share if architecture == "deepseek2" else 1.0, "mscale_all_dim": share}
    return added
