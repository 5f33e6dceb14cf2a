"""The plan, and what becomes of one row."""

from pathlib import Path

import numpy as np

from generator.contracts import Checkpoint
from generator.figures.style import SERIES
from generator.pipeline import evaluate
from tests.support import DictFiles, checkpoint
from tests.synthetic import BROKEN, NOTHING, ROTATION, write_folder


def rows(folder: Path) -> list[Checkpoint]:
    contents = {"broken": BROKEN, "nothing": NOTHING, "rotation": ROTATION}
    return [checkpoint(slug=name, id=name, place=str(write_folder(folder / name, files))) for name, files in contents.items()]


def test_a_fault_of_this_program_fails_its_own_row_alone() -> None:
    outcome = evaluate.evaluate(evaluate.Task(checkpoint(source="of no kind"), "#3d7fd6", offline=False))
    assert outcome.status == "failed"
    assert str(outcome.reason).startswith("unexpected StopIteration")


def test_a_row_without_encodings_says_what_was_looked_for(tmp_path: Path) -> None:
    outcome = evaluate.evaluate(evaluate.plan(rows(tmp_path)[1:2], offline=False)[0])
    assert outcome.looked_for == tuple(scheme.looked_for for scheme in evaluate.all_schemes() if scheme.tells_position)


def test_colours_are_given_in_order_and_begin_again() -> None:
    tasks = evaluate.plan([checkpoint(slug=f"row-{index}") for index in range(len(SERIES) + 1)], offline=False)
    assert [task.colour for task in tasks] == [*SERIES, SERIES[0]]


def test_a_folder_is_read_offline_as_well(tmp_path: Path) -> None:
    [task] = evaluate.plan(rows(tmp_path)[2:], offline=True)
    assert evaluate.evaluate(task).status == "ok"


def test_what_decoders_have_comes_after_all_that_encoders_have() -> None:
    """As in SpeechT5, whose decoder is called a speech decoder."""
    config = {"model_type": "speecht5", "hidden_size": 8, "max_text_positions": 8, "max_speech_positions": 8}
    factors = {f"{side}.prenet.encode_positions.alpha": np.ones(1) for side in ("encoder", "decoder")}
    files = DictFiles(config, {**factors, "encoder.wrapped_encoder.embed_positions.pe_k.weight": np.ones((8, 4))})
    encodings = evaluate.find(files)
    assert [(encoding.stack, encoding.part) for encoding in encodings] == [
        ("encoder", "text encoder"),
        ("encoder", "encoder"),
        ("decoder", "speech decoder"),
    ]
