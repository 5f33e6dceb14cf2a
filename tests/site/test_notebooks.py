"""The page on the notebooks: its programs run, and what each cell shows is what the atlas has."""

import io
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


def text_of(atlas: Atlas) -> str:
    """The page in Markdown."""
    return render.render(atlas, notebooks.pages(atlas), draw=lambda _: b"")[PATH].decode()


EMPTY = text_of(atlas_of())
PROGRAMS = dict(
    re.findall(r"^### [^\n]*\{ #([\w-]+) \}\n.*?^```python\n(.*?)```$", EMPTY, re.DOTALL | re.M)
)


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
def plt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """pyplot, beside tiny models in place of those of the Hub."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    from transformers import AutoModel, AutoTokenizer

    monkeypatch.setattr(AutoModel, "from_pretrained", tiny_model)
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", tiny_tokenizer)
    with mpl.rc_context({"backend": "Agg"}):
        yield plt
        plt.close("all")


def printed(program: str) -> str:
    with redirect_stdout(io.StringIO()) as output:
        exec(program, {})  # noqa: S102 (our own page)
    return output.getvalue()


def test_there_are_26_programs_of_at_most_five_lines() -> None:
    assert len(PROGRAMS) == EMPTY.count("```python") == 26
    lengths = {name: len(program.splitlines()) for name, program in PROGRAMS.items()}
    assert {name for name, length in lengths.items() if length > 5} == set()
    assert [name for name, program in PROGRAMS.items() if ";" in program] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_prints_or_draws_numbers(name: str, plt: Any) -> None:
    output = printed(PROGRAMS[name])
    axes = plt.gcf().axes
    drawn = [np.asarray(image.get_array()) for ax in axes for image in ax.images]
    drawn += [np.asarray(line.get_ydata(), dtype=float) for ax in axes for line in ax.lines]
    assert bool(output) != bool(drawn)
    assert all(np.all(np.isfinite(values)) for values in drawn)
    assert output or any(np.ptp(values) > 0.0 for values in drawn)


def test_programs_do_what_their_cells_say(plt: Any) -> None:
    assert float(printed(PROGRAMS["bert-normed"])) < 1e-6
    first, second = printed(PROGRAMS["bert-words"]).replace("[[", "[").split("]\n [")
    assert first.strip("[] \n") == second.strip("[] \n")
    assert "(position_embeddings): Embedding(512, 16)" in printed(PROGRAMS["bert-modules"])
    assert "(1, '[CLS]')" in printed(PROGRAMS["bert-tokens"])
    exec(PROGRAMS["sinusoid-table"], {})  # noqa: S102 (our own page)
    assert_allclose(plt.gcf().axes[0].images[0].get_array(), sinusoid(512, 512), atol=1e-12)


def test_without_a_model_no_cell_claims_a_figure_or_a_number() -> None:
    page = BeautifulSoup(EMPTY, "html.parser")
    assert EMPTY.count("This build has no numbers for this cell.") == 26
    assert page.find_all(["img", "figure", "pre"]) == []
    assert [a["href"] for a in page.find_all("a") if "checkpoints/" in str(a["href"])] == []
    assert "nearest model" not in EMPTY


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
    [found] = re.findall(rf"^(#### [^\n]*{{ #{anchor} .*?)(?=^#|\Z)", page, re.DOTALL | re.M)
    return str(found)


def test_every_cell_leads_to_a_section_that_has_what_it_shows(tree: Tree) -> None:
    shown = [(name, cell) for name, cell in cells(tree) if cell.select_one(".pa-kind")]
    assert len(shown) == 23  # It has no LayerNorm, nor the vocabulary of its config.
    for name, cell in shown:
        link = cell.select_one(".pa-kind a")
        assert isinstance(link, Tag), name
        target = section(tree, str(link["href"]))
        assert f"#### {link.get_text()} " in target, name
        pictures = [str(image["src"]) for image in cell.find_all("img")]
        assert all(f'src="{picture}"' in target for picture in pictures), name
        blocks = [block.get_text() for block in cell.find_all("pre")]
        html = BeautifulSoup(target, "html.parser")
        assert set(blocks) <= {block.get_text() for block in html.find_all("pre")}, name
        assert pictures or blocks or name == "gpt-2-sizes", name


def test_a_model_that_stands_for_another_is_named_as_such(tree: Tree) -> None:
    parts = tree[PATH].decode().split("\n## ")
    assert ["nearest model" in part for part in parts] == [False, False, False, True, True, True]
    assert all("The cells show the numbers of <a" in part for part in parts[1:3])
