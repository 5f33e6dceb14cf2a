"""What a terminal shows of one checkpoint."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

from generator.cli import inspection
from generator.cli.commands import app
from generator.cli.inspection import show
from generator.cli.terminal import Terminal
from generator.contracts import Encoding, Layer, Outcome, Provenance
from generator.encodings import Form, NoEncoding, PositionTable
from generator.pipeline import inspect as inspecting
from generator.pipeline.evaluate import all_analyses
from generator.pipeline.inspect import Inspected
from generator.reading import lint, named
from generator.reading.find import all_schemes
from generator.reading.plan import Task
from generator.text import claim
from tests import inline
from tests.support import checkpoint, flowing, save_folder
from tests.synthetic import NOTHING, ROTATION, write_folder, write_list

SLIDING = Layer("decoder", "decoder", 0, "sliding attention", ("sliding",), 1023, 0, ())
FULL = replace(SLIDING, type="full attention", mixers=("full",), before=None)
LAYERS = [SLIDING, SLIDING, FULL] * 12
NOTE = (
    "The tensor has 18 rows; the first 2 are not positions in this family and are left out of all"
    " that is drawn and measured."
)
TABLE = PositionTable(np.eye(16))
LEARNED = Encoding(
    "decoder", "learned", TABLE, Provenance("weights", "wpe.weight", "F32", (18, 16)), (NOTE,)
)
ODD = "\x1b[31m[red]:100:\nbegins a line"
SPELT = "\\u001b[31m[red]:100:\\u000abegins a line"


def shown(
    layers: Sequence[Layer] = LAYERS, encoding: Encoding[Form] = LEARNED, **options: Any
) -> str:
    """What a terminal prints; ``options`` as those of rich's Console."""
    terminal = Terminal(file=StringIO(), **{"width": 80, **options})
    numbered = tuple(replace(layer, index=index) for index, layer in enumerate(layers))
    outcome = Outcome(checkpoint(), "ok", layers=numbered, unresolved=(f"{NOTE} Why is open.",))
    n_analyses = sum(isinstance(encoding.form, analysis.forms) for analysis in all_analyses())
    show(terminal, Inspected(outcome, (encoding.record,), (n_analyses,)), all_schemes())
    return str(terminal.file.getvalue())  # type: ignore[attr-defined]  # It is a StringIO.


def test_a_strip_has_a_letter_for_every_layer_and_the_number_of_the_first_in_each_row() -> None:
    rows = re.findall(r"^ +(\d+) ((?:[a-z] )+)$", shown(), re.MULTILINE)
    assert [number for number, _ in rows] == ["0", "30"]
    assert "".join(letters for _, letters in rows).split() == ["a", "a", "b"] * 12


def test_layers_that_are_alike_are_one_line_of_the_legend() -> None:
    text = " ".join(shown().split())
    assert "b 12 layers: 2, 5, … 35 (one in 3) · full attention · all before, none after ·" in text
    assert "a 24 layers: 0–1, 3–4, 6–7, " in text
    assert "33–34 · windows · up to 1,023 before, none after ·" in text


def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken() -> None:
    for width in (40, 120):
        output = shown(width=width)
        assert max(len(line) for line in output.splitlines()) <= width
        assert NOTE in " ".join(output.split())


def test_colours_only_repeat_what_letters_say() -> None:
    coloured = shown(force_terminal=True, color_system="truecolor")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown()
    # The colour of full attention on the pages, #3d7fd6.
    assert "48;2;61;127;214" in coloured
    assert "\x1b[" not in shown()


def test_each_of_thirty_kinds_of_layers_has_a_letter_of_its_own() -> None:
    layers = [replace(SLIDING, before=before) for before in range(1, 31)]
    (row,) = re.findall(r"^ +0 ((?:[a-zA-Z] )+)$", shown(layers), re.MULTILINE)
    assert len(set(row.split())) == 30


def test_a_name_made_to_mislead_is_shown_as_it_is() -> None:
    odd = replace(LEARNED, notes=(ODD,), provenance=replace(LEARNED.provenance, tensor=ODD))
    output = shown([replace(SLIDING, part=ODD)], replace(odd, part=ODD), width=200)
    assert output.count(SPELT) == 4


def test_an_encoding_without_a_tensor_says_where_it_is_from() -> None:
    recurrent = NoEncoding("it is recurrent")
    output = shown(encoding=Encoding("decoder", "none", recurrent, Provenance("config.json")))
    assert "decoder · No encoding" in output
    assert "NoEncoding · no tensor, from config.json · 0 analyses" in output


INSPECT = "import sys; from generator.cli.commands import app; app(sys.argv[1:], "


INSPECT += "standalone_mode=False); print(*sys.modules)"


def test_a_file_of_weights_by_itself_needs_neither_transformers_nor_torch(tmp_path: Path) -> None:
    save_file({"wpe.weight": np.eye(16, dtype=np.float32)}, tmp_path / "model.safetensors")
    command = [sys.executable, "-c", INSPECT, "inspect", str(tmp_path / "model.safetensors")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "tensor wpe.weight · shape 16 × 16" in done.stdout
    assert {"transformers", "torch", "sklearn", "matplotlib"}.isdisjoint(done.stdout.split())


def test_it_ends_with_what_the_page_says_first(tmp_path: Path) -> None:
    write_folder(tmp_path / "one", ROTATION)
    path = write_list(tmp_path, [{"folder": "one"}])
    said = inline.run("inspect", str(tmp_path / "one"), home=tmp_path / "hub").stdout
    sentences = " ".join(said.partition("open its page:")[2].partition("Entry for")[0].split())
    first, *others = sentences.removeprefix("· ").split(" · ")
    inline.run("build", "--config", str(path), "--output", str(tmp_path / "out"), home=tmp_path)
    page = (tmp_path / "out/docs/checkpoints/one.md").read_text(encoding="utf-8")
    told = flowing(re.sub(r"<[^>]*>", "", unescape(page).partition("pa-findings")[2]))
    places = [told.index(claim(sentence)) for sentence in (first, *others)]
    assert len(places) > 1
    assert places == sorted(places)


def _endless(*_: object) -> tuple[str, ...]:
    while True:
        pass


def failure(folder: Path) -> str:
    """The line that the command ends with."""
    done = CliRunner().invoke(app, ["inspect", str(folder)])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    return str(done.stderr)


def test_an_encoding_that_takes_too_long_to_measure_says_so_and_json_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(write_folder(tmp_path, ROTATION))
    monkeypatch.setattr(inspection, "SECONDS", 1.0)
    monkeypatch.setattr(inspection, "findings", _endless)
    done = CliRunner().invoke(app, ["inspect", folder])
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert re.search(r"Not measured here: \S+: took (more|longer) than 1 seconds", said)
    assert "Entry for a list:" in said
    monkeypatch.setattr(inspection, "show_findings", _endless)
    done = CliRunner().invoke(app, ["inspect", "--json", folder])
    assert json.loads(done.stdout)["encodings"]


def _killed(task: Task) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _hungry(task: Task) -> bytes:
    return bytes(2**62)


def test_an_inspection_that_exceeds_a_limit_of_a_row_ends_the_command_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ends, reason in (
        (_killed, "its process ended with code -9; it had 4 GiB of memory"),
        (_hungry, "needed more than 4 GiB of memory"),
    ):
        monkeypatch.setattr(inspecting, "inspect", ends)
        assert f"{tmp_path}: {reason}" in failure(write_folder(tmp_path, NOTHING))


def test_readers_are_shown_with_what_each_takes_refuses_or_is_not_known_to_take(
    tmp_path: Path,
) -> None:
    settings = {
        "model_type": "olmo3", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4,
        "sliding_window": 8, "max_position_embeddings": 64,
        "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"},
    }  # fmt: skip
    printed = StringIO()
    [task] = named.tasks_of(named.checkpoint_at(save_folder(tmp_path / "own", settings)))
    inspection.show_readers(Terminal(file=printed, width=300), lint.taken_of(task))
    every = printed.getvalue().splitlines()
    assert (
        "· From config.json, transformers 4.57.6 takes base 10,000, 16 of 16 components, by angles"
        " up to 0.122 rad a position apart from those of transformers 5; it gives 3 of 4 layers a"
        " window of 8 positions, and its length is 64 positions."
    ) in every
    assert any("mlx-lm 0.32.2 does not load the file: it has" in line for line in every)
    assert " was read and not run. The other programs were run on small configs" in "".join(every)
