"""A site with another image format of figures, which only one module defines."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.cache.lazy import LazyMapping
from generator.contracts import Atlas, PageKind, discovery
from generator.figures import output
from generator.pipeline import evaluate, plan
from generator.pipeline.find import all_schemes
from generator.site import pages, render
from tests.built import ROOT
from tests.support import checkpoint
from tests.synthetic import ROTATION, WORDLESS, write_folder

ITSELF = {"generator/figures/svg.py", "generator/figures/output.py"}
OWN_DRAWINGS = {
    # These write lines as SVG with no library.
    "generator/site/pictures/value_strips.py",
    "generator/site/pictures/scheme_cards.py",
    "generator/site/glossary.py",
    "generator/site/pictures/card_drawing.py",  # Other sites take PNG alone.
}
SIZE = (321, 123)


def encode(*_: object) -> bytes:
    return b"drawn"


def size(_: bytes) -> tuple[int, int]:
    return SIZE


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LazyMapping[bytes]]:
    """A site of two checkpoints with figures in the format of this test."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"EXTENSION": ".drawn", "encode": encode, "size": size}.items():
            patch.setattr(output, name, value)
        folder = tmp_path_factory.mktemp("rows")
        places = {
            name: write_folder(folder / name, contents)
            for name, contents in {"table": WORDLESS, "turned": ROTATION}.items()
        }
        rows = [checkpoint(slug=name, id=name, place=str(place)) for name, place in places.items()]
        outcomes = tuple(evaluate.evaluate(plan.Task(row, offline=True)) for row in rows)
        atlas = Atlas(outcomes, evaluate.all_analyses(), all_schemes())
        every_page = [
            page for kind in discovery.load(pages, PageKind) for page in kind.pages(atlas)
        ]
        yield render.render(atlas, every_page)


def test_every_figure_is_a_file_of_the_format_and_pages_show_these_files(
    tree: LazyMapping[bytes],
) -> None:
    files = [path for path in tree if path.startswith("figures/")]
    assert len(files) > 20
    assert {Path(path).suffix for path in files} == {".drawn", ".js"}
    sources = {
        path
        for page in tree
        if page.endswith(".md")
        for path in re.findall(r'src="[./]*(figures/[^"]+)"', tree[page].decode())
    }
    assert {path for path in sources if path not in tree} == set()
    assert len(sources) > 20


def test_a_page_reserves_the_size_of_a_figure_according_to_the_format(
    tree: LazyMapping[bytes],
) -> None:
    assert f'width="{SIZE[0]}" height="{SIZE[1]}"' in tree["checkpoints/table.md"].decode()


def test_no_other_module_and_no_template_contains_the_format() -> None:
    files = [
        *ROOT.glob("generator/**/*.py"),
        *(
            path
            for kind in ("pages", "analyses", "schemes")
            for path in ROOT.glob(f"templates/{kind}/*")
        ),
    ]
    matches = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if re.search(r"\.svg\b|backend_svg|FigureCanvas", path.read_text("utf-8"))
    }
    assert matches - ITSELF == OWN_DRAWINGS
