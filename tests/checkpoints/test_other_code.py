"""Configs whose class, sections or parts are not those that their model type suggests.

Sources: the mappings and the config classes of transformers; sgl-project/SpecForge, configs/ (a
block draft under qwen3); amazon-science/chronos-forecasting, chronos2/config.py (t5);
ai-dynamo/aiconfigurator (Step 3.7 Flash, flat); vllm-project/speculators (a draft's layer).
"""

from contextlib import suppress
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import defaults
from generator.contracts import Json, ModelConfig
from generator.contracts.model_config import TEXT
from generator.encodings import NoEncoding, Rotation
from generator.errors import RowError
from generator.libraries import config_classes, light_transformers
from generator.reading.find import find, look
from generator.reading.questions import unresolved

SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4, "vocab_size": 99}
DRAFT = {**SIZES, "model_type": "qwen3", "head_dim": 16, "rope_theta": 1e6}
CHRONOS = {
    "model_type": "t5", "architectures": ["Chronos2Model"], "is_encoder_decoder": False,
    "d_model": 64, "d_kv": 16, "num_heads": 4, "num_layers": 2, "vocab_size": 2, "rope_theta": 1e4,
}  # fmt: skip
KINDS = ["full_attention", "sliding_attention", "sliding_attention", "full_attention"]
STEP = {**SIZES, "model_type": "step3p7", "head_dim": 16, "sliding_window": 8, "layer_types": KINDS}
SIGLIP = {**SIZES, "model_type": "siglip_vision_model", "image_size": 64, "patch_size": 8}
LLAMA = {**SIZES, "model_type": "llama", "rope_theta": 5e5}
SOME = 10  # Every so many families are read, which takes longer.
# Families whose class takes a number of layers of its own beside that of its text model.
WITH_OWN_LAYERS = {"bridgetower", "grounding-dino", "mm-grounding-dino", "omdet-turbo"}


def questions(settings: Json) -> str:
    files = ConfigAlone(settings, "own")
    return " ".join(unresolved(files, look(files)))


def shown(settings: Json) -> list[tuple[Any, ...]]:
    """Scheme and parameters of each encoding, and the reach of each layer."""
    files = ConfigAlone(settings, "own")
    found = [one for one in find(files) if not isinstance(one.form, NoEncoding)]
    parameters = [(one.scheme, str(one.record.parameters)) for one in found]
    return [*sorted(parameters), *((each.type, each.before) for each in layer_map(files, found))]


@pytest.mark.parametrize(
    "named",
    [
        {"architectures": ["DominoDraftModel"], "auto_map": {"AutoModel": "d.DominoDraftModel"}},
        {"auto_map": {"AutoModel": "domino.DominoDraftModel"}},
    ],
)
def test_a_class_of_other_code_says_nothing_of_the_family(named: Json) -> None:
    files = ConfigAlone({**DRAFT, **named}, "own")
    found = look(files)
    [encoding] = found.all
    assert (encoding.form.base, encoding.is_guess) == (1e6, True)  # type: ignore[attr-defined]
    assert layer_map(files, found.all) == ()
    asked = questions({**DRAFT, **named})
    assert "“qwen3”" in asked
    assert "none of that family's" in asked


def test_a_class_of_another_family_of_transformers_changes_nothing_there_and_is_named() -> None:
    named = {**DRAFT, "architectures": ["LlamaForCausalLM"]}
    assert shown(named) == shown(DRAFT)
    assert "LlamaForCausalLM, is another family's." in questions(named)


def test_another_version_of_the_code_of_a_family_is_of_it() -> None:
    settings = {"model_type": "bailing_hybrid", "architectures": ["BailingMoeV3ForCausalLM"]}
    assert ConfigAlone(settings, "own").config.claimed == ""


def test_biases_in_tensors_of_t5_are_not_those_of_a_class_without_them() -> None:
    found = look(ConfigAlone(CHRONOS, "own")).all
    assert [(one.part, one.scheme) for one in found] == [("encoder", "rotary")]
    assert "Chronos2Model" in questions(CHRONOS)


def test_tables_that_code_adds_beside_its_parts_are_named() -> None:
    """PositionEmbedding of ByteDance's modeling/bagel, which is filled with a sinusoid."""
    bagel = {"model_type": "bagel", "llm_config": LLAMA, "vit_config": SIGLIP}
    asked = questions({**bagel, "max_latent_size": 64, "vit_max_num_patch_per_side": 70})
    assert "another to the patches that it generates" in asked
    assert "llm_config and vit_config" in asked


def test_the_rotation_of_retnet_beside_its_decay_is_named() -> None:
    asked = questions({"model_type": "retnet", "num_heads": 4, **SIZES})
    assert "Queries and keys are also rotated" in asked


def test_no_model_type_is_believed_beside_a_class_of_other_code() -> None:
    for index, family in enumerate(config_classes()):
        files = ConfigAlone({"model_type": family, "architectures": ["NoSuchDraftModel"]}, "own")
        assert (files.config.claimed, files.config.family) == (family, "NoSuchDraftModel")
        assert index % SOME or find(files) == []


def test_every_class_of_transformers_is_of_its_family() -> None:
    auto = vars(light_transformers("models.auto.modeling_auto"))
    named = {
        (family, name)
        for mapping, classes in auto.items()
        if mapping.startswith("MODEL_") and mapping.endswith("_MAPPING_NAMES")
        for family, names in classes.items()
        for name in ([names] if isinstance(names, str) else names)
        if family in config_classes()
    }
    assert len(named) > 1000
    assert [
        (family, name)
        for family, name in sorted(named)
        if ConfigAlone({"model_type": family, "architectures": [name]}, "own").config.claimed
    ] == []


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("mpt", "MPTForCausalLM"),
        ("kimi_k25", "KimiK25ForConditionalGeneration"),
        ("t5", "T5WithLMHeadModel"),
        ("mamba", "Mamba2ForCausalLM"),
        ("qwen2", "Qwen2ForRewardModel"),
    ],
)
def test_older_names_and_other_tasks_are_of_the_family(family: str, name: str) -> None:
    assert not ConfigAlone({"model_type": family, "architectures": [name]}, "own").config.claimed


@pytest.mark.parametrize("named", [{}, {"architectures": ["Step3p7FlashForCausalLM"]}])
def test_a_flat_text_model_has_its_own_layers_and_no_part_for_images(named: Json) -> None:
    files = ConfigAlone({**STEP, **named}, "own")
    found = look(files)
    assert [layer.before for layer in layer_map(files, found.all)] == [None, 7, 7, None]
    assert {(one.scheme, one.modality) for one in found.all} == {("rotary", "text")}
    assert "only the text model was read" in questions({**STEP, **named})


def test_settings_of_a_flat_text_model_are_those_of_its_section() -> None:
    differing = []
    for family in config_classes():
        sections = config_classes()[family].sub_configs
        key = next((name for name in TEXT if name in sections), None)
        if key is None or family in WITH_OWN_LAYERS or not getattr(sections[key], "model_type", ""):
            continue
        text, inner = defaults(family)[key], dict[str, Any]()
        while inner := next((text[name] for name in TEXT if isinstance(text.get(name), dict)), {}):
            text = inner
        if shown({**text, "model_type": family}) != shown(text):
            differing.append(family)
    assert differing == []


def test_a_flat_text_model_of_unknown_kind_has_no_defaults() -> None:
    asked = questions({**SIZES, "model_type": "llava_next", "rope_theta": 1e4})
    assert "the family is unknown" in asked


def test_a_flat_text_model_beside_a_section_of_images_has_its_own_layers() -> None:
    settings = {**STEP, "vision_config": {"hidden_size": 64, "num_attention_heads": 4}}
    files = ConfigAlone(settings, "own")
    assert [layer.before for layer in layer_map(files, find(files))] == [None, 7, 7, None]


def test_parts_of_an_unknown_family_are_read_under_any_key() -> None:
    settings = {"model_type": "bagel", "llm_config": LLAMA, "vit_config": SIGLIP}
    found = look(ConfigAlone(settings, "own"))
    assert [(one.part, one.scheme) for one in found.all] == [
        ("decoder", "rotary"),
        ("vision", "learned"),
    ]
    assert not found.is_complete
    assert "only its parts with a known model type were read: llm_config and vit_config" in (
        questions(settings)
    )


def test_the_layer_of_a_draft_is_read_from_its_section() -> None:
    settings = {"speculators_model_type": "eagle3", "transformer_layer_config": LLAMA}
    files = ConfigAlone(settings, "own")
    [encoding] = find(files)
    assert (encoding.part, encoding.form.base) == ("transformer layer", 5e5)  # type: ignore[attr-defined]
    assert "transformer_layer_config" in questions(settings)


def rotations(settings: Json) -> set[tuple[float, int]]:
    """Base and width of every rotation; none of a config that is refused."""
    with suppress(RowError):
        forms = [one.form for one in find(ConfigAlone(settings, "own"))]
        return {(form.base, form.rotary_dim) for form in forms if isinstance(form, Rotation)}
    return set()


def test_the_text_encoder_of_another_model_has_no_decoder() -> None:
    t5 = {"model_type": "t5", "num_layers": 1, "num_heads": 2, "d_model": 8, "vocab_size": 9}
    found = look(ConfigAlone({"model_type": "nobody", "text_encoder": t5}, "own"))
    assert [(one.part, one.scheme) for one in found.all] == [("encoder", "t5_bias")]


def test_every_rotation_of_a_nested_config_is_one_of_the_whole() -> None:
    silent = []
    for family in config_classes():
        whole = rotations(defaults(family))
        for name, section in ModelConfig(defaults(family), "own").sections.items():
            if "model_type" in section and not rotations(section.settings) <= whole:
                silent.append((family, name))
    assert silent == []


def test_layers_that_idefics_does_not_train_are_stored_all_the_same() -> None:
    found = look(ConfigAlone(defaults("idefics"), "own"))
    assert [(one.part, one.scheme) for one in found.unmeasured] == [("vision", "learned")]


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("bros", "differences between word boxes"),
        ("granite_docling", "sinusoid of rows and columns"),
        ("cvt", "Convolutions over neighbouring patches"),
    ],
)
def test_parts_that_no_scheme_reads_are_named(family: str, words: str) -> None:
    assert words in questions(defaults(family))


def test_one_number_for_each_stage_is_no_number_of_layers() -> None:
    files = ConfigAlone(defaults("cvt"), "own")
    assert (find(files), files.config.size("n_layers")) == ([], None)
