"""Rotary position embedding: pairs of query and key components rotated by angles proportional to
position.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from generator.checkpoints.model import keys
from generator.checkpoints.model.diffusion_transformers import ROTATED
from generator.checkpoints.model.families import SECTIONS_OF_CODE, attends_without_encoding
from generator.checkpoints.model.families_by_name import lacks_sizes, policy
from generator.checkpoints.model.family_code import (
    SHARE,
    SIZE,
    takes_size,
    unscaled_share,
)
from generator.checkpoints.model.layers import assumed
from generator.checkpoints.model.resolved import OTHER_BASES, defaults
from generator.checkpoints.model.stored_rotation import Stored, stored_rotation
from generator.contracts import Encoding, Files, Mixer, ModelConfig, Provenance, Scheme, Stack
from generator.contracts.model_config import ROPE, ROTATED_PART, positive
from generator.contracts.wording import Wording
from generator.encodings import BASE, Form, Rotation
from generator.encodings.rotations import yarn_magnitude
from generator.errors import RowError
from generator.schemes.rotary.diffusion import along_axes
from generator.schemes.rotary.families import (
    ALWAYS,
    ALWAYS_SHORT,
    CODE_NOTES,
    FACTORS,
    INDEX_HEADS,
    INDEXERS,
    OF_IMAGES,
    ONLY_WITH,
    OWN_SPLITS,
    PLAIN_SPLIT,
    ROTARY_DIM,
    ROTATED_PARTS,
)
from generator.schemes.rotary.layers import (
    LOCAL_BASES,
    RotatedLayers,
    has_null_base,
    ropes_of,
    rotated_layers,
)
from generator.schemes.rotary.stored import UNKNOWN_LENGTH, alone, compared

WORDING = Wording("schemes/rotary.md.jinja")
SETTINGS = (
    "rope_parameters", "rope_theta", "rope_scaling", "rotary_dim", "rotary_pct",
    "rotary_emb_fraction",
    *OTHER_BASES,
    "partial_rotary_factor", "rope_local_base_freq", "local_rope_theta",
)  # fmt: skip
BASES = ("rope_theta", *OTHER_BASES)
# Switches of a rotation: of Parler-TTS, of LTX and CogVideoX in diffusers, of code by Stability AI.
SWITCHES = (
    "rope_embeddings", "use_rope", "use_rotary_positional_embeddings", "use_rotary_embedding",
    "use_rotary_embeddings", "use_rotary_pos_emb",
)  # fmt: skip
SHARES = (SHARE, "rotary_pct", "rotary_emb_fraction")
ALIASES = {"mrope": "default", "su": "longrope"}  # Names in older configs.
# What says whether there is a rotation, and all names from which its numbers are read.
OF_CONFORMERS = "position_embeddings_type"  # One of several, or null for none.
NAMING = frozenset({"position_embedding_type", OF_CONFORMERS, "rope", "rotary"})
UNDERSTOOD = frozenset(
    {*SETTINGS, *SWITCHES, *SHARES, *LOCAL_BASES, *keys.SIZE_NAMES, ROTATED_PART,
     "global_rope_theta", "qk_nope_head_dim", "v_head_dim"}
)  # fmt: skip
MOST_COMPONENTS = 2**16
ORIGINAL = "original_max_position_embeddings"
NULL_FOR_NONE = frozenset({"olmo_hybrid"})  # A base of null stands for no rotation.
FACTOR_TENSORS = ("rope_freqs.weight", "rope_factors_short.weight")  # in files of llama.cpp
WITHOUT_ATTENTION: tuple[Mixer, ...] = ("recurrent", "convolution", "fourier", "none")


def find(files: Files) -> list[Encoding[Form]]:
    """One rotation for every stack and for its layers with the same settings; the last of several
    stacks with the same part.

    A stored rotation is compared with it, and read where there is no config.
    errors: RowError when a setting of the rotation is missing or invalid
    """
    if not files.config.settings:
        return [*alone(files, SCHEME.key)]
    if files.config.family in ROTATED:
        return [*along_axes(files.config, SCHEME.key)]
    rotations = _rotations(files)
    stored = stored_rotation(files) if rotations else None
    factors = next((name for name in FACTOR_TENSORS if name in files.tensors), None)
    return [
        _encoding(stack, rotated, stored, factors)
        for stack, rotated in rotations
        if _form(rotated).is_of_known_kind
    ]


def asks(files: Files) -> Iterator[str]:
    """A sentence on each rotation whose rule of scaling is not known.

    errors: RowError when a setting of the rotation is missing or invalid
    """
    if files.config.settings and files.config.family not in ROTATED:
        for stack in filter(lambda stack: _rotates(stack.config), files.resolved.stacks):
            config = stack.config
            if has_null_base(config.rope, config) and config.family not in NULL_FOR_NONE:
                yield WORDING("null_base", source=files.config.source)
            elif lacks_sizes(config):
                yield WORDING("sizes_elsewhere", policy=policy(config), base=config.value(BASES[0]))
            elif not _is_understood(files, stack):
                about = {"part": stack.part, "names": _beside(files, config)}
                yield WORDING("numbers_unknown", source=files.config.source, **about)
        for _, rotated in _rotations(files):
            form = _form(rotated)
            if not form.is_of_known_kind:
                yield WORDING(
                    "unknown_kind", kind=form.rope_type, base=form.base, layers=rotated.name
                )


def _rotations(files: Files) -> list[tuple[Stack, RotatedLayers]]:
    """Every rotation of words, with its stack. Nested configs override the outer one.

    errors: RowError for a base of windowed layers that is none
    """
    for name in LOCAL_BASES:  # Config classes have them under one name.
        if (base := files.resolved.readable.text_model.value(name)) is not None:
            positive(base, f"{files.where}: {name}")
    rotating = {
        stack.part: stack
        for stack in files.resolved.stacks
        if _rotates(stack.config) and _is_understood(files, stack)
    }
    return [(stack, rotated) for stack in rotating.values() for rotated in rotated_layers(stack)]


def _rotates(config: ModelConfig) -> bool:
    word = config.text("position_embedding_type")
    if (
        attends_without_encoding(config)
        or config.flag("alibi") is True
        or word in ("sinusoidal", "nope", "alibi")
        or any(config.flag(name) is False for name in SWITCHES)
        or _is_of_images(config)
    ):
        return False
    if 0 in [config.rope.value(SHARE), *(config.value(name) for name in SHARES)]:
        return False
    if OF_CONFORMERS in config:
        return config.value(OF_CONFORMERS) in SCHEME.asked_by
    if config.family in ONLY_WITH:
        name, value = ONLY_WITH[config.family]
        return bool(config.value(name) == value)
    if word == "absolute":  # A leftover of BERT in configs of ModernBERT.
        return config.first("rope_parameters", *LOCAL_BASES) is not None or config.family in ALWAYS
    is_configured = word in SCHEME.asked_by or config.first(*SETTINGS) is not None
    return (
        is_configured
        or config.family in ALWAYS
        or bool(defaults(config.family).get("rope_parameters"))
    )


def _is_understood(files: Files, stack: Stack) -> bool:
    """Whether the numbers of a rotation are known: by the code of the family, by tensors, or by
    keys of their own, where every other key of position is read.
    """
    config = stack.config
    if stack.has_code or stored_rotation(files) is not None:
        return not lacks_sizes(config)
    sections = [section for name in ROPE if (section := config.section(name))]
    places = [config, *(inner for section in sections for inner in section.nested())]
    has_base = any(place.first(*BASES, *LOCAL_BASES) is not None for place in places)
    return bool(files.config.program or has_base) and not _beside(files, config)


def _beside(files: Files, config: ModelConfig) -> list[str]:
    """Keys of position, of heads or of kinds of layers from which no number is read, and which are
    not off.
    """
    if files.config.program:
        return [*files.config.unread_keys]
    understood = UNDERSTOOD.union(assumed(config))
    return [
        keys.dotted(path)
        for path, value in keys.leaves(config.settings)
        if len(path) == 1 or path[0] in ROPE
        if keys.concerns_position(path) or keys.OF_HEADS.search(path[-1])
        if value and path[-1] not in (understood if len(path) == 1 else keys.IN_ROPE)
        if not (path[-1] in NAMING and _names_rotation(value))
    ]


def has_unknown_numbers(files: Files) -> bool:
    """Whether there is a rotation whose numbers are not known."""
    return any(
        _rotates(stack.config) and not _is_understood(files, stack)
        for stack in files.resolved.stacks
    )


def _names_rotation(value: object) -> bool:
    return value is True or value in SCHEME.asked_by


def _is_of_images(config: ModelConfig) -> bool:
    """Whether a config is of an image model, which rotary_2d reads."""
    rope = config.section("rope_parameters")
    axial = rope is not None and rope.text("rope_type") == "axial"
    of_images = "vocab_size" not in config and ("patch_size" in config or "image_size" in config)
    return axial or of_images or config.family in OF_IMAGES


def _encoding(
    stack: Stack, rotated: RotatedLayers, stored: Stored | None, factors: str | None
) -> Encoding[Form]:
    """The rotation of some layers.

    stored: a rotation among the tensors; factors: the tensor with the factors of its scaling
    """
    config, rope, form = rotated.config, rotated.rope, _computed(rotated)
    rotary_dim = form.rotary_dim
    notes = [_turned_note(config, form, _held(form, stored, factors))]
    origin = Provenance("config.json", shape=(rotary_dim // 2,))
    share, is_scaled = rope.value(SHARE), form.scaling.get("rope_type", "default") != "default"
    if share not in (None, 1) and rotary_dim == form.head_dim and not is_scaled:
        notes.append(WORDING("share_unread", share=share))
    notes += _split_note(config.family, rope, rotary_dim // 2)
    notes += filter(None, (_longer_note(config, form),))
    notes += _layers_notes(rotated)
    guessed = () if stack.has_code else assumed(config)
    notes += [WORDING("assumed", names=[*guessed], source=origin.file)] if guessed else []
    notes += _indexer_note(rotated, form)
    notes += [WORDING("of_policy", policy=own)] if (own := policy(config)) else []
    notes += [WORDING(CODE_NOTES[name]) for name in (config.family, config.program)
              if name in CODE_NOTES]  # fmt: skip
    parts = {layer.part for layer in rotated.layers}
    part = f"{parts.pop() if len(parts) == 1 else stack.part} {rotated.name}".strip()
    is_known = stack.has_code or len(rotated.layers) < len(rotated.all_layers)
    indices = tuple(layer.index for layer in rotated.layers) if is_known else ()
    place = (stack.modality, stack.kind, indices or None)
    return Encoding(part, SCHEME.key, form, origin, tuple(notes), *place)


def _computed(rotated: RotatedLayers) -> Rotation:
    """As ``_form``. errors: RowError also when its scaling cannot be computed"""
    form = _form(rotated)
    try:
        _ = form.frequencies  # Only then are they: many rotations are made to be compared.
    except RowError as error:
        raise RowError(f"{rotated.config.where}: {error}") from error
    return form


def _form(rotated: RotatedLayers) -> Rotation:
    """errors: RowError when a setting of the rotation is missing or invalid"""
    config = rotated.config
    base = rotated.rope.first("rope_theta", default=config.first(*BASES, default=BASE))
    return Rotation(
        positive(base, f"{config.where}: rope_theta"),
        *_sizes(rotated),
        config.size("n_positions") or UNKNOWN_LENGTH,
        _scaling(rotated),
        window=rotated.window,
        is_length_known=config.size("n_positions") is not None,
        keeps_short=config.family in ALWAYS_SHORT and config.keys_of_file is None,
    )


def _scaling(rotated: RotatedLayers) -> Mapping[str, Any]:
    """Settings of the scaling, under their current names in transformers."""
    config, rope = rotated.config, rotated.rope
    if not rope.settings:
        return {}
    word = rope.value("rope_type", rope.value("type", "default"))
    scaling = {
        name: value
        for name, value in rope.settings.items()
        if name not in ("rope_theta", "partial_rotary_factor", "type")
    }
    scaling["rope_type"] = ALIASES.get(word, word) if isinstance(word, str) else word
    trained = config.value(ORIGINAL)
    if scaling["rope_type"] == "longrope" and trained is not None:
        scaling[ORIGINAL] = trained
    n_positions = config.size("n_positions")
    if scaling["rope_type"] == "yarn" and n_positions:  # As in transformers.
        scaling.setdefault(ORIGINAL, n_positions)
    factor = rope.first(*FACTORS.get(config.family, ()))
    if factor is not None:
        scaling["attention_factor"] = factor
    return scaling


def _sizes(rotated: RotatedLayers) -> tuple[int, int]:
    """rotary_dim and head_dim.

    errors: RowError when a size is missing or invalid
    """
    config = rotated.config.of_layer(rotated.layers[0].index) if rotated.layers else rotated.config
    if config.value(ROTATED_PART):
        turned = config.whole(ROTATED_PART)
        beside = config.whole("qk_nope_head_dim") if config.value("qk_nope_head_dim") else 0
        head_dim = turned + beside if beside else max(turned, config.count("head_dim") or 0)
        return _within(turned, head_dim, config.where), head_dim
    head_dim = rotated.head_dim
    return _within(_rotary_dim(rotated, head_dim), head_dim, config.where), head_dim


def _rotary_dim(rotated: RotatedLayers, head_dim: int) -> int:
    config, rope = rotated.config, rotated.rope
    if config.value(SIZE) is not None and takes_size(config):
        return config.whole(SIZE)
    of_family = ROTARY_DIM.get(config.family)
    if of_family is not None and (size := of_family(config)) is not None:
        return size
    is_scaled = _scaling(rotated).get("rope_type", "default") != "default"
    share = None if is_scaled else unscaled_share(config, rope)
    if share is None:
        share = rope.first(SHARE, default=config.first(*SHARES, default=1.0))
    name = next((name for name in SHARES if share in (rope.value(name), config.value(name))), "")
    return int(head_dim * positive(share, f"{config.where}: {name or SHARE}"))


def _within(rotary_dim: int, head_dim: int, where: str) -> int:
    if not 2 <= rotary_dim <= min(head_dim, MOST_COMPONENTS):
        raise RowError(
            f"{where}: {rotary_dim} rotated components; expected 2 to the head's {head_dim}, and at"
            f" most {MOST_COMPONENTS:,}"
        )
    return rotary_dim - rotary_dim % 2


def _held(form: Rotation, stored: Stored | None, factors: str | None) -> str:
    """What tensors hold of a rotation, as the beginning of a sentence."""
    if stored is not None:
        return compared(stored, form)
    if factors and form.is_rescaled:
        return WORDING("divided", factors=factors)
    return WORDING("not_stored")


def _turned_note(config: ModelConfig, form: Rotation, held: str) -> str:
    """Note on the rotated components. held: the beginning of its sentence"""
    part = ""
    if config.value(ROTATED_PART) and form.rotary_dim < form.head_dim:
        part = WORDING(ROTATED_PARTS.get(config.family, "separate_part"))
    return WORDING(
        "turned", held=held, rotary_dim=form.rotary_dim, head_dim=form.head_dim, part=part
    )


@dataclass(frozen=True)
class Split:
    """Which pairs of a rotation turn by which axis. sentence: that describes it; sections: pairs by
    axis; interleaved: whether axes take turns; given: whether a setting says it
    """

    sentence: str
    sections: Sequence[Any]
    interleaved: bool
    given: bool


def split_of(family: str, rope: ModelConfig, n_pairs: int) -> Split | None:
    """That of a multimodal rotation (Qwen2-VL, arXiv 2409.12191, section 2.1); None for others."""
    given = rope.listed("mrope_section")
    of_code, takes_turns = SECTIONS_OF_CODE.get(family, ((), False))
    sections = given or (of_code if sum(of_code) == n_pairs else ())
    sentence, n_axes = OWN_SPLITS.get(family, (PLAIN_SPLIT, (3,)))
    if len(sections) not in n_axes:
        return None
    is_interleaved = rope.flag("mrope_interleaved") is True or takes_turns
    return Split(sentence, sections, is_interleaved, bool(given))


def _split_note(family: str, rope: ModelConfig, n_pairs: int) -> list[str]:
    """Note on multimodal rotations."""
    split = split_of(family, rope, n_pairs)
    if split is None:
        return []
    values = {"sections": split.sections, "interleaved": split.interleaved, "given": split.given}
    return [WORDING(split.sentence, **values)]


def _longer_note(config: ModelConfig, form: Rotation) -> str:
    """Note on a scaling that depends on the length of the text, or that also multiplies the logits;
    "" for any other.
    """
    if form.rope_type == "longrope" and form.has_two_lists:
        trained = form.scaling.get(ORIGINAL, form.n_positions)
        sentence = "same_frequencies_beyond" if form.keeps_short else "other_frequencies_beyond"
        return WORDING(sentence, trained=trained)
    if form.has_fixed_alpha:
        return WORDING("base_multiplied", alpha=form.scaling["alpha"])
    if form.rope_type == "dynamic":
        return WORDING("base_grows_beyond", n_positions=form.n_positions)
    larger = yarn_magnitude(form.scaling) if config.value(ROTATED_PART) else None
    return "" if larger is None else WORDING("logits_multiplied", factor=larger)


def _indexer_note(rotated: RotatedLayers, form: Rotation) -> Iterator[str]:
    """Note on the indexer of sparse layers with this rotation, where its code is known."""
    config = rotated.config
    size = next((size for name in INDEX_HEADS if (size := config.count(name))), None)
    is_sparse = any("sparse" in layer.mixers for layer in rotated.layers)
    if size is not None and is_sparse and config.family in INDEXERS:
        of_attention, own = INDEXERS[config.family]
        turned = min(form.rotary_dim, size)
        values = {"own": own, "base": form.base, "turned": turned, "size": size}
        yield WORDING("indexer", is_other=own != of_attention, **values)


def _layers_notes(rotated: RotatedLayers) -> Iterator[str]:
    """Notes on the layers with this rotation, on layers with attention but without any, and on
    layers without attention.
    """
    parts = {layer.part for layer in rotated.layers}
    all_layers = [layer for layer in rotated.all_layers if layer.part in parts]
    n_layers, indices = len(all_layers), [layer.index for layer in rotated.layers]
    if not 0 < len(indices) < n_layers:
        return
    yield WORDING("rotated_layers", layers=indices, n_layers=n_layers)
    without = [layer for layer in all_layers if not layer.attends]
    for mixer in WITHOUT_ATTENTION:
        if layers := [layer.index for layer in without if mixer in layer.mixers]:
            yield WORDING(f"mixer_{mixer}", layers=layers, n_layers=n_layers)
        without = [layer for layer in without if mixer not in layer.mixers]
    ropes = zip(rotated.all_layers, ropes_of(rotated.config, rotated.all_layers), strict=True)
    unrotated = [
        layer.index
        for layer, rope in ropes
        if rope is None and layer.attends and layer.part in parts
    ]
    if unrotated:
        yield WORDING("unrotated_layers", layers=unrotated, n_layers=n_layers)


SCHEME = Scheme(
    key="rotary",
    paper="2104.09864",
    plural="rotary encodings",
    also=("RoPE", "rotary position embedding (RoFormer)"),
    acts_in="queries and keys",
    after="convolution",
    sought=("rope_theta",),
    find=find,
    asks=asks,
    claims=re.compile(r"rope|rotary|inv_freq", re.IGNORECASE),
    asked_by=("rotary", "rope"),
    by_formula=True,
)
