"""Rotary position encoding: queries and keys rotated by angles proportional to position."""

import json
import logging
import math
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from generator.cache import precomputed
from generator.cache.fingerprint import of_parts
from generator.encodings.form import Form
from generator.errors import RowError
from generator.libraries import light_transformers, refusal, rotary_initialisers, spares_torch
from generator.numerics.arrays import Floats, frozen, offsets_between
from generator.text import as_json

# Kinds of scaling that transformers lacks: that of configs of GTE, and a list of factors, one for
# each pair, as GGUF files may store.
FIXED_NTK, STORED = "ntk", "stored"
# The kind whose pairs turn as those of a rotation of the whole head do, of which it keeps the
# fastest.
OF_WHOLE_HEAD = "proportional"


def plain(value: object) -> object:
    """``value`` from a config file as JSON can hold it: a number that is not finite, or anything
    else that JSON lacks, as text.
    """
    match value:
        case Mapping():
            return {str(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
    return str(value)


def yarn_magnitude(scaling: Mapping[str, object]) -> float | None:
    """The factor on all logits of latent attention, by ``mscale_all_dim`` and ``factor`` of a
    scaling; None without one.

    Source: modeling_deepseek_v3.py of transformers
    """
    share, factor = (scaling.get(key) for key in ("mscale_all_dim", "factor"))
    if not isinstance(share, float | int) or not isinstance(factor, float | int):
        return None
    if not share > 0.0 or not 1.0 < factor < math.inf:
        return None
    return yarn_factor(factor, share) ** 2


def yarn_factor(factor: float, share: float = 1.0) -> float:
    """What YaRN multiplies sine and cosine by: 0.1 · share · ln factor + 1, and 1 where it does not
    slow (Peng et al. 2023, arXiv 2309.00071, equation 22).
    """
    return 0.1 * float(share) * math.log(factor) + 1.0 if factor > 1.0 else 1.0


@dataclass(frozen=True, eq=False)
class Rotation(Form):
    """Rotation of pairs of query and key components by an angle proportional to position (Su et al.
    2021, arXiv 2104.09864).

    rotary_dim of the head_dim components of each head are rotated; scaling: the checkpoint's
    parameters of a rescaling rule
    step: frequency of the fastest pair before scaling, in radians per position
    window: positions visible to one side in these layers, the query's included; None for the whole
        context
    rescaled: frequencies (n_pairs,) and attention factor, computed by transformers beforehand
    is_length_known: whether the model takes ``n_positions``; otherwise so many are shown
    keeps_short: whether LongRoPE turns texts of any length by the factors for short ones
    """

    base: float
    rotary_dim: int
    head_dim: int
    n_positions: int
    scaling: Mapping[str, object] = field(default_factory=dict)
    step: float = 1.0
    window: int | None = None
    rescaled: tuple[Floats, float] | None = None
    is_length_known: bool = True
    keeps_short: bool = False
    noun = "a rotation"
    acts_in = "queries and keys"
    quantity = "mean cosine of the angles"
    grid = make_reference = None
    is_symmetric = depends_on_offset = True

    @property
    def numbers(self) -> Floats:
        """Frequencies after scaling: (n_pairs,), radians per position."""
        return self.frequencies

    @property
    def parameters(self) -> Mapping[str, object]:
        """Base, components, scaling rule, factor, frequencies in radians per position, and the
        window in positions.
        """
        return {
            "base": self.base,
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "scaling": plain(self.scaling) if self.is_rescaled else None,
            "attention_factor": self.attention_factor,
            "inverse_frequencies": self.frequencies.tolist(),
            "window": self.window,
        }

    @property
    def extent(self) -> int:
        """Positions of the configured context."""
        return self.n_positions

    @property
    def reach(self) -> int:
        """Number of visible positions that these frequencies turn: the least of the context, the
        window and the short texts; offsets go up to one less.
        """
        return min(
            length for length in (self.n_positions, self.window, self.short) if length is not None
        )

    @property
    def short(self) -> int | None:
        """Length of the longest texts with these frequencies, where LongRoPE turns longer ones by
        others; None without such a limit.
        """
        trained = self.scaling.get("original_max_position_embeddings")
        switches = self.rope_type == "longrope" and not self.keeps_short
        return trained if switches and isinstance(trained, int) and trained > 0 else None

    @property
    def has_two_lists(self) -> bool:
        """Whether LongRoPE slows pairs in longer texts by other ratios than in shorter ones."""
        return self.scaling.get("short_factor") != self.scaling.get("long_factor")

    @property
    def long_factors(self) -> tuple[float, ...]:
        """The ratios by which LongRoPE slows each pair in texts longer than ``short``: (n_pairs,);
        empty where there is no such limit, or not a number for each pair.
        """
        given = self.scaling.get("long_factor")
        if self.short is None or not isinstance(given, Sequence) or isinstance(given, str):
            return ()
        factors = tuple(float(each) for each in given if isinstance(each, int | float))
        return factors if len(factors) == len(given) == self.rotary_dim // 2 else ()

    @cached_property
    def unscaled_frequencies(self) -> Floats:
        """step · base^(−2j / rotary_dim): (n_pairs,), radians per position."""
        return frozen(
            self.step * self.base ** (-2.0 * np.arange(self.rotary_dim // 2) / self.rotary_dim)
        )

    @property
    def rope_type(self) -> str:
        """Name of the rule that rescales the frequencies; "default" without one."""
        return str(self.scaling.get("rope_type", self.scaling.get("type", "default")))

    @property
    def is_rescaled(self) -> bool:
        """Whether ``frequencies`` and ``attention_factor`` need transformers, and with it torch."""
        return self.rope_type != "default"

    @property
    def is_scaled(self) -> bool:
        """Whether its rule does more than to take a share of the pairs of a head."""
        is_share = self.rope_type == OF_WHOLE_HEAD and self.scaling.get("factor") in (None, 1)
        return self.is_rescaled and not is_share

    @property
    def has_fixed_alpha(self) -> bool:
        """Whether the base is multiplied by a power of a fixed ``alpha``, which HunYuan calls
        dynamic, too.
        """
        return self.rope_type == "dynamic" and bool(self.scaling.get("alpha"))

    @property
    def growth(self) -> float | None:
        """The factor by which its base grows in texts beyond its positions (dynamic NTK); None
        where it does not.
        """
        factor = self.scaling.get("factor", 1.0)
        is_growing = self.rope_type == "dynamic" and not self.has_fixed_alpha
        return float(factor) if is_growing and isinstance(factor, int | float) else None

    @property
    def settled(self) -> "Rotation":
        """This rotation with its rescaled frequencies computed, so that it no longer needs
        transformers.
        """
        return replace(self, rescaled=self._rescaled) if self.is_rescaled else self

    @cached_property
    def frequencies(self) -> Floats:
        """Frequencies after scaling, without pairs that it stops: (n_pairs,), radians per position.

        errors: RowError when transformers has no such rule, or when it gives no frequencies
        """
        return self._rescaled[0] if self.is_rescaled else self.unscaled_frequencies

    @cached_property
    def attention_factor(self) -> float:
        """Factor on sine and cosine, part of some scaling rules; 1 without one."""
        return self._rescaled[1] if self.is_rescaled else 1.0

    @cached_property
    def _rescaled(self) -> tuple[Floats, float]:
        """Frequencies (n_pairs,), radians per position, and attention factor.

        errors: RowError when transformers has no such rule, or when it gives no frequencies
        """
        if self.rescaled is not None:
            return self.rescaled
        try:
            frequencies, attention_factor = self._by_rule()
            if not frequencies.size or not np.all(np.isfinite(frequencies) & (frequencies > 0.0)):
                raise ValueError("a frequency is not positive and finite")
            if not math.isfinite(attention_factor):
                raise ValueError("the factor on attention is not finite")
        # Validators and arithmetic of transformers raise errors of any kind.
        except Exception as error:
            raise RowError(
                f"rotary scaling {as_json(dict(self.scaling), 120)} cannot be computed:"
                f" {refusal(error, 200)}; expected all settings of a kind that transformers knows"
            ) from error
        return frozen(frequencies), attention_factor

    @property
    def is_of_known_kind(self) -> bool:
        """Whether transformers or this atlas has the rule of its scaling."""
        return self.rope_type in ("default", FIXED_NTK, STORED) or (
            self.rope_type in light_transformers("modeling_rope_utils").ROPE_INIT_FUNCTIONS
        )

    def _by_rule(self) -> tuple[Floats, float]:
        """As ``_rescaled``. errors: of any kind, for settings that the rule does not have"""
        if self.has_fixed_alpha:
            return self._by_alpha(), 1.0
        if self.rope_type == FIXED_NTK:
            return self._by_factor(), 1.0
        if self.rope_type == STORED:  # Divided by the factor of each pair.
            factors: Any = self.scaling["factors"]
            pairs = zip(self.unscaled_frequencies, factors, strict=True)
            return np.array([frequency / factor for frequency, factor in pairs]), 1.0
        kinds = light_transformers("modeling_rope_utils").ROPE_INIT_FUNCTIONS
        if self.rope_type not in kinds:
            names = ", ".join(sorted({*kinds, FIXED_NTK, STORED}))
            raise ValueError(f"the kinds are {names}")
        return self._by_transformers()

    def _by_alpha(self) -> Floats:
        """Frequencies with the base multiplied by alpha^(d / (d − 2)), as in HunYuan: (n_pairs,),
        radians per position.
        """
        alpha: Any = self.scaling["alpha"]
        if alpha < 0.0:
            raise ValueError("alpha is negative")
        base = self.base * alpha ** (self.rotary_dim / (self.rotary_dim - 2))
        exponents = -2.0 * np.arange(self.rotary_dim // 2) / self.rotary_dim
        return np.asarray(self.step * base**exponents)

    def _by_factor(self) -> Floats:
        """Frequencies with the base multiplied by the factor, and all divided by its power 2 / d,
        as in GTE: (n_pairs,), radians per position.

        Formula: Su Jianlin 2023 (https://kexue.fm/archives/9706), equation 6; the last pair is
            slowed by the whole factor.
        """
        if self.scaling.get("mixed_b") is not None:
            raise ValueError("mixed_b is not known")
        factor: Any = self.scaling["factor"]
        exponents = -2.0 * np.arange(1, self.rotary_dim // 2 + 1) / self.rotary_dim
        return np.asarray(self.unscaled_frequencies * np.float64(factor) ** exponents)

    def _by_transformers(self) -> tuple[Floats, float]:
        """Frequencies (n_pairs,) and attention factor by transformers' rotary initialiser: those
        shipped where a published model has them, for which torch need not be imported.
        """
        shipped = None if spares_torch() else precomputed.rescaled().get(self.initialised_by)
        if shipped is not None:
            rotated = np.frombuffer(b64decode(shipped[0]), "<f4").astype(np.float64)
            attention_factor = shipped[1]
        else:
            rotated, attention_factor = self.initialised()
        # A pair of frequency 0 is not rotated.
        return self.step * rotated[rotated != 0.0], attention_factor

    @property
    def initialised_by(self) -> str:
        """Digest of all that ``initialised`` depends on beside the code of libraries."""
        settings = (self.base, self.rotary_dim, self.head_dim, self.n_positions)
        return of_parts((json.dumps(dict(self.scaling), sort_keys=True, default=repr), *settings))

    def initialised(self) -> tuple[Floats, float]:
        """Frequencies of all pairs, (n_pairs,), before ``step``, and attention factor, by
        transformers' rotary initialiser.

        errors: of any kind, for settings that the rule does not have
        """
        # It warns of keys that change nothing here.
        logging.getLogger("transformers.modeling_rope_utils").setLevel(logging.ERROR)
        rope = {
            **self.scaling,
            "rope_type": self.rope_type,
            "rope_theta": self.base,
            "partial_rotary_factor": self.rotary_dim / self.head_dim,
        }
        # One head as wide as the model: some initialisers need these two even when head_dim is
        # given.
        heads = {"hidden_size": self.head_dim, "num_attention_heads": 1, "head_dim": self.head_dim}
        config = light_transformers("configuration_utils").PreTrainedConfig(
            rope_parameters=rope, max_position_embeddings=self.n_positions, **heads
        )
        rescale = rotary_initialisers().ROPE_INIT_FUNCTIONS[self.rope_type]
        with np.errstate(all="ignore"):  # As torch, which does not warn of a division by zero.
            frequencies, attention_factor = rescale(config, "cpu")
        return frequencies.double().numpy(), float(attention_factor)

    def by_offset(self, n_offsets: int) -> Floats:
        """mean_j cos(offset · frequency_j) at offsets 0 … n_offsets − 1: (n_offsets,), within [−1,
        1], 1 at offset 0.
        """
        return np.asarray(np.cos(np.arange(n_offsets)[:, None] * self.frequencies).mean(axis=1))

    def kernel(self, n_positions: int) -> Floats:
        """``by_offset`` as a matrix, query by key: (1, n_positions, n_positions), dimensionless."""
        return self.by_offset(n_positions)[np.abs(offsets_between(n_positions))][None]


def frequencies_before(form: Rotation) -> Floats:
    """Frequencies without scaling, of the pairs that turn with it: (n_pairs,), radians per
    position, as many as ``form.frequencies``.

    Pairs that a scaling stops are the last ones.
    errors: RowError when transformers cannot compute the frequencies of the rotation
    """
    n_pairs = form.frequencies.size
    if form.rope_type != OF_WHOLE_HEAD:
        return form.unscaled_frequencies[:n_pairs]
    whole = Rotation(form.base, form.head_dim, form.head_dim, form.n_positions, step=form.step)
    return frozen(whole.unscaled_frequencies[:n_pairs])
