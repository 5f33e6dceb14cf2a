"""The plan, and what becomes of one row."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from generator.contracts import Analysis, Checkpoint, Reading
from generator.figures import svg
from generator.pipeline import evaluate, failures
from generator.reading import plan
from generator.reading.find import all_schemes, find
from tests.support import DictFiles, checkpoint, save_folder
from tests.synthetic import BROKEN, NOTHING, ROTATION, WORDLESS, binary, write_folder

CONFIG = {
    "model_type": "marian", "d_model": 16, "max_position_embeddings": 64, "encoder_layers": 1,
    "decoder_layers": 1,
}  # fmt: skip
SINUSOID = {"config.json": json.dumps(CONFIG).encode()}


def rows(folder: Path) -> list[Checkpoint]:
    contents = {"broken": BROKEN, "nothing": NOTHING, "rotation": ROTATION}
    return [
        checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files)))
        for name, files in contents.items()
    ]


def test_a_fault_of_this_program_fails_its_own_row_alone() -> None:
    outcome = evaluate.outcome_of(plan.Task(checkpoint(source="of no kind"), offline=False))
    assert outcome.status == "failed"
    assert str(outcome.reason).startswith("unexpected StopIteration")


def test_a_row_without_encodings_says_what_was_looked_for(tmp_path: Path) -> None:
    [outcome] = map(evaluate.outcome_of, plan.plan(rows(tmp_path)[1:2], offline=False))
    schemes = [scheme for scheme in all_schemes() if scheme.tells_position]
    assert outcome.looked_for == tuple(scheme.looked_for for scheme in schemes)


def test_a_folder_is_read_offline_as_well(tmp_path: Path) -> None:
    [task] = plan.plan(rows(tmp_path)[2:], offline=True)
    assert evaluate.outcome_of(task).status == "ok"


def test_what_decoders_have_comes_after_all_that_encoders_have() -> None:
    """As in SpeechT5, whose decoder is called a speech decoder."""
    sizes = dict.fromkeys(("hidden_size", "max_text_positions", "max_speech_positions"), 8)
    names = (f"{side}.prenet.encode_positions.alpha" for side in ("encoder", "decoder"))
    vectors = {"encoder.wrapped_encoder.embed_positions.pe_k.weight": np.ones((8, 4))}
    arrays = dict.fromkeys(names, np.ones(1)) | vectors
    encodings = find(DictFiles({"model_type": "speecht5", **sizes}, arrays))
    assert [(encoding.stack, encoding.part) for encoding in encodings] == [
        ("encoder", "text encoder"),
        ("encoder", "encoder"),
        ("decoder", "speech decoder"),
    ]


def test_of_very_many_tables_the_first_are_measured_and_the_others_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "MOST_TABLES", 1)
    # Which tables are measured does not depend on what is measured.
    monkeypatch.setattr(evaluate, "all_analyses", tuple)
    tables = {f"m{index}.wpe.weight": binary(16, 4) for index in range(3)}
    folder = save_folder(tmp_path, json.loads(WORDLESS["config.json"]), tables)
    outcome = evaluate.outcome_of(plan.Task(checkpoint(place=str(folder)), offline=True))
    assert [reading.encoding.provenance.tensor for reading in outcome.readings] == ["m0.wpe.weight"]
    assert (
        "The checkpoint has 3 tables of position vectors, of which 1 was measured. Not measured:"
        " m1.wpe.weight, m2.wpe.weight." in outcome.unresolved
    )


def reading_of(folder: Path, contents: Mapping[str, bytes], *keys: str) -> Reading:
    """The reading of the only encoding, by the analyses of these keys, as others cost much and show
    nothing here.
    """
    analyses = [analysis for analysis in evaluate.all_analyses() if analysis.key in keys]
    place = str(write_folder(folder / "row", contents))
    [task] = plan.plan([checkpoint(slug="row", id="row", place=place)], offline=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "all_analyses", lambda: analyses)
        return evaluate.outcome_of(task).readings[0]


def test_what_never_changes_is_a_sentence_and_no_figure(tmp_path: Path) -> None:
    """All vectors of a sinusoid have one norm: each pair of components is sin² + cos² = 1."""
    reading = reading_of(tmp_path, SINUSOID, "vector_norms")
    [finding] = reading.results["vector_norms"].findings
    assert finding.text == (
        "All vectors have the same norm, 2.83, so only their directions can encode position."
    )
    assert "vector_norms-energy" in reading.drawings
    assert "vector_norms-lines" not in reading.drawings


def test_the_sinusoid_stands_beside_a_learned_table_alone(tmp_path: Path) -> None:
    key, title = "similarity_of_positions", evaluate.REFERENCE.title
    learned = reading_of(tmp_path / "learned", WORDLESS, key).alts[f"{key}-matrix"]
    computed = reading_of(tmp_path / "computed", SINUSOID, key).alts[f"{key}-matrix"]
    assert (title in learned, title in computed) == (True, False)


def fails(_: object) -> NoReturn:
    raise MemoryError


def failing(monkeypatch: pytest.MonkeyPatch, change: Callable[[Analysis], Analysis]) -> None:
    """Give the analysis of rank another function, which needs too much memory."""
    analyses = [change(one) if one.key == "rank" else one for one in evaluate.all_analyses()]
    monkeypatch.setattr(evaluate, "all_analyses", lambda: analyses)


def test_an_analysis_without_enough_memory_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, lambda analysis: replace(analysis, compute=fails))
    reading = reading_of(tmp_path, WORDLESS, "rank", "vector_norms")
    reason = "too large: this analysis needs more memory than one checkpoint may take"
    assert reading.results["rank"].reason == reason
    assert reading.results["vector_norms"].reason is None


def test_a_figure_without_enough_memory_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_figures(analysis: Analysis) -> Analysis:
        figures = tuple(replace(spec, draw=fails) for spec in analysis.figures)
        return replace(analysis, figures=figures)

    failing(monkeypatch, without_figures)
    reading = reading_of(tmp_path, WORDLESS, "rank", "whole_table")
    assert reading.results["rank"].metrics
    said = b"more memory than one checkpoint may take"
    assert [name for name, drawn in reading.drawings.items() if said in drawn] == ["rank-energy"]
    picture, data = svg.parts(reading.drawings["rank-energy"])
    assert svg.size(picture)[0] == svg.size(reading.drawings["whole_table-heatmap"])[0]
    assert json.loads(data)["panels"] == []  # So that the page keeps the picture.


def test_a_reason_names_a_folder_as_its_row_does_and_the_row_where_there_is_no_file(
    tmp_path: Path,
) -> None:
    row = checkpoint(id="model", place=str(tmp_path))
    reason = failures.failed(row, f"{tmp_path}/x: no such file; expected one").reason
    assert reason == "model/x: no such file; expected one"
    # As that of /proc/self, whose folder of tasks changes while it is read.
    error = OSError(22, "Invalid argument")
    reason = failures.unexpected(checkpoint(id="self"), error).reason
    assert reason == "self: Invalid argument; expected readable files"
