"""Every value that others give, asked again. Those of stored tables need the tables.

POSITION_ATLAS_CHECKPOINTS names a folder that holds them, each in a folder of the Hub's layout.
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import Atlas, Encoding, Outcome, Provenance, Published, Reading
from generator.contracts.published import Check, check, paper_sinusoid
from generator.encodings import Form, PositionTable
from generator.numerics.arrays import frozen
from generator.pipeline.evaluate import all_analyses, all_schemes, find
from generator.site.pages import checked
from tests.support import LABELS, checkpoint

FOLDER = os.environ.get("POSITION_ATLAS_CHECKPOINTS", "")
CASES = [(record.key, case) for record in all_analyses() for case in record.published]
CASES += [(record.key, case) for record in all_schemes() for case in record.published]
each_case = pytest.mark.parametrize("case", [pytest.param(case, id=f"{key}: {case.what} ({case.source})") for key, case in CASES])


@cache
def stored(sha256: str) -> Form | None:
    """The table with this digest in one of the checkpoints of FOLDER."""
    for config in sorted(Path(FOLDER).glob("*/config.json")) if FOLDER else ():
        for encoding in find(FolderFiles(config.parent, config.parent.name)):
            if encoding.provenance.sha256 == sha256:
                return encoding.form
    return None


@each_case
def test_ours_agrees_with_what_others_give(case: Published) -> None:
    asked = check(case, stored)
    if asked.ours is None:
        pytest.skip(f"needs the table with SHA-256 {case.sha256}; POSITION_ATLAS_CHECKPOINTS names no folder that holds it")
    assert asked.agrees, f"{asked.shown} differ from {case.printed} by {asked.apart}; at most {asked.margin} is expected"


@each_case
def test_a_case_says_what_it_is_and_where_its_numbers_come_from(case: Published) -> None:
    assert case.what
    assert len(case.source) > 10
    assert (case.given is None) != (case.sha256 is None)


def test_no_two_cases_of_one_extension_say_the_same() -> None:
    assert len({(key, case.what, case.printed) for key, case in CASES}) == len(CASES)


def atlas_with(shape: tuple[int, ...]) -> Atlas:
    """One checkpoint with a table of three positions, of a tensor of this shape, and one analysis with a case about it."""
    case = Published("rows", ("3",), "made for a test", lambda form: [len(form.vectors)], sha256="0" * 64)
    table = PositionTable(frozen([[1.0], [2.0], [3.0]]))
    encoding: Encoding[Form] = Encoding("decoder", "made for a test", table, Provenance("file", "tensor", "F32", shape, "0" * 64))
    outcome = Outcome(checkpoint(), "ok", readings=(Reading.of(encoding, LABELS[0], {}, {}, {}),))
    return Atlas((outcome,), (replace(all_analyses()[0], published=(case,)),), ())


@pytest.mark.parametrize(("shape", "ours"), [((3, 1), (3.0,)), ((5, 1), None)])
def test_the_page_asks_the_table_of_a_checkpoint_where_all_of_it_are_positions(shape: tuple[int, ...], ours: object) -> None:
    (page,) = checked.pages(atlas_with(shape))
    groups, counts = page.context["found"]()
    assert groups[0].checks[0].ours == ours
    assert counts == {"all": 1, "agree": int(ours is not None), "absent": int(ours is None)}


def of(printed: str, ours: float, margin: float | None = None) -> Check:
    return check(Published("a case", (printed,), "made for a test", lambda given: [given], lambda: ours, margin=margin), lambda _: None)


@pytest.mark.parametrize(
    ("printed", "ours", "agrees"), [("2.366", 2.36549, False), ("2.366", 2.36551, True), ("54,410", 54_410.4, True), ("44", 45.0, False)]
)
def test_ours_agrees_where_it_rounds_to_what_is_printed(printed: str, ours: float, agrees: bool) -> None:
    assert of(printed, ours).agrees is agrees


@pytest.mark.parametrize(
    ("printed", "ours", "shown"),
    [("2.366", 2.36590623, "2.36591"), ("44", 44.0, "44"), ("1.00000", 1.0 - 1e-12, "1"), ("54,410", 54410.1431, "54,410.14")],
)
def test_ours_is_shown_with_two_digits_more(printed: str, ours: float, shown: str) -> None:
    assert of(printed, ours).shown == (shown,)


@pytest.mark.parametrize(("margin", "agrees"), [(0.2, True), (0.1, False)])
def test_a_margin_of_the_case_goes_before_the_digits(margin: float, agrees: bool) -> None:
    assert of("33.5", 33.35, margin).agrees is agrees


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_value_that_is_not_defined_agrees_with_nothing(wrong: float) -> None:
    assert not of("1", wrong).agrees


def test_a_table_of_the_papers_size_is_shown_beside_the_very_sinusoid_that_cases_are_asked_of() -> None:
    assert PositionTable(np.zeros((512, 768))).reference is paper_sinusoid()


def test_a_case_whose_table_is_not_at_hand_has_no_value() -> None:
    case = Published("a case", ("1",), "made for a test", lambda form: [len(form.vectors)], sha256="0" * 64)
    asked = check(case, lambda _: None)
    assert (asked.ours, asked.apart, asked.agrees) == (None, None, False)


def test_a_case_of_a_table_is_asked_of_the_table_at_hand() -> None:
    case = Published("a case", ("3",), "made for a test", lambda form: [len(form.vectors)], sha256="0" * 64)
    assert check(case, lambda _: PositionTable(frozen([[1.0], [2.0], [3.0]]))).ours == (3.0,)
