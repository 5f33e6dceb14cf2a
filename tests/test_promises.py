"""What SECURITY.md promises and no other test shows: no code of a checkpoint runs, and a build
connects to the Hub alone.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import inline
from tests.hub_server import Repository, serving
from tests.synthetic import TABLE, Contents, write_folder, write_list

COMMIT = "a" * 40
CODE = "from pathlib import Path\nPath({marker!r}).touch()\n"
CLASSES = {
    f"Auto{kind}": f"planted.Planted{kind}"
    for kind in ("Config", "Model", "ModelForCausalLM", "Tokenizer")
}
_connected: list[Any] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _connected is not None and isinstance(arguments[1], tuple):
        _connected.append(arguments[1][:2])


# Python's own record of what code does. It cannot be taken away, so it listens only where it is
# asked to.
sys.addaudithook(_audit)


@contextmanager
def connections() -> Iterator[list[Any]]:
    """Host and port of every connection that the block opens."""
    global _connected  # noqa: PLW0603 (a hook has no other place)
    _connected = []
    try:
        yield _connected
    finally:
        _connected = None


def planted(model_type: str, marker: Path) -> Contents:
    """A checkpoint whose configuration asks for code beside it, which would leave ``marker``."""
    config = {
        **json.loads(TABLE["config.json"]),
        "model_type": model_type,
        "auto_map": CLASSES,
        "trust_remote_code": True,
    }
    tokenizer = {
        "auto_map": {"AutoTokenizer": ["planted.PlantedTokenizer", None]},
        "tokenizer_class": "PlantedTokenizer",
    }
    code = CODE.format(marker=str(marker)).encode()
    files = {
        "config.json": json.dumps(config).encode(),
        "tokenizer_config.json": json.dumps(tokenizer).encode(),
    }
    return {
        **TABLE,
        **files,
        **dict.fromkeys(("planted.py", "modeling_planted.py", "__init__.py", "conftest.py"), code),
    }


def build(folder: Path, rows: list[dict[str, str]], *options: str, **settings: Any) -> Any:
    """atlas.json of a build of ``rows``."""
    done = inline.run(
        "build",
        "--config",
        str(write_list(folder, rows)),
        "--output",
        str(folder / "out"),
        *options,
        home=folder / "hub",
        **settings,
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads((folder / "out/site/data/atlas.json").read_text(encoding="utf-8"))


MODEL_TYPES = ("gpt2", "planted")


@dataclass(frozen=True)
class Built:
    """A finished build of a row on the Hub and of two with code beside them: its folder, what it
    connected to, and rows of atlas.json by slug.
    """

    folder: Path
    endpoint: str
    opened: list[Any]
    rows: dict[str, Any]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("promises")
    for model_type in MODEL_TYPES:
        write_folder(folder / model_type, planted(model_type, folder / f"{model_type} ran"))
    rows = [{"hub": "atlas/table"}, *({"folder": model_type} for model_type in MODEL_TYPES)]
    with (
        serving({"atlas/table": Repository({COMMIT: TABLE}, {"main": COMMIT})}) as hub,
        connections() as opened,
    ):
        atlas = build(folder, rows, endpoint=hub.endpoint)
    return Built(folder, hub.endpoint, opened, {row["slug"]: row for row in atlas["checkpoints"]})


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_no_code_beside_a_checkpoint_runs_though_its_config_asks_for_it(
    model_type: str, built: Built
) -> None:
    row, marker = built.rows[model_type], built.folder / f"{model_type} ran"
    assert (row["status"], [encoding["scheme"] for encoding in row["encodings"]]) == (
        "ok",
        ["learned"],
    )
    assert not marker.exists()
    # It would have left a trace.
    exec((built.folder / model_type / "planted.py").read_text(encoding="utf-8"), {})  # noqa: S102
    assert marker.exists()


def test_a_build_connects_to_the_hub_that_is_configured_and_to_nobody_else(built: Built) -> None:
    assert {row["status"] for row in built.rows.values()} == {"ok"}
    assert {f"http://{host}:{port}" for host, port in built.opened} == {built.endpoint}


def test_an_offline_build_connects_to_nobody(tmp_path: Path) -> None:
    write_folder(tmp_path / "checkpoint", TABLE)
    with connections() as opened:
        build(tmp_path, [{"hub": "atlas/table"}, {"folder": "checkpoint"}], "--offline")
    assert opened == []
