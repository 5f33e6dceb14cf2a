"""Twins from conversions that other programs made: each is equal, and with one setting of the copy
broken, the difference is named. tests/fixtures/conversions/README.md names the programs.
"""

import gzip
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.files.weights import Choice
from generator.contracts import Comparison, Files
from generator.encyclopedia.known_models import known_models
from generator.numerics.arrays import Array
from generator.reading import comparison, lint, sides
from generator.reading.comparison import compared
from generator.reading.evidence import look_closely
from generator.reading.find import look
from generator.reading.sides import Side
from tests.gguf_files import close, write
from tests.reading.judged import EQUAL, Judged, Seen, seen

FIXTURES = Path(__file__).parents[1] / "fixtures/conversions"
GGUF = Choice(name="model.gguf")
Settings = dict[str, Any]
Change = Callable[[Array], Array]


def between(one: Files, other: Files) -> Comparison:
    return compared(Side.of("A", one), Side.of("B", other))


def original(name: str) -> Files:
    folder = FIXTURES / name
    if (folder / "model.safetensors").exists():
        return FolderFiles(folder, "own", Choice(name="model.safetensors"))
    return ConfigAlone(json.loads((folder / "config.json").read_text("utf-8")), "own")


def copied(name: str, folder: Path) -> Path:
    """The folder of a conversion, where it may be changed."""
    shutil.copytree(FIXTURES / name / "copy", folder)
    for packed in folder.glob("*.gz"):
        packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    return folder


def check(found: Comparison, kind: str, text: str) -> None:
    assert found.verdict == "different"
    assert [one.kind for one in found.differences] == [kind]
    assert text in found.differences[0].text


@dataclass(frozen=True)
class Broken:
    """What is changed in a GGUF file: settings by the ends of their keys, tensors (None: it is left
    out), or the architecture.
    """

    settings: Settings = field(default_factory=dict)
    tensors: Mapping[str, Change | None] = field(default_factory=dict)
    architecture: str = ""

    def write(self, source: Path, path: Path) -> None:
        read = gguf.GGUFReader(source)
        old = read.fields["general.architecture"].contents()
        new = self.architecture or old
        writer = gguf.GGUFWriter(path, new)
        for key, stored in read.fields.items():
            if not key.startswith("GGUF.") and key != "general.architecture":
                end = key.removeprefix(f"{old}.")
                value = self.settings.get(end, stored.contents())
                inner = stored.types[-1] if len(stored.types) > 1 else None
                name = key if end == key else f"{new}.{end}"
                writer.add_key_value(name, value, stored.types[0], inner)
        for tensor in read.tensors:
            change = self.tensors.get(tensor.name, np.asarray)
            if change is not None:
                writer.add_tensor(tensor.name, change(tensor.data), raw_dtype=tensor.tensor_type)
        close(writer, path)


def shifted(table: Array) -> Array:
    return np.roll(table, 1, axis=0)


def doubled(values: Array) -> Array:
    return 2 * values


# Of published configs, the architecture, settings and lists of factors that llama.cpp's converter
# writes, with the verdict and the kinds of differences.
PUBLISHED: dict[str, tuple[str, Settings, dict[str, list[float]], str, list[str]]] = {
    name: tuple(rest)
    for name, *rest in json.loads((FIXTURES / "llama_cpp_published.json").read_text("utf-8"))
}
CONFIGS = {model.id: model.settings for model in known_models()}
LEAST, STEP = 80, 12  # Architectures; one config in so many is a test of every run.
LLAMA_CPP: list[tuple[str, Broken, str, str]] = [
    ("llama3", Broken(tensors={"rope_freqs.weight": None}), "rotation", "llama3 scaling"),
    ("qwen3_yarn", Broken({"rope.scaling.factor": 8.0}), "rotation", "cosine and sine × 1.208"),
    ("phi3_longrope", Broken(tensors={"rope_factors_long.weight": doubled}), "longer",
     "texts beyond 64 positions by 1 to 4 in A and by 2 to 8 in B"),
    ("gemma3", Broken({"attention.sliding_window": 32}), "mixing",
     "In 5 of 6 layers of the decoder (0–4), A has windows within 16"),
    ("gpt_oss", Broken({"rope.freq_base": 1e4}), "rotation", "base 10,000"),
    ("gpt_oss", Broken(tensors={"blk.1.attn_sinks.weight": doubled}), "values", "Attention sinks"),
    ("smollm3", Broken(architecture="llama"), "rotation_alone",
     "In 1 of 4 layers of the decoder (3), B has"),
    ("qwen2vl", Broken({"rope.dimension_sections": [1, 1, 2, 0]}), "sections", "1, 1 and 2"),
    ("gpt2", Broken(tensors={"position_embd.weight": shifted}), "values",
     "Learned table (decoder)"),
    ("roberta", Broken({"context_length": 34}), "context", "34 in B"),
    ("t5", Broken(tensors={"enc.blk.0.attn_rel_b.weight": doubled}), "values",
     "Learned relative bias (encoder) differs"),
    ("olmo3", Broken({"rope.scaling.factor": 8.0}), "rotation", "cosine and sine × 1.208"),
    ("glm4_moe", Broken({"rope.dimension_count": 2}), "rotation", "2 of 8 components"),
    ("falcon_h1", Broken({"rope.freq_base": 1e4}), "rotation", "base 10,000"),
    ("lfm2", Broken({"rope.freq_base": 1e4}), "rotation", "base 10,000"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "broken", "kind", "text"), LLAMA_CPP)
def test_gguf_by_llama_cpp(tmp_path: Path, name: str, broken: Broken, kind: str, text: str) -> None:
    folder = FIXTURES / f"llama_cpp_{name}"
    one = original(folder.name)
    assert between(one, FolderFiles(folder, "own", GGUF)).verdict == "equal"
    broken.write(folder / "model.gguf", tmp_path / "model.gguf")
    check(between(one, FolderFiles(tmp_path, "own", GGUF)), kind, text)


LOST: dict[str, Seen] = {
    "llama_cpp_granitemoehybrid": ("different", ["context", "mixing", "rotation_alone"]),
}


def test_what_the_converter_loses_of_a_hybrid_model_of_granite() -> None:
    """It takes “attention” alone for a layer of attention, which transformers 5 saves otherwise,
    gives no hybrid model but Bamba a rotation, and writes 2²⁰ positions (conversion/granite.py).
    """
    folder = FIXTURES / "llama_cpp_granitemoehybrid"
    found = between(original(folder.name), FolderFiles(folder, "own", Choice(name="model.gguf")))
    assert seen(found) == LOST[folder.name]


def judged_published(name: str, folder: Path) -> Judged:
    """The verdict on a published config and on what the converter writes of it.

    The kinds of differences are those that the code of the converter, and that of llama.cpp which
    reads its files, makes: settings that they lose, or take another way.
    """
    (folder / name).mkdir(parents=True)
    architecture, settings, tensors, verdict, kinds = PUBLISHED[name]
    arrays = {each: np.array(values, np.float32) for each, values in tensors.items()}
    write(folder / name / "model.gguf", architecture, settings, arrays)
    files = FolderFiles(folder / name, "own", GGUF)
    found = between(ConfigAlone(CONFIGS[name], "own"), files)
    return Judged(name, seen(found), (verdict, kinds))


def by_llama_cpp() -> Iterator[Judged]:
    for path in sorted(FIXTURES.glob("llama_cpp_*/model.gguf")):
        name = path.parent.name
        found = between(original(name), FolderFiles(path.parent, "own", GGUF))
        yield Judged(name, seen(found), LOST.get(name, EQUAL))


def by_others(folder: Path) -> Iterator[Judged]:
    for name, *_ in COPIES:
        found = between(original(name), FolderFiles(copied(name, folder / name), "own"))
        yield Judged(name, seen(found), EQUAL)


@pytest.fixture
def without_origins(monkeypatch: pytest.MonkeyPatch) -> None:
    """They decide nothing, and take longest."""
    monkeypatch.setattr(sides, "look_closely", look)
    monkeypatch.setattr(comparison, "unread_keys", lambda *_: ())


@pytest.mark.usefixtures("without_origins")
def test_verdicts_on_published_configs_and_their_gguf(tmp_path: Path) -> None:
    judged = [judged_published(name, tmp_path) for name in [*PUBLISHED][::STEP]]
    assert [one.wrong for one in judged if one.wrong] == []


@pytest.mark.thorough
@pytest.mark.usefixtures("without_origins")
def test_verdicts_on_every_published_config_and_its_gguf(tmp_path: Path) -> None:
    assert len({architecture for architecture, *_ in PUBLISHED.values()}) >= LEAST
    judged = [judged_published(name, tmp_path) for name in PUBLISHED]
    assert [one.wrong for one in judged if one.wrong] == []


def with_setting(folder: Path, *keys: str, value: object) -> None:
    """Set a value of config.json, by the keys that lead to it."""
    whole = json.loads((folder / "config.json").read_text("utf-8"))
    inner = whole
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    (folder / "config.json").write_text(json.dumps(whole), "utf-8")


def with_tensor(folder: Path, name: str) -> None:
    """Shift a tensor by a row."""
    tensors = load_file(folder / "model.safetensors")
    tensors[name] = tensors[name].roll(1, 0)
    save_file(tensors, folder / "model.safetensors")


def with_initializer(folder: Path, name: str) -> None:
    """Shift a tensor of an ONNX graph by a row."""
    model = onnx.load(folder / "model.onnx")
    [tensor] = [one for one in model.graph.initializer if one.name == name]
    tensor.CopyFrom(numpy_helper.from_array(shifted(numpy_helper.to_array(tensor)), name))
    onnx.save(model, folder / "model.onnx")


def scaling(folder: Path) -> None:
    with_setting(folder, "rope_parameters", "factor", value=4.0)


def length(folder: Path) -> None:
    with_setting(folder, "n_positions", value=16)


def base(folder: Path) -> None:
    with_setting(folder, "rope_theta", value=1e4)


def base_5(folder: Path) -> None:
    with_setting(folder, "rope_parameters", "rope_theta", value=1e4)


def gpt_table(folder: Path) -> None:
    with_tensor(folder, "transformer.wpe.weight")


def bert_table(folder: Path) -> None:
    with_initializer(folder, "embeddings.position_embeddings.weight")


COPIES: list[tuple[str, Callable[[Path], None], str, str]] = [
    ("mlx_lm_llama3", scaling, "rotation", "llama3 scaling"),
    ("mlx_lm_starcoder", gpt_table, "values", "Learned table (decoder)"),
    ("peft_gpt2", gpt_table, "values", "Learned table (decoder)"),
    ("quanto_gpt2", length, "context", "16 in B"),
    ("compressed_tensors_llama3", scaling, "rotation", "llama3 scaling"),
    ("compressed_tensors_nvfp4_llama3", base_5, "rotation", "base 10,000"),
    ("modelopt_nvfp4_llama3", base_5, "rotation", "base 10,000"),
    ("bitsandbytes_llama3", base_5, "rotation", "base 10,000"),
    ("bitsandbytes_bf16_llama3", base_5, "rotation", "base 10,000"),
    ("gptq_qwen2", base_5, "rotation", "base 10,000"),
    ("awq_llama3", base_5, "rotation", "base 10,000"),
    ("optimum_bert", bert_table, "values", "Learned table (encoder)"),
    ("optimum_llama", base, "rotation", "base 10,000"),
]


@pytest.mark.parametrize(("name", "breaks", "kind", "text"), COPIES)
def test_copies_by_other_programs(
    tmp_path: Path, name: str, breaks: Callable[[Path], None], kind: str, text: str
) -> None:
    one, folder = original(name), copied(name, tmp_path / "copy")
    assert between(one, FolderFiles(folder, "own")).verdict == "equal"
    breaks(folder)
    check(between(one, FolderFiles(folder, "own")), kind, text)


PACKED = [
    ("compressed_tensors_llama3", "packed I32"),
    ("compressed_tensors_nvfp4_llama3", "packed U8"),
    ("modelopt_nvfp4_llama3", "U8"),
    ("bitsandbytes_llama3", "packed U8"),
    ("bitsandbytes_bf16_llama3", "packed BF16"),
    ("gptq_qwen2", "packed I32"),
    ("awq_llama3", "packed I32"),
]


@pytest.mark.parametrize(("name", "dtype"), PACKED)
def test_packed_queries_and_keys_are_not_weighed(name: str, dtype: str) -> None:
    """It is a note of compare and a fact of lint, which has no other line that the source lacks."""
    one, other = original(name), FolderFiles(FIXTURES / name / "copy", "own")
    said = f"stored as {dtype}, which this atlas does not read: the order of pairs is"
    assert any(
        note.startswith(f"Queries and keys of B are {said}") for note in between(one, other).notes
    )
    findings = [
        {(each.rule, each.level, each.text) for each in lint.findings(files, look_closely(files))}
        for files in (one, other)
    ]
    assert not findings[0] - findings[1]
    [(rule, level, text)] = findings[1] - findings[0]
    assert (rule, level) == ("pair-order", "fact")
    assert text.startswith(f"Queries and keys are {said}")


def test_an_onnx_graph_alone_is_equal_as_far_as_it_tells(tmp_path: Path) -> None:
    folder = copied("optimum_bert", tmp_path / "copy")
    (folder / "config.json").unlink()
    found = between(original("optimum_bert"), FolderFiles(folder, "own", Choice(name="model.onnx")))
    assert found.verdict == "equal as far as both files tell"
    assert "The layers of B are not known, because its family (unknown) is not." in found.untold
    bert_table(folder)
    broken = FolderFiles(folder, "own", Choice(name="model.onnx"))
    check(between(original("optimum_bert"), broken), "values", "Learned table (encoder)")


OLD: list[tuple[Settings, tuple[str, ...], object, str]] = [
    ({"model_type": "llama", "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}},
     ("rope_parameters", "factor"), 2.0, "linear scaling"),
    ({"model_type": "qwen3", "rope_theta": 1e6, "head_dim": 16, "rope_scaling": {
        "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}},
     ("rope_parameters", "rope_theta"), 1e4, "base 10,000"),
    ({"model_type": "gemma3_text", "rope_theta": 1e6, "rope_local_base_freq": 1e4, "head_dim": 16,
      "sliding_window": 16}, ("rope_parameters", "sliding_attention", "rope_theta"), 5e4,
     "(0–4), the rotation has base 10,000"),
    ({"model_type": "phi", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
     ("rope_parameters", "partial_rotary_factor"), 1.0, "8 of 16 components"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "keys", "value", "text"), OLD)
def test_settings_that_transformers_5_saves_in_its_own_form(
    tmp_path: Path, old: Settings, keys: tuple[str, ...], value: object, text: str
) -> None:
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 6,
             "num_key_value_heads": 4, "vocab_size": 100,
             "max_position_embeddings": 256}  # fmt: skip
    given = sizes | old
    AutoConfig.for_model(**json.loads(json.dumps(given))).save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text("utf-8"))
    assert "rope_parameters" in saved
    assert between(ConfigAlone(given, "own"), ConfigAlone(saved, "own")).verdict == "equal"
    with_setting(tmp_path, *keys, value=value)
    saved = json.loads((tmp_path / "config.json").read_text("utf-8"))
    check(between(ConfigAlone(given, "own"), ConfigAlone(saved, "own")), "rotation", text)


@pytest.mark.parametrize(("size", "dtype"), [("2KB", torch.float32), ("1GB", torch.bfloat16)])
def test_shards_and_half_precision_by_transformers(
    tmp_path: Path, size: str, dtype: torch.dtype
) -> None:
    one = original("peft_gpt2")
    model = AutoModelForCausalLM.from_pretrained(FIXTURES / "peft_gpt2", dtype=dtype)
    model.save_pretrained(tmp_path / "copy", max_shard_size=size)
    files = FolderFiles(tmp_path / "copy", "own")
    assert (tmp_path / "copy/model.safetensors.index.json").exists() == (size == "2KB")
    assert between(one, files).verdict == "equal"
    with torch.no_grad():
        model.transformer.wpe.weight.copy_(model.transformer.wpe.weight.roll(1, 0))
    model.save_pretrained(tmp_path / "broken", max_shard_size=size)
    check(between(one, FolderFiles(tmp_path / "broken", "own")), "values", "Learned table")


def test_a_file_of_torch(tmp_path: Path) -> None:
    tensors = load_file(FIXTURES / "peft_gpt2/model.safetensors")
    shutil.copy(FIXTURES / "peft_gpt2/config.json", tmp_path)
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    one, choice = original("peft_gpt2"), Choice(pickle=True)
    assert between(one, FolderFiles(tmp_path, "own", choice)).verdict == "equal"
    [name] = [name for name in tensors if name.endswith("wpe.weight")]
    torch.save({**tensors, name: tensors[name][:16]}, tmp_path / "pytorch_model.bin")
    check(between(one, FolderFiles(tmp_path, "own", choice)), "shape", "32 × 8 numbers in A")


def test_sinks_whose_values_one_file_lacks_are_a_note() -> None:
    """They tell no position, and config.json has none of any learned value."""
    folder = FIXTURES / "llama_cpp_gpt_oss"
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    found = between(
        ConfigAlone(settings, "own"), FolderFiles(folder, "own", Choice(name="model.gguf"))
    )
    assert found.verdict == "equal"
    assert any("A has no numbers for Attention sinks" in note for note in found.notes)
