"""Golden pages of a small atlas in tests/site/golden.

``UPDATE_GOLDEN=1`` rewrites them; read the difference.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Tree
from tests.small_site import atlas_of, evaluated, tree_of
from tests.support import checkpoint
from tests.synthetic import BROKEN, BUCKETS, GRADED, NOTHING, ROTATION, Contents, write_folder

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = {"position-atlas": "1.0", "numpy": "2.0"}
DATE = "2020-02-20"
# A checkpoint for each of several forms, one without an encoding, and one that cannot be read.
FOLDERS: dict[str, tuple[Contents, dict[str, Any]]] = {
    "broken": (BROKEN, {"title": "Not JSON"}),
    "buckets": (BUCKETS, {"title": "Bias of two stacks", "group": "Biases", "sentence": (1, 2, 3)}),
    "nothing": (NOTHING, {"title": "Nothing found"}),
    "rotation": (
        ROTATION,
        {
            "title": "Rotation",
            "group": "Rotations",
            "notes": "Pairs turn 1, 8, 64 and 512 times slower.",
        },
    ),
    "table": (
        GRADED,
        {"title": "A table in binary", "group": "Tables", "sentence": "one two three"},
    ),
}
UNREACHED = checkpoint(
    slug="unreached",
    source="hub",
    id="atlas/none",
    place="atlas/none",
    title="Not reached",
    revision="a" * 40,
)
EXPECTED = sorted(
    [
        "index.md", "status.md", "checkpoints/unreached.md",
        *(f"checkpoints/{slug}.md" for slug in FOLDERS),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """The docs folder of these checkpoints."""
    folder = tmp_path_factory.mktemp("golden")
    rows = [
        checkpoint(slug=slug, id=slug, place=str(write_folder(folder / slug, contents)), **options)
        for slug, (contents, options) in FOLDERS.items()
    ]
    atlas = atlas_of(*evaluated(*rows, UNREACHED), date=DATE, address="https://where.it/stands/")
    return tree_of(replace(atlas, versions=VERSIONS))


@pytest.mark.parametrize("path", EXPECTED)
def test_a_page_equals_its_golden_page(path: str, tree: Tree) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / path).write_bytes(tree[path])
    assert tree[path].decode() == (GOLDEN / path).read_text(encoding="utf-8")


def test_every_golden_page_is_compared() -> None:
    assert sorted(path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*.md")) == EXPECTED


def test_every_encoding_has_arrays_and_a_thumbnail(tree: Tree) -> None:
    arrays = {
        path for path in tree if path.endswith(".npz") and not path.startswith("data/schemes/")
    }
    assert arrays == {
        "data/buckets/decoder-t5_bias.npz", "data/buckets/encoder-t5_bias.npz",
        "data/rotation/decoder-rotary.npz", "data/table/decoder-learned.npz",
    }  # fmt: skip
    assert all(f"figures/{path[5:-4]}/thumbnail.svg" in tree for path in arrays)


def test_no_file_has_a_path_of_this_machine(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folders = (f"{tmp_path_factory.getbasetemp()}/", f"{GOLDEN.parent.parent}/")
    assert [
        path
        for path, content in tree.items()
        if any(folder.encode() in content for folder in folders)
    ] == []
