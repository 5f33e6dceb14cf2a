"""For which architectures programs have code of their own."""

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.encyclopedia import by_program
from generator.encyclopedia.known_models import known_models
from generator.reading.lint import sentences
from generator.reading.registered import registered, without_code
from generator.reading.taken import all_readers

OF_BART = {"model_type": "bart", "architectures": ["BartForConditionalGeneration"]}
PROGRAMS = ("llama-cpp", "sglang", "vllm")


def test_lists_are_of_programs_whose_reading_is_known() -> None:
    versions = {reader.key: reader.version for reader in all_readers()}
    for program in PROGRAMS:
        assert registered(program)["names"] == sorted(set(registered(program)["names"]))
    assert [registered(one)["version"] for one in PROGRAMS[:2]] == [
        versions[one] for one in PROGRAMS[:2]
    ]
    assert registered("mlx-lm") == {}


@pytest.mark.parametrize(
    ("name", "programs"),
    [("LlamaForCausalLM", PROGRAMS), ("GPT2LMHeadModel", PROGRAMS),
     ("GPTJForCausalLM", ("sglang", "vllm")), ("OPTForCausalLM", ("sglang", "vllm")),
     ("CLIPModel", ("sglang", "vllm")), ("WhisperForConditionalGeneration", ("sglang", "vllm")),
     ("T5ForConditionalGeneration", ("llama-cpp",)), ("CodeGenForCausalLM", ()),
     ("BartModel", ()), ("AlbertModel", ()), ("XLNetLMHeadModel", ())],
)  # fmt: skip
def test_a_program_without_code_takes_nothing(name: str, programs: tuple[str, ...]) -> None:
    """llama.cpp 0c1e5709, conversion/__init__.py; vLLM 0.33.0, models/registry.py; SGLang 0.5.23,
    EntryClass of its models."""
    found = {one: without_code(one, {"architectures": [name]}) for one in PROGRAMS}
    assert found == {one: None if one in programs else (name,) for one in PROGRAMS}


def test_vllm_takes_names_with_other_ends_for_one_another() -> None:
    """config/model.py, _SUFFIX_TO_DEFAULTS, of vLLM 0.33.0: a model of sequences is the language
    model with another end."""
    settings = {"architectures": ["OPTForSequenceClassification"]}
    assert without_code("vllm", settings) is None
    assert without_code("sglang", settings) == ("OPTForSequenceClassification",)


def test_the_converter_goes_by_the_architecture_of_the_text_model() -> None:
    """conversion/base.py, get_model_architecture, of llama.cpp 0c1e5709."""
    whole = {"architectures": ["PaliGemmaForConditionalGeneration"], "model_type": "paligemma"}
    text = {"text_config": {"architectures": ["GemmaForCausalLM"]}}
    assert without_code("llama-cpp", {**whole, **text}) is None
    assert without_code("llama-cpp", whole) == ("PaliGemmaForConditionalGeneration",)


def test_a_file_without_architectures_goes_by_its_model_type() -> None:
    assert without_code("llama-cpp", {"model_type": "gptj"}) == ("gptj",)
    assert without_code("llama-cpp", {"model_type": "phimoe"}) is None
    assert without_code("llama-cpp", {"model_type": "unheard"}) == ()


def test_of_an_architecture_of_its_makers_nothing_is_said() -> None:
    settings = {"model_type": "llama", "architectures": ["OurOwnForCausalLM"]}
    assert [without_code(one, settings) for one in PROGRAMS] == [(), (), ()]
    told = sentences(ConfigAlone({**settings, "hidden_size": 64}, "own").config)
    assert not [one for one in told if "no code" in one]
    assert [one for one in told if "is not known" in one and "vLLM" in one]


def test_what_no_program_has_code_for_is_no_reading_of_its_config() -> None:
    told = sentences(ConfigAlone(OF_BART, "own").config)
    assert "llama.cpp's converter 0c1e5709 has no code for BartForConditionalGeneration." in told
    of_others = [one for one in told if "of their own" in one]
    assert of_others == [
        "SGLang 0.5.23 and vLLM 0.33.0 have no code of their own for BartForConditionalGeneration;"
        " whether they run that of transformers is not known here."
    ]
    assert not [one for one in told if "not run" in one]


def test_pages_of_published_models_name_no_program_without_code() -> None:
    names = {"llama-cpp": "llama.cpp", "sglang": "SGLang", "vllm": "vLLM"}
    offenders = [
        (model.id, program)
        for model in known_models()
        for program, name in names.items()
        if name in by_program.of(model)["known"]
        and without_code(program, model.settings) is not None
    ]
    assert offenders == []
