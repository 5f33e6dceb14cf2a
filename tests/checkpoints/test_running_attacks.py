"""What a config, weights or a tokenizer can ask of a model that is run: each case has one clear
outcome, within seconds and little memory, and nothing but a model of transformers is made.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.running.opening import TEXT
from generator.contracts import UseOptions, UseResult
from generator.contracts.checkpoints import MOST_PARAMETERS, Scope
from generator.errors import NotApplicableError
from generator.pipeline import use
from generator.reading.plan import Task
from tests import tiny
from tests.analyses.use.stacks import model, stack_of
from tests.support import checkpoint

SIZES = {"n_positions": 128, "max_position_embeddings": 128, "vocab_size": 300}
OWN: dict[str, dict[str, Any]] = {
    "llama": {"num_key_value_heads": 1, "head_dim": 8},
    "t5": {"decoder_start_token_id": 0},
}
TOO_LARGE = rf"row: its config asks for [\d,]+ parameters; expected at most {MOST_PARAMETERS:,}"
Result = tuple[tuple[UseResult, ...], str]


def outcome(
    model_type: str,
    folder: Path,
    config: dict[str, Any] | None = None,
    tokenizer: dict[str, Any] | None = None,
    options: UseOptions | None = None,
) -> Result:
    """What is measured of a tiny model whose files say something else, and why nothing is."""
    if not folder.exists():
        tiny.build(model_type, **{**SIZES, **OWN.get(model_type, {})}).save_pretrained(folder)
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**settings, **(config or {})}))
    if tokenizer is not None:
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    row = checkpoint(use=options or UseOptions())
    files, measures = FolderFiles(folder, "row"), use.measures(Task(row, offline=True))
    each = [use.measured(files, row, task.measure) for task in measures]
    if why := next((why for _, why in each if why), ""):
        return (), why
    return tuple(one for found, _ in each for one in found), ""


def reasons(found: Result) -> dict[str, str | None]:
    """Why each measure has no result, by its key."""
    return {one.key: one.result.reason for one in found[0]}


LARGE = {
    "width": ("llama", {"hidden_size": 65_536, "intermediate_size": 262_144}),
    "inner": ("gpt2", {"n_inner": 10**9}),
    "words": ("gpt2", {"vocab_size": 10**9}),
    "buckets": ("t5", {"relative_attention_num_buckets": 10**9}),
}


@pytest.mark.parametrize(("model_type", "config"), LARGE.values(), ids=LARGE)
def test_a_config_that_asks_for_a_huge_model_is_refused_before_it_is_made(
    model_type: str, config: dict[str, Any], tmp_path: Path
) -> None:
    scope: Scope = "first_layer" if "n_inner" in config else "model"
    found, why = outcome(model_type, tmp_path / "row", config, options=UseOptions(scope=scope))
    assert found == ()
    assert re.match(TOO_LARGE, why), why


@pytest.mark.parametrize(
    "name",
    ["Trainer", "pipeline", "models", "__file__", "AutoModel", "BertModel", "GPT2Config",
     "PreTrainedModel", "no such name", 1, {"a": 1}],
    ids=str,
)  # fmt: skip
def test_architectures_name_models_of_this_config_and_nothing_else(
    name: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else transformers has under a name is not called."""
    monkeypatch.chdir(tmp_path)
    found = outcome("gpt2", tmp_path / "row", {"architectures": [name]})
    if name in ("models", "__file__", "no such name"):
        why = f"row: transformers has no model of the class {name!r}, and remote code is never run"
        assert found == ((), why)
    else:
        assert reasons(found)["heads"] is None
    assert [path.name for path in tmp_path.iterdir()] == ["row"]


KERNEL = "planted/kernel"
OF_THE_HUB: dict[str, Any] = {
    "attn_implementation": KERNEL, "_attn_implementation": KERNEL,
    "_attn_implementation_internal": KERNEL, "experts_implementation": KERNEL,
    "_experts_implementation": KERNEL, "_experts_implementation_internal": KERNEL,
    "use_kernels": True, "kernel_config": {"RMSNorm": f"{KERNEL}:RMSNorm"},
    "fusion_config": {"planted": True}, "distributed_config": {"tp_size": 2},
    "quantization_config": {"quant_method": "gptq", "bits": 4},
}  # fmt: skip


def test_a_config_chooses_no_code_that_computes(tmp_path: Path) -> None:
    for name, asked in OF_THE_HUB.items():
        found = outcome("gpt2", tmp_path / name, {name: asked})
        assert reasons(found)["heads"] is None, name


WEIGHTS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "NaN": (lambda values: values * float("nan"), "NaN or infinity in .* more; expected weights"),
    "infinity": (lambda values: values + float("inf"), "NaN or infinity in .* more; expected"),
    "one row": (lambda values: values[:1].contiguous(), "have in another shape .* and 13 more"),
    "numbers": (lambda values: values.reshape(-1)[0].clone(), "have in another shape"),
    "booleans": (lambda values: values.to(torch.bool), "dtype BOOL; expected one of"),
}


@pytest.mark.parametrize(("alter", "problem"), WEIGHTS.values(), ids=WEIGHTS)
def test_weights_that_no_model_can_have_are_refused(
    alter: Callable[[torch.Tensor], torch.Tensor], problem: str, tmp_path: Path
) -> None:
    outcome("gpt2", tmp_path / "row")
    path = tmp_path / "row/model.safetensors"
    save_file({name: alter(values) for name, values in load_file(path).items()}, path)
    found, why = outcome("gpt2", tmp_path / "row")
    assert found == ()
    assert re.search(problem, why), why


@pytest.mark.parametrize("start", [10**12, "a"], ids=str)
def test_a_decoder_that_begins_with_no_word_is_not_run(start: Any, tmp_path: Path) -> None:
    found, why = outcome("t5", tmp_path / "row", {"decoder_start_token_id": start})
    assert why or reasons((found, why))["heads"]


def test_a_decoder_whose_config_does_not_say_how_it_begins_is_run(tmp_path: Path) -> None:
    outcome("t5", tmp_path / "row")
    path = tmp_path / "row/config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings["decoder_start_token_id"]
    path.write_text(json.dumps(settings))
    assert reasons(outcome("t5", tmp_path / "row"))["heads"] is None


def test_a_sequence_without_room_for_words_is_not_read(tmp_path: Path) -> None:
    _, why = outcome("gpt2", tmp_path / "row", options=UseOptions(length=1))
    assert "fewer than the 2 words" in why


def tokenizer(n_ids: int = 300, shift: int = 0, **parts: Any) -> dict[str, Any]:
    """A tokenizer of the words of the text, the rarer of them with ids that are shifted."""
    words = list(dict.fromkeys(re.findall(r"\w+|[^\w\s]+", TEXT.read_text(encoding="utf-8"))))
    known = {word: index + shift * (index >= n_ids) for index, word in enumerate(words[:1000])}
    return {
        "version": "1.0",
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, **known}, "unk_token": "[UNK]"},
        **parts,
    }


def around(n: int, index: int) -> dict[str, Any]:
    """What puts ``n`` tokens of an id before each text."""
    first, text = {"SpecialToken": {"id": "[X]", "type_id": 0}}, {"id": "A", "type_id": 0}
    return {
        "type": "TemplateProcessing",
        "single": [*[first] * n, {"Sequence": text}],
        "pair": [{"Sequence": text}, {"Sequence": {**text, "id": "B"}}],
        "special_tokens": {"[X]": {"id": "[X]", "ids": [index], "tokens": ["[X]"]}},
    }


@pytest.mark.parametrize(("n", "index"), [(100, 5), (1, 10**8)])
def test_a_model_whose_tokenizer_frames_texts_by_no_word_or_too_many_is_not_run(
    n: int, index: int, tmp_path: Path
) -> None:
    found, why = outcome("gpt2", tmp_path / "row", None, tokenizer(post_processor=around(n, index)))
    assert found == ()
    assert why


def with_head(folder: Path) -> Path:
    """A model that predicts words."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(**{**tiny.SIZES, **tiny.LAYERS, **SIZES})
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            tokenizer(shift=10**6),
            "the text is in a language other than the model's",
        ),
        (
            # Onigmo gives it up, by a panic in Rust, which is no Exception of Python.
            tokenizer(
                pre_tokenizer={
                    "type": "Split", "pattern": {"Regex": "(\\w+\\s?)+!"}, "behavior": "Isolated",
                    "invert": False,
                }
            ),
            r"its tokenizer cannot read the text \(.*retry-limit-in-match over\)",
        ),
    ],
    ids=["ids that no word has", "an expression without end"],
)  # fmt: skip
def test_a_tokenizer_that_cannot_read_the_text_costs_the_measures_of_text_alone(
    given: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    found = reasons(outcome("gpt2", with_head(tmp_path / "row"), None, given))
    assert found["heads"] is None
    for key in ("position", "order"):
        assert re.fullmatch(problem, found[key] or ""), found[key]


NO_MEMORY = "it needs more memory than an entry may take"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), NO_MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried …"), NO_MEMORY),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB"), NO_MEMORY),
        (NotApplicableError("it reads images"), "it reads images"),
        (IndexError("index out of range"), "unexpected IndexError: index out of range"),
        # No path of this machine.
        (ImportError("no 'x' in '/home/me/x.py'"), "unexpected ImportError: no 'x' in 'x.py'"),
    ],
    ids=repr,
)
def test_an_error_costs_its_measure_or_what_is_measured_and_is_its_reason(
    error: Exception, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise error

    first, *_ = use.all_measures()
    stack = stack_of(model("gpt2", n_layer=1, n_head=2, n_embd=16))
    found = use._of_stack(replace(first, compute=fails), stack, checkpoint())
    assert found.result.reason == reason
    monkeypatch.setattr(use, "_opened", fails)
    assert outcome("gpt2", tmp_path / "row")[1] == reason


def test_a_model_without_a_number_of_layers_has_no_first_one(tmp_path: Path) -> None:
    asked = {"model_type": "timm_wrapper", "architecture": "planted"}
    _, why = outcome("gpt2", tmp_path / "row", asked, options=UseOptions(scope="first_layer"))
    assert why == "its config has no number of layers"
