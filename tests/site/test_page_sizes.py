"""Sizes of pages: of a checkpoint for which nearly every analysis is applicable, of several such
tables, and in a site of many checkpoints.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from generator.contracts import Atlas, Metric, Outcome, Page, PageKind, Reading, discovery
from generator.encodings import sinusoid
from generator.figures import output
from generator.numerics.arrays import Floats
from generator.pipeline import evaluate, plan
from generator.pipeline.find import all_schemes
from generator.site import pages, render, write
from generator.site.html import mkdocs_build
from generator.site.materials import OURS
from tests.built import ROOT
from tests.support import checkpoint, save_folder
from tests.synthetic import BUCKETS, write_folder

MOST_BYTES = 60_000
MANY = 120
NAME = "organisation-model-large-uncased-"
REASON = (
    f"{NAME}: the shard '<{'x' * 90}>' has \"{'&' * 90}\" in its header; expected the name of a"
    " file beside config.json"
)
DRAWING = b'<svg viewBox="0 0 562 230"/>'
WORDS = (
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "because",
    "it",
    "was",
    "tired",
    ".",
)
WIDTH, N_POSITIONS = 96, 512
random = np.random.default_rng(0)


def uneven() -> Floats:
    """A table with many findings: sinusoids, noise, a seam in the middle, positions with small
    norms.
    """
    rows = sinusoid(N_POSITIONS, WIDTH) + random.normal(size=(N_POSITIONS, WIDTH))
    rows[N_POSITIONS // 2 :] *= random.choice([-1.0, 1.0], size=WIDTH)
    rows[-40::7] *= 0.1
    return rows


def bert(folder: Path) -> Path:
    """A BERT checkpoint with a position table and the whole input layer."""
    layers = {
        f"encoder.layer.{n}.{module}.{kind}": random.normal(size=(WIDTH, WIDTH))
        for n in range(2)
        for module in (
            "attention.self.query",
            "attention.self.key",
            "attention.output.dense",
            "output.LayerNorm",
            f"own.{n}",
        )
        for kind in ("weight", "bias")
    }
    embeddings = {"word_embeddings": len(WORDS), "token_type_embeddings": 2}
    rows = {
        f"embeddings.{name}.weight": random.normal(size=(count, WIDTH))
        for name, count in embeddings.items()
    }
    norm = {
        f"embeddings.LayerNorm.{kind}": random.normal(size=WIDTH) for kind in ("weight", "bias")
    }
    config = {
        "model_type": "bert",
        "hidden_size": WIDTH,
        "num_attention_heads": 2,
        "max_position_embeddings": N_POSITIONS,
    }
    config |= {
        "vocab_size": len(WORDS),
        "num_hidden_layers": 2,
        "intermediate_size": WIDTH,
        "type_vocab_size": 2,
    }
    arrays = {**rows, **norm, **layers, "embeddings.position_embeddings.weight": uneven()}
    return save_folder(
        folder,
        config,
        {name: array.astype(np.float32) for name, array in arrays.items()},
        {"vocab.txt": "\n".join(WORDS)},
    )


def twice(outcome: Outcome) -> Outcome:
    """A checkpoint with the same encoding in encoder and decoder."""
    [reading] = outcome.readings
    decoder = replace(reading, encoding=replace(reading.encoding, part="decoder"))
    return replace(
        outcome, checkpoint=replace(outcome.checkpoint, slug="twice"), readings=(reading, decoder)
    )


def copy(outcome: Outcome, number: int) -> Outcome:
    """The same checkpoint with another name and other metrics."""
    row = replace(
        outcome.checkpoint,
        slug=f"{NAME}{number:04}",
        title=f"Organisation, large model {number}",
        group=f"Group {number % 9}",
    )
    return replace(
        outcome,
        checkpoint=row,
        readings=tuple(_spread(reading, row.title, number) for reading in outcome.readings),
    )


def _spread(reading: Reading, title: str, number: int) -> Reading:
    results = {
        key: replace(result, metrics=tuple(_moved(metric, number) for metric in result.metrics))
        for key, result in reading.results.items()
    }
    return replace(reading, label=replace(reading.label, title=title), results=results)


def _moved(metric: Metric, number: int) -> Metric:
    return metric if metric.value is None else replace(metric, value=metric.value + number**2 / 7)


def unread(number: int) -> Outcome:
    """A checkpoint that was not read, with texts that grow as HTML."""
    row = checkpoint(
        slug=f"{NAME}unread-{number:04}",
        id=NAME * 3,
        title=f"<Organisation>, model {number}",
        revision="a" * 40,
    )
    return Outcome(row, "failed" if number % 3 else "not reached", REASON)


def layered(outcome: Outcome) -> Outcome:
    """A checkpoint with an encoding in each of 100 layers."""
    [reading] = outcome.readings
    readings = (
        replace(reading, encoding=replace(reading.encoding, part=f"layer {number}, attention"))
        for number in range(100)
    )
    return replace(
        outcome, checkpoint=replace(outcome.checkpoint, slug="layered"), readings=tuple(readings)
    )


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Bytes of each page of a site of many checkpoints, without the pages of copies."""
    folder = tmp_path_factory.mktemp("sizes")
    paths = {
        "bert": bert(folder / "bert"),
        "buckets": write_folder(folder / "buckets", BUCKETS),
        "llama": ROOT / "references/llama-3.1-8b",
    }
    rows = [
        checkpoint(slug=slug, place=str(path), title=slug, words=True)
        for slug, path in paths.items()
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "encode", lambda *_: DRAWING)
        outcomes = [evaluate.evaluate(plan.Task(row, offline=True)) for row in rows]
    assert [outcome.reason for outcome in outcomes] == [None] * 3
    outcomes += [twice(outcomes[0]), layered(outcomes[2])]
    copies = [copy(outcomes[number % 4], number) for number in range(MANY)]
    unread_rows = [unread(number) for number in range(5 * MANY)]
    atlas = Atlas(
        (*outcomes, *copies, *unread_rows),
        evaluate.all_analyses(),
        all_schemes(),
        {"position-atlas": "1.0"},
        "2020-02-20",
    )
    every_page = [page for kind in discovery.load(pages, PageKind) for page in kind.pages(atlas)]
    site = _build(atlas, every_page, folder)
    return {path.relative_to(site).as_posix(): path.stat().st_size for path in site.rglob("*.html")}


def _build(atlas: Atlas, every_page: list[Page], folder: Path) -> Path:
    """Build the site without figures, numbers beside pages, and pages of copies and layers; returns
    its path.
    """
    selected = [
        page
        for page in every_page
        if not page.path.startswith((f"checkpoints/{NAME}", "checkpoints/layered/"))
    ]
    tree = render.render(atlas, selected, draw=lambda _: DRAWING)
    paths = [
        path
        for path in tree
        if not path.startswith(("data/compare", "figures")) and not path.endswith(".npz")
    ]
    write.write(
        {path: b"" if path.endswith(".csv") else tree[path] for path in paths}, folder / "docs"
    )
    mkdocs_build.build(OURS.settings, folder / "docs", folder / "site", None)
    return folder / "site"


def test_every_page_is_below_60_kilobytes(sizes: dict[str, int]) -> None:
    assert {path: size for path, size in sizes.items() if size > MOST_BYTES} == {}


def test_a_long_list_has_its_status_on_several_pages(sizes: dict[str, int]) -> None:
    pages_of_status = [path for path in sizes if path.startswith("status")]
    assert len(pages_of_status) > 5


def test_a_table_with_many_applicable_analyses_has_a_page_for_its_measures(
    sizes: dict[str, int],
) -> None:
    assert "checkpoints/bert/encoder-learned/measure.html" in sizes


def test_a_table_that_does_not_fit_on_the_page_has_its_own_pages(sizes: dict[str, int]) -> None:
    assert {
        "checkpoints/twice/decoder-learned.html",
        "checkpoints/twice/decoder-learned/measure.html",
    } <= set(sizes)
