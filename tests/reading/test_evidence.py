"""What follows from which key of a file of settings, and which keys nothing reads."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.checkpoints.model import keys
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.resolved import defaults, quietly
from generator.contracts import Encoding, Files, ModelConfig, Origin
from generator.encyclopedia.known_models import KnownModel, known_model, known_models
from generator.libraries import config_classes
from generator.reading import evidence as evidence_module
from generator.reading.evidence import evidence, look_closely, settings_of
from generator.reading.questions import unresolved
from tests.gguf_files import write

Settings = dict[str, Any]
LLAMA: Settings = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "intermediate_size": 128, "max_position_embeddings": 128, "vocab_size": 100,
}  # fmt: skip
HALF = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100}


def of(settings: Mapping[str, Any]) -> Files:
    return ConfigAlone(settings, "own")


def test_settings_are_published_without_what_may_name_a_place() -> None:
    """And without what is no number in JSON, or too large for one."""
    given = {
        **LLAMA, "rope_theta": 1e4, "_name_or_path": "/home/me", "torch_dtype": "float32",
        "rope_scaling": {"rope_type": "yarn", "factor": float("nan"), "rope_note": "/home/me"},
        "layer_types": ["full_attention"] * 2, "sliding_window": None, "rope_base": 10**400,
    }  # fmt: skip
    published = settings_of(of(given).config)
    sizes = LLAMA.keys() - {"model_type", "intermediate_size"}
    plain = {key: published.pop(key) for key in sizes}
    assert plain == {key: LLAMA[key] for key in sizes}
    known = {"rope_theta": 1e4, "sliding_window": None, "rope_scaling.rope_type": "yarn"}
    assert {key: published.pop(key) for key in known} == known
    digests = ["layer_types", "rope_base", "rope_scaling.factor", "rope_scaling.rope_note"]
    assert sorted(published) == digests
    assert all(re.fullmatch("sha256:[0-9a-f]{16}", value) for value in published.values())
    other = settings_of(of({**given, "layer_types": ["sliding_attention"] * 2}).config)
    assert other["layer_types"] != published["layer_types"]
    assert settings_of(of({}).config) == {}


def found(files: Files) -> dict[str, Encoding[Any]]:
    return {encoding.part: encoding for encoding in look_closely(files).all}


def asked(files: Files) -> str:
    return " ".join(unresolved(files, look_closely(files)))


def params(folder: Path, settings: Settings) -> Files:
    (folder / "params.json").write_text(json.dumps(settings), encoding="utf-8")
    save_file({"norm.weight": torch.ones(4)}, folder / "model.safetensors")
    return FolderFiles(folder, "own")


def gguf(folder: Path, architecture: str, settings: Settings) -> Files:
    path = write(folder / "model.gguf", architecture, settings)
    return FolderFiles(folder, "own", Choice(name=path.name))


@pytest.mark.parametrize(("settings", "name", "expected"), [
    ({"rope_theta": 5e5}, "base", Origin(("rope_theta",), None)),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}, "base",
     Origin(("rope_parameters.rope_theta",), None)),
    ({}, "base", Origin((), "LlamaConfig")),
    ({}, "head_dim", Origin(("hidden_size", "num_attention_heads"), None)),
    ({"head_dim": 32}, "head_dim", Origin(("head_dim",), None)),
    ({"rope_scaling": {"rope_type": "linear", "factor": 2.0}}, "scaling",
     Origin(("rope_scaling.factor",), None)),
    ({}, "layers", Origin(("num_hidden_layers",), None)),
])  # fmt: skip
def test_every_parameter_names_the_keys_that_change_it(
    settings: Settings, name: str, expected: Origin
) -> None:
    [encoding] = found(of({**LLAMA, **settings})).values()
    assert encoding.origins[name] == expected


UNREAD: list[tuple[Settings, list[str]]] = [
    ({**LLAMA, "rope_of_nobody": True}, ["rope_of_nobody"]),
    ({**LLAMA, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "attn_factor": 0.8,
                                "original_max_position_embeddings": 32}},
     ["rope_scaling.attn_factor"]),
    # What is off, is no key of position, gives the order of pairs, or is one of the class that has
    # no effect here.
    ({**LLAMA, "rope_interleave": True, "rope_traditional": False}, []),
    ({**LLAMA, "router_window": 3, "chunk_size_feed_forward": 4}, []),
    ({**LLAMA, "model_type": "qwen2", "sliding_window": 64, "max_window_layers": 1}, []),
    ({"model_type": "nobody", **HALF, "rotary_emb_scaling": 16}, ["rotary_emb_scaling"]),
    # Names of classes of pictures are no settings; what a section of a rotation may hold is known.
    ({"model_type": "vit", "label2id": {"window screen": 905, "window shade": 904}}, []),
    ({**LLAMA, "rope_parameters": {"rope_theta": 1e4, "mrope_interleaved": True}}, []),
    ({"_class_name": "Nobody3DModel", "use_rotary_positional_embeddings": True},
     ["use_rotary_positional_embeddings"]),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "expected"), UNREAD)
def test_keys_of_position_that_change_nothing_are_named(
    settings: Settings, expected: list[str]
) -> None:
    assert [name for name, _ in evidence(of(settings).config).unread] == expected
    assert ("Not understood" in asked(of(settings))) == bool(expected)


def test_a_default_of_a_class_overrides_no_key_of_the_file() -> None:
    """NomicBertConfig has 1,000; the key is that of nomic-ai's own code."""
    nomic = {"model_type": "nomic_bert", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 100}
    for name in ("rotary_emb_base", "rotary_base", "rope_freq_constant"):
        [encoding] = found(of({**nomic, name: 5000})).values()
        assert encoding.form.base == 5000.0
        assert encoding.origins["base"] == Origin((name,), None)


@pytest.mark.parametrize(("settings", "scheme"), [
    ({"position_embedding_type": "alibi", "n_head": 4, "n_embd": 64, "model_type": "jais"},
     "alibi"),
    ({**HALF, "model_type": "openelm", "rope_freq_constant": 10_000}, "rotary"),
    ({**LLAMA, "model_type": "deepseek_v2", "qk_rope_head_dim": 0, "rope_theta": 1e4}, "rotary"),
])  # fmt: skip
def test_settings_that_ask_for_a_scheme_get_it(settings: Settings, scheme: str) -> None:
    assert [encoding.scheme for encoding in found(of(settings)).values()] == [scheme]


NOBODY: Settings = {"model_type": "nobody", **HALF, "rope_theta": 1e4}


@pytest.mark.parametrize("beside", [
    {"head_size": 32}, {"rope_head_dim": 8}, {"axes_dims": [8, 8]}, {"rope_interleaved": True},
    {"hybrid_pattern": "M*"}, {"sliding_window": 64}, {"position_embedding_type": "rope_neox"},
    {"layer_types": ["deltanet", "f"]}, {"rope_type": "ntk"},
])  # fmt: skip
def test_no_number_is_given_beside_a_key_that_is_not_read(beside: Settings) -> None:
    """Of a family that is not known; as in files of TensorRT-LLM, of DeepSeek and of Krea."""
    [name] = beside
    files = of({**NOBODY, **beside})
    assert found(files) == {}
    assert f"and {name} was not understood" in asked(files)
    [encoding] = found(of({**NOBODY, name: None})).values()
    assert (encoding.form.head_dim, encoding.is_guess) == (16, True)
    assert found(of({**LLAMA, **beside}))  # A family that is known reads what it reads.


def test_no_base_is_given_where_the_file_has_none() -> None:
    files = of({"model_type": "nobody", **HALF, "rotary_pct": 0.5})
    assert found(files) == {}
    assert "and no base is given" in asked(files)
    assert evidence(files.config).unread == ()


def test_heads_of_another_size_in_an_unknown_architecture_of_gguf(tmp_path: Path) -> None:
    files = gguf(tmp_path, "nobody", {**GGUF, "attention.key_length_swa": 8})
    assert found(files) == {}
    assert "nobody.attention.key_length_swa was not understood" in asked(files)
    assert found(gguf(tmp_path, "nobody", GGUF))


def test_a_switch_that_is_off_makes_no_rotation() -> None:
    decoder = {**HALF, "model_type": "nobody_decoder", "rope_theta": 1e4, "rope_embeddings": False}
    whole = {"model_type": "nobody", "decoder": decoder, "text_encoder": {"model_type": "t5"}}
    assert "decoder" not in found(of(whole))
    on = {**whole, "decoder": {**decoder, "rope_embeddings": True}}
    assert found(of(on))["decoder"].is_guess


def test_scaling_of_an_unknown_kind_is_said_and_not_refused() -> None:
    settings = {**LLAMA, "rope_theta": 1e4, "rope_scaling": {"type": "ntkmixed", "factor": 16}}
    files = of(settings)
    assert found(files) == {}
    assert "base 10,000 and scaling “ntkmixed”" in asked(files)


def test_two_equal_lists_of_factors_are_one() -> None:
    factors = [1.0] * 8
    scaling = {"rope_type": "longrope", "short_factor": factors, "long_factor": factors,
               "original_max_position_embeddings": 64}  # fmt: skip
    [encoding] = found(of({**LLAMA, "rope_scaling": scaling})).values()
    assert not any("beyond" in note.lower() for note in encoding.notes)


def test_where_another_value_is_refused_nothing_is_said_of_what_it_changes() -> None:
    scaling = {"rope_type": "longrope", "short_factor": [1.0] * 8, "long_factor": [2.0] * 8,
               "original_max_position_embeddings": 64}  # fmt: skip
    [encoding] = found(of({**LLAMA, "rope_theta": 1e4, "rope_scaling": scaling})).values()
    assert "head_dim" not in encoding.origins
    assert encoding.origins["base"] == Origin(("rope_theta",), None)


def test_a_number_of_layers_that_fits_no_other_list_of_kinds_gives_the_layers() -> None:
    """The class rejects any other number, so that its rotation stays as it is."""
    kinds = ["sliding_attention", "full_attention"]
    given = {**LLAMA, "model_type": "gpt_oss", "head_dim": 16, "layer_types": kinds}
    assert evidence(of(given).config).keys["decoder-rotary"]["layers"] == ("num_hidden_layers",)


def test_of_more_keys_than_are_tried_nothing_is_said() -> None:
    many = {f"rope_of_nobody_{i}": i for i in range(keys.MOST_TRIED + 1)}
    files = of({**LLAMA, "rope_scaling": {"rope_type": "linear", "factor": 2.0}, **many})
    [encoding] = found(files).values()
    assert encoding.origins == {}
    assert "Not understood" not in asked(files)
    traced = keys.traced(many, lambda given: {"size": len(given)}, "none")
    of_file = {"keys_of_file": {}, "unread_keys": {}, "program": "none"}
    assert traced == {"size": len(many), **of_file}


def test_a_nested_config_that_nobody_knows_is_a_part_with_a_question() -> None:
    whole = {"model_type": "nobody_vl", "text_config": LLAMA,
             "vision_config": {"model_type": "nobody_vit", "num_hidden_layers": 2}}  # fmt: skip
    assert "vision_config (model type “nobody_vit”) was not understood" in asked(of(whole))
    assert not found(of(whole))["decoder"].is_guess


def test_a_flat_llava_is_its_language_model() -> None:
    settings = {**LLAMA, "model_type": "llava", "architectures": ["LlavaQwenForCausalLM"],
                "rope_theta": 1e6, "mm_vision_tower": "google/siglip"}  # fmt: skip
    [encoding] = found(of(settings)).values()
    assert (encoding.part, encoding.form.base) == ("decoder", 1e6)
    assert encoding.layers == (0, 1)


def test_a_composite_is_built_by_the_class_that_it_names() -> None:
    settings = {
        "model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"],
        "encoder": {"model_type": "vit", "hidden_size": 16, "num_attention_heads": 2,
                    "num_hidden_layers": 1, "image_size": 32, "patch_size": 16},
        "decoder": {"model_type": "trocr", "d_model": 16, "decoder_layers": 1, "vocab_size": 100,
                    "decoder_attention_heads": 2, "max_position_embeddings": 30,
                    "decoder_ffn_dim": 32, "cross_attention_hidden_size": 16},
    }  # fmt: skip
    parts = {part: one.provenance.shape for part, one in found(of(settings)).items()}
    assert parts == {"vision": (1, 5, 16), "decoder": (32, 16)}


def test_layers_of_evo_and_axes_of_z_image_are_those_of_their_code() -> None:
    evo = {"model_type": "stripedhyena", "hidden_size": 64, "num_attention_heads": 4,
           "num_layers": 4, "attn_layer_idxs": [1], "max_seqlen": 256, "vocab_size": 100,
           "rotary_emb_base": 10_000, "use_interpolated_rotary_pos_emb": True,
           "rotary_emb_scaling_factor": 16}  # fmt: skip
    [encoding] = found(of(evo)).values()
    assert encoding.layers == (1,)
    assert encoding.form.scaling == {"rope_type": "linear", "factor": 16}
    axes = {"_class_name": "ZImageTransformer2DModel", "axes_dims": [32, 48, 48],
            "rope_theta": 256.0}  # fmt: skip
    assert [each.form.rotary_dim for each in found(of(axes)).values()] == [32, 48]


def test_gpt_oss_and_hybrid_mamba_as_their_makers_publish_them() -> None:
    gpt_oss = {**HALF, "head_dim": 16, "sliding_window": 8, "initial_context_length": 64,
               "rope_theta": 150_000, "rope_scaling_factor": 4.0, "rope_ntk_alpha": 1,
               "rope_ntk_beta": 32}  # fmt: skip
    [encoding] = found(of(gpt_oss)).values()
    assert encoding.form.n_positions == 256
    assert encoding.form.scaling["beta_fast"] == 32
    assert "rope_scaling_factor" in encoding.origins["scaling"].keys
    mamba = {"d_model": 64, "n_layer": 4, "vocab_size": 100, "ssm_cfg": {"layer": "Mamba2"},
             "attn_layer_idx": [2],
             "attn_cfg": {"head_dim": 16, "num_heads": 4, "rotary_emb_dim": 8}}  # fmt: skip
    rotations = [one for one in found(of(mamba)).values() if one.scheme == "rotary"]
    assert [(one.layers, one.form.rotary_dim) for one in rotations] == [((2,), 8)]


def test_sections_of_ernie_and_of_hunyuan_are_in_the_order_of_their_code() -> None:
    """modeling_ernie4_5_vl_moe.py (height, width, time) and modeling_hunyuan_vl.py of
    transformers, whose sections are of components; Baidu's names as their conversion has them.
    """
    sizes = {"hidden_size": 256, "num_attention_heads": 2, "num_hidden_layers": 2,
             "vocab_size": 100, "max_position_embeddings": 64, "rope_theta": 5e5}  # fmt: skip
    images = {"model_type": "DFNRope_vision_transformer", "depth": 2, "embed_dim": 64,
              "hidden_size": 64, "num_heads": 2, "patch_size": 14}  # fmt: skip
    ernie = {**sizes, "model_type": "ernie4_5_moe_vl", "rope_3d": True, "freq_allocation": 20,
             "moe_num_experts": [4, 4], "vision_config": images}  # fmt: skip
    parts = found(of(ernie))
    assert "22 pairs rotate by height and 22 by width, in turn" in " ".join(parts["decoder"].notes)
    assert (parts["decoder"].form.base, parts["vision"].form.rotary_dim) == (5e5, 16)
    assert "not understood" not in asked(of(ernie)).lower()
    scaling = {"type": "xdrope", "factor": 1.0, "alpha": 1e3, "xdrope_section": [16] * 4}
    hunyuan = {**sizes, "model_type": "hunyuan_vl", "head_dim": 128, "rope_scaling": scaling}
    notes = " ".join(found(of(hunyuan))["decoder"].notes)
    assert "twice 16 components get their angles from the position, twice 16 from" in notes
    assert "in consecutive blocks," in notes.lower()


def test_all_four_stacks_of_blt_are_parts() -> None:
    """The defaults of transformers: bases, and windows of modeling_blt.py."""
    blt = {"model_type": "blt", "architectures": ["BltForCausalLM"]}
    forms = {part: one.form for part, one in found(of(blt)).items()}
    assert {part: (form.base, form.window) for part, form in forms.items()} == {
        "decoder": (5e5, 512), "encoder": (5e5, 512), "global transformer": (5e5, None),
        "patcher": (1e4, 512),
    }  # fmt: skip
    assert "patcher" not in found(of({**blt, "patch_in_forward": False}))


def test_layers_of_monarch_mixer_have_no_alibi() -> None:
    """bert_layers.py of github.com/HazyResearch/m2."""
    mixer = {**HALF, "model_type": "bert", "architectures": ["BertForMaskedLM"],
             "alibi_starting_size": 64, "max_position_embeddings": 64,
             "monarch_mixer_sequence_mixing": True, "use_positional_encodings": True}  # fmt: skip
    [table] = found(of(mixer)).values()
    assert (table.scheme, table.provenance.shape) == ("learned", (64, 64))
    assert {layer.type for layer in layer_map(of(mixer), [table])} == {"conv"}
    assert found(of({**mixer, "use_positional_encodings": False})) == {}


def test_parler_without_rotation_has_the_sinusoid_of_musicgen() -> None:
    """modeling_parler_tts.py of github.com/huggingface/parler-tts."""
    decoder = {**HALF, "model_type": "parler_tts_decoder", "max_position_embeddings": 32,
               "rope_theta": 1e4}  # fmt: skip
    for rotates, scheme in ((False, "sinusoidal"), (True, "rotary")):
        whole = {"model_type": "parler_tts", "decoder": {**decoder, "rope_embeddings": rotates}}
        [encoding] = found(of(whole)).values()
        assert (encoding.scheme, encoding.part, encoding.is_guess) == (scheme, "decoder", False)
        assert "how that part encodes" not in asked(of(whole))


@pytest.mark.parametrize(("task", "shapes"), [
    ("MaskedLM", {"encoder": (32, 16), "decoder": (32, 16)}),
    ("ImageClassificationLearned", {"encoder": (64, 256)}),
    ("ImageClassificationFourier", {}),
])  # fmt: skip
def test_a_perceiver_has_the_input_layer_of_its_task(task: str, shapes: dict[str, Any]) -> None:
    """Classes of modeling_perceiver.py of transformers."""
    settings = {
        "model_type": "perceiver", "architectures": [f"PerceiverFor{task}"], "d_model": 16,
        "d_latents": 16, "num_latents": 4, "num_self_attends_per_block": 1,
        "num_self_attention_heads": 1, "num_cross_attention_heads": 1, "image_size": 8,
        "max_position_embeddings": 32, "vocab_size": 20,
    }  # fmt: skip
    settings |= {"d_model": 512} if "Learned" in task else {}
    tables = found(of(settings))
    assert {part: one.provenance.shape for part, one in tables.items()} == shapes
    assert ("Fourier features" in asked(of(settings))) == ("Fourier" in task)


META: Settings = {"dim": 64, "n_layers": 8, "n_heads": 4, "n_kv_heads": 2, "vocab_size": 100}


def test_params_of_llama_4_have_layers_without_rotation_and_chunks(tmp_path: Path) -> None:
    more = {"rope_theta": 5e5, "use_scaled_rope": True, "rope_scaling_factor": 16,
            "rope_high_freq_factor": 1, "nope_layer_interval": 4, "attention_chunk_size": 32,
            "rope_of_nobody": 3}  # fmt: skip
    files = params(tmp_path, {**META, **more})
    [encoding] = found(files).values()
    assert encoding.layers == (0, 1, 2, 4, 5, 6)
    assert encoding.form.window == 32
    assert encoding.form.scaling["high_freq_factor"] == 1
    assert encoding.origins["base"] == Origin(("rope_theta",), None)
    assert encoding.origins["window"] == Origin(("attention_chunk_size",), None)
    assert evidence(files.config).unread == (("rope_of_nobody", 3),)


def test_params_of_mistral_have_windows_by_layer_and_yarn(tmp_path: Path) -> None:
    yarn = {"factor": 16.0, "original_max_position_embeddings": 32, "beta": 32.0, "alpha": 1.0,
            "apply_scale": False}  # fmt: skip
    files = params(tmp_path, {**META, "sliding_window": [None, 16, 16, 16], "yarn": yarn})
    kinds = [encoding.layers for encoding in look_closely(files).measured]
    assert kinds == [tuple(range(8))]
    [encoding] = found(files).values()
    assert encoding.form.rope_type == "yarn"
    assert encoding.form.attention_factor == 1.0
    assert files.config.listed("layer_types").count("full_attention") == 2


def test_params_of_mistral_with_images_have_no_window_of_their_own(tmp_path: Path) -> None:
    """The class of transformers has one of 4,096 by default, Mistral's code none."""
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
             "image_size": 32, "patch_size": 8}  # fmt: skip
    images = {"vision_encoder_args": sizes}
    sound: Settings = {"whisper_model_args": {"encoder_args": {}}}
    for more in ({"vision_encoder": sizes}, {"multimodal": images}, {"multimodal": sound}):
        files = params(tmp_path, {**META, **more})
        parts = (
            {"decoder"} if sound in more.values() else {"decoder", "vision rows", "vision columns"}
        )
        assert found(files).keys() == parts
        assert {layer.before for layer in layer_map(files, look_closely(files).all)} == {None}


def test_yarn_and_the_growth_of_mistral_have_each_its_length(tmp_path: Path) -> None:
    """Where they are the same, as in transformers, both count; otherwise that of YaRN."""
    yarn = {"factor": 16.0, "original_max_position_embeddings": 32, "beta": 32.0, "alpha": 1.0}
    growth = {"original_max_position_embeddings": 32, "beta": 0.1}
    same = params(tmp_path, {**META, "yarn": yarn, "llama_4_scaling": growth})
    assert len(found(same)) == 2
    [rotary] = [one for one in look_closely(same).measured if one.scheme == "rotary"]
    assert "yarn.original_max_position_embeddings" in rotary.origins["scaling"].keys
    assert "is not read" not in asked(same)
    growth["original_max_position_embeddings"] = 64
    other = params(tmp_path, {**META, "yarn": yarn, "llama_4_scaling": growth})
    [encoding] = found(other).values()
    assert encoding.form.scaling["original_max_position_embeddings"] == 32


def test_towers_of_open_clip_are_those_of_clip(tmp_path: Path) -> None:
    """ViT-H-14.json of open_clip in small; a tower of timm is of no known family."""
    text = {"context_length": 77, "vocab_size": 100, "width": 32, "heads": 2, "layers": 1}
    images = {"image_size": 28, "layers": 1, "width": 160, "head_width": 80, "patch_size": 14}
    tensors = {"positional_embedding": (77, 32), "visual.positional_embedding": (5, 160)}
    save_file({name: torch.rand(shape) for name, shape in tensors.items()},
              tmp_path / "open_clip_model.safetensors")  # fmt: skip
    for towers, family in ((images, "clip"), ({**images, "timm_model_name": "vit"}, "open_clip")):
        config = {"model_cfg": {"embed_dim": 32, "vision_cfg": towers, "text_cfg": text}}
        (tmp_path / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
        files = FolderFiles(tmp_path, "own")
        assert files.config.family == family
        of_words = "text" if family == "clip" else "encoder"
        assert set(found(files)) == {of_words, "vision"}


GGUF: Settings = {
    "block_count": 4, "context_length": 256, "embedding_length": 64, "attention.head_count": 4,
    "attention.key_length": 16, "rope.freq_base": 1e6, "vocab_size": 100,
}  # fmt: skip


def test_layers_of_a_gguf_that_predict_further_tokens_are_not_run(tmp_path: Path) -> None:
    files = gguf(tmp_path, "glm4moe", {**GGUF, "nextn_predict_layers": 1})
    [encoding] = found(files).values()
    assert encoding.layers == (0, 1, 2)
    assert encoding.origins["base"] == Origin(("glm4moe.rope.freq_base",), None)


def test_layers_with_a_window_turn_as_many_components_as_others(tmp_path: Path) -> None:
    pattern = {
        "attention.sliding_window": 32,
        "attention.sliding_window_pattern": [True, False] * 2,
    }
    files = gguf(tmp_path, "mimo2", {**GGUF, **pattern, "rope.freq_base_swa": 1e4,
                                     "rope.dimension_count": 8})  # fmt: skip
    rotary = [one for one in found(files).values() if one.scheme == "rotary"]
    assert [one.form.rotary_dim for one in rotary] == [8, 8]


def test_a_model_in_gguf_that_sees_both_sides_is_an_encoder(tmp_path: Path) -> None:
    files = gguf(tmp_path, "nomic-bert-moe", {**GGUF, "attention.causal": False})
    assert [one.part for one in look_closely(files).measured] == ["encoder"]


IN_YARN: Settings = {
    "rope.scaling.type": "yarn", "rope.scaling.factor": 4.0,
    "rope.scaling.original_context_length": 64,
}  # fmt: skip


@pytest.mark.parametrize(
    ("architecture", "mixed", "kinds"),
    [("grok", 1.0, ["yarn"]), ("grok", 0.0, ["linear"]), ("grok", 64.0, []),
     ("llama", 0.0, ["yarn"])],
)  # fmt: skip
def test_a_share_of_the_ramp_of_yarn_other_than_1_is_no_yarn_where_it_is_read(
    tmp_path: Path, architecture: str, mixed: float, kinds: list[str]
) -> None:
    """src/models/grok.cpp of llama.cpp; none of the others reads it."""
    scaling = {**IN_YARN, "rope.scaling.yarn_ext_factor": mixed}
    files = gguf(tmp_path, architecture, {**GGUF, **scaling})
    assert [one.form.rope_type for one in found(files).values()] == kinds
    assert ("yarn_ext_factor 64" in asked(files)) == (not kinds)


@pytest.mark.parametrize(("architecture", "taken"), [("qwen3", 32.0), ("mistral3", 4.0)])
def test_the_range_of_yarn_is_that_of_llama_cpp_where_it_reads_no_other(
    tmp_path: Path, architecture: str, taken: float
) -> None:
    """src/models/mistral3.cpp, and yarn_beta_fast in src/llama-hparams.h of llama.cpp."""
    settings = {**GGUF, **IN_YARN, "rope.scaling.yarn_beta_fast": 4.0}
    [encoding] = found(gguf(tmp_path, architecture, settings)).values()
    assert encoding.form.scaling["beta_fast"] == taken


@pytest.mark.parametrize("architecture", ["phi3", "phimoe"])
def test_a_window_that_llama_cpp_does_not_apply_is_none(tmp_path: Path, architecture: str) -> None:
    files = gguf(tmp_path, architecture, {**GGUF, "attention.sliding_window": 32})
    assert {layer.width for layer in layer_map(files, [])} == {None}


def test_attention_of_kimi_linear_is_where_heads_have_keys(tmp_path: Path) -> None:
    heads = {"attention.head_count_kv": [0, 0, 0, 1]}
    files = gguf(tmp_path, "kimi-linear", {**GGUF, **heads})
    assert files.config.listed("layer_types") == ["linear_attention"] * 3 + ["full_attention"]


def test_weights_alone_tell_neither_the_stack_nor_the_size_of_a_head(tmp_path: Path) -> None:
    frequencies = 1e4 ** -(torch.arange(8) / 8)
    name = "gpt_neox.layers.0.attention.rotary_emb.inv_freq"
    save_file({name: frequencies}, tmp_path / "model.safetensors")
    files = FolderFiles(tmp_path, "own", Choice(name="model.safetensors"))
    [encoding] = found(files).values()
    assert encoding.part == "model"
    assert (encoding.record.parameters["rotary_dim"], encoding.record.parameters["head_dim"]) == (
        16, None,
    )  # fmt: skip


def test_what_is_traced_names_the_keys_of_the_file() -> None:
    def read(given: Any) -> dict[str, Any]:
        return {"outer": {"size": given["dim"] * given["n"]}}

    traced = keys.traced({"dim": 2, "n": 3, "rope_kind": "odd", "other": 1}, read, "none")
    assert traced == {
        "outer": {"size": 6},
        "keys_of_file": {"outer.size": {"dim": 2, "n": 3}},
        "unread_keys": {"rope_kind": "odd"},
        "program": "none",
    }


def rotary_module(family: str, settings: Mapping[str, Any]) -> Any:
    """The module of transformers for the rotation of a config; None where it has none, or refuses
    the config.
    """
    config_class = config_classes()[family]
    name = config_class.__name__.removesuffix("Config") + "RotaryEmbedding"
    try:
        with quietly():
            module = import_module(config_class.__module__.replace("configuration_", "modeling_"))
            return getattr(module, name)(config_class(**settings))
    except Exception:  # noqa: BLE001 (config classes and modules validate in many ways)
        return None


def frequencies(module: Any) -> list[Any]:
    return [
        buffer.double().numpy().round(9).tolist()
        for name, buffer in module.named_buffers()
        if name.endswith("inv_freq") and "original" not in name
    ]


# Ends of keys that the module reads and the model overrides: by qk_rope_head_dim, or by a list with
# the base of each layer; those of kinds of layers that the default config lacks; and those of
# rotations of patches and of sound, which others read.
SHARE, BASE = ("partial_rotary_factor",), ("rope_theta",)
OTHERWISE = {
    **dict.fromkeys(("mistral4", "efficientloftr"), SHARE),
    **dict.fromkeys(("granite_swa", "granitemoe_swa"), BASE),
    **dict.fromkeys(("deepseek_v4", "musicflamingo"), SHARE + BASE),
}
ROTATING = [family for family in sorted(config_classes()) if "rope_parameters" in defaults(family)]


def test_most_families_with_a_rotation_have_a_module_to_compare_with() -> None:
    compared = [rotary_module(family, defaults(family)) is not None for family in ROTATING]
    assert sum(compared) > len(compared) * 0.7


def missed(family: str, given: Mapping[str, Any]) -> list[str]:
    """Keys of position whose change turns the module of the family otherwise, and neither changes
    what is said nor is named.
    """
    settings = {**given, "model_type": family}
    theirs = rotary_module(family, given)
    ours = evidence_module.effects(of(settings).config)
    if theirs is None or not any("rotary" in key for key in ours or {}):
        return []  # Its code has no such module, or does not rotate by default.
    usual, found = frequencies(theirs), []
    named = {name for name, _ in evidence(of(settings).config).unread}
    for path, value in keys.leaves(given):
        if not keys.concerns_position(path) or value is None or keys.dotted(path) in named:
            continue
        for other in keys.others(value):
            changed = keys.with_value(settings, path, other)
            after = evidence_module.effects(of(changed).config)
            own = rotary_module(family, {k: v for k, v in changed.items() if k != "model_type"})
            if after == ours and own is not None and frequencies(own) != usual:
                found.append(keys.dotted(path))
    return [name for name in found if not name.endswith(OTHERWISE.get(family, ("\0",)))]


@pytest.mark.parametrize("family", ROTATING)
def test_a_key_that_changes_nothing_here_changes_nothing_in_the_code_of_its_family(
    family: str,
) -> None:
    """Of every key of position in the defaults of a config class that has a rotation."""
    assert missed(family, defaults(family)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("model", [*known_models()], ids=lambda model: model.id)
def test_nor_does_a_key_of_a_published_config(model: KnownModel) -> None:
    """Of its text model."""
    text = model.files.config.text_model
    if text.family in config_classes():
        given = {name: value for name, value in text.settings.items() if name != "model_type"}
        assert missed(text.family, given) == []


def every_alone(config: object, paths: list[keys.Path], before: object) -> Iterator[keys.Path]:
    """In place of halves."""
    yield from paths


def one_by_one_as_by_halves(config: ModelConfig, monkeypatch: pytest.MonkeyPatch) -> bool:
    by_halves = evidence(config)
    evidence_module._evidence.cache_clear()
    monkeypatch.setattr(evidence_module, "_acting", every_alone)
    return evidence(config) == by_halves


def test_by_halves_the_same_keys_are_found_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where image and patch are doubled together, their number of patches stays."""
    model = known_model("MiniMaxAI/MiniMax-M3")
    assert model is not None
    assert one_by_one_as_by_halves(model.files.config, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("model", [*known_models()], ids=lambda model: model.id)
def test_by_halves_in_every_published_config(
    model: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert one_by_one_as_by_halves(model.files.config, monkeypatch)


def test_checkpoints_of_one_training_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = evidence(ConfigAlone(LLAMA, "step 10").config)
    monkeypatch.setattr(evidence_module, "effects", pytest.fail)
    assert evidence(ConfigAlone(LLAMA, "step 20").config) == first


def test_the_rotated_share_has_its_key_where_another_value_of_it_is_refused() -> None:
    """As many factors stand in a list as pairs turn (LongRoPE): 0.75 of 128 components, and 32."""
    for hub_id, name, size in (
        ("microsoft/Phi-4-mini-instruct", "partial_rotary_factor", 96),
        ("openbmb/MiniCPM3-4B", "qk_rope_head_dim", 32),
    ):
        model = known_model(hub_id)
        assert model is not None
        (record,) = [one.record for one in look_closely(model.files).all]
        assert record.parameters["rotary_dim"] == size
        assert record.origins["rotary_dim"] == Origin((name,), None)
    assert record.origins["base"] == Origin((), "MiniCPM3Config")
