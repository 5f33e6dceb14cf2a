"""Published values, recomputed.

Values of stored tables need these: POSITION_ATLAS_CHECKPOINTS is a folder of checkpoints, each a
folder in the Hub's layout.
"""

import json
import os
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from generator.cache import precomputed
from generator.checkpoints.files.reader import FolderFiles
from generator.contracts import (
    Atlas,
    Encoding,
    InPrint,
    Oracle,
    Outcome,
    Provenance,
    Reading,
    Recomputed,
)
from generator.contracts.oracles import VERSIONS, Check, check
from generator.encodings import Form, PositionTable
from generator.numerics.arrays import frozen
from generator.pipeline.evaluate import all_analyses
from generator.reading.find import all_schemes, find
from generator.site.html.escape import literal
from generator.site.pages import checked
from tests.site.test_comparing import rendered
from tests.support import LABELS, checkpoint

MADE = Recomputed("numpy", "made for a test")
FOLDER = os.environ.get("POSITION_ATLAS_CHECKPOINTS", "")
CASES = [(record.key, case) for record in all_analyses() for case in record.oracles]
CASES += [(record.key, case) for record in all_schemes() for case in record.oracles]
each_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{key}: {case.what}") for key, case in CASES]
)


@cache
def stored(sha256: str) -> Form | None:
    """Table with this digest in one of the checkpoints of FOLDER; None where there is none."""
    for config in sorted(Path(FOLDER).glob("*/config.json")) if FOLDER else ():
        for encoding in find(FolderFiles(config.parent, config.parent.name)):
            if encoding.provenance.sha256 == sha256:
                return encoding.form
    return None


@cache
def checked_case(case: Oracle) -> Check:
    """The case with what is computed here, which takes some seconds for some."""
    with threadpool_limits(1):  # As when they were shipped.
        return check(case, stored)


@each_case
def test_computed_values_agree_with_published_ones(case: Oracle) -> None:
    result = checked_case(case)
    if result.computed is None:
        pytest.skip(
            f"needs the table with SHA-256 {case.sha256} in a checkpoint of"
            " POSITION_ATLAS_CHECKPOINTS"
        )
    assert result.agrees, (
        f"{result.computed_text} differ from {case.printed} by {result.difference}; expected at"
        f" most {result.margin}"
    )


def test_what_is_shipped_for_the_versions_of_libraries_is_what_is_computed() -> None:
    """To what other processors may differ by; the digits on the page are fewer."""
    given = checked.given_cases(all_analyses(), all_schemes())
    shipped = json.loads(
        (precomputed.FOLDER / f"{precomputed.PUBLISHED}.json").read_text(encoding="utf-8")
    )
    wrong = [
        case.what
        for name, case in given.items()
        if shipped[name] != pytest.approx(checked_case(case).computed, rel=1e-9)
    ]
    assert (wrong, [*shipped]) == ([], [*given])


def test_a_case_is_distinct_and_has_its_source_its_form_and_the_reason_for_a_margin() -> None:
    for _, case in CASES:
        assert case.what
        assert all(getattr(case.source, field.name) for field in fields(case.source)), case.what
        assert (case.given is None) != (case.sha256 is None), case.what
        assert (case.margin is None) == (case.allowance == ""), case.what
    assert len({(key, case.what, case.printed) for key, case in CASES}) == len(CASES)


def test_the_page_gives_the_origin_of_values_and_the_reason_for_a_margin() -> None:
    first, second = InPrint("Author 2020", "table 1"), Recomputed("numpy", "numpy.sum")
    cases = [
        Oracle("a", ("1",), first, lambda _: [1.0], lambda: 0, margin=2.0, allowance="it is rough"),
        Oracle("b", ("1",), second, lambda _: [1.0], lambda: 0),
    ]
    text = rendered(
        checked.pages(Atlas((), (replace(all_analyses()[0], oracles=tuple(cases)),), ()))[0]
    )
    in_print, by_code = text.split("## Values computed by other code")
    assert literal("Author 2020, table 1") in in_print
    assert "(it is rough)" in in_print
    assert literal(f"numpy {VERSIONS['numpy']}: numpy.sum") in by_code


def atlas_with(shape: tuple[int, ...]) -> Atlas:
    """One checkpoint with a table of three positions from a tensor of this shape, and one analysis
    with a case about the table.
    """
    case = Oracle("rows", ("3",), MADE, lambda form: [len(form.vectors)], sha256="0" * 64)
    table = PositionTable(frozen([[1.0], [2.0], [3.0]]))
    encoding: Encoding[Form] = Encoding(
        "decoder", "made for a test", table, Provenance("file", "tensor", "F32", shape, "0" * 64)
    )
    outcome = Outcome(checkpoint(), "ok", readings=(Reading.of(encoding, LABELS[0], {}, {}, {}),))
    return Atlas((outcome,), (replace(all_analyses()[0], oracles=(case,)),), ())


@pytest.mark.parametrize(("shape", "computed"), [((3, 1), (3.0,)), ((5, 1), None)])
def test_the_page_measures_a_table_of_positions_alone(
    shape: tuple[int, ...], computed: object
) -> None:
    (page,) = checked.pages(atlas_with(shape))
    [result] = vars(page.context)["checked"]()
    assert result.check.computed == computed
    assert result.check.agrees == (computed is not None)


@pytest.mark.parametrize(
    ("printed", "computed", "margin", "agrees", "text"),
    [
        ("2.366", 2.36549, None, False, "2.36549"), ("2.366", 2.365512, None, True, "2.36551"),
        ("54,410", 54_410.4, None, True, "54,410.40"),
        ("54,410", 54_410.1431, None, True, "54,410.14"), ("44", 45.0, None, False, "45"),
        ("1.00000", 1.0 - 1e-12, None, True, "1"), ("33.5", 33.35, 0.2, True, "33.350"),
        ("33.5", 33.35, 0.1, False, "33.350"), ("1", float("nan"), None, False, None),
        ("1", float("inf"), None, False, None),
    ],
)  # fmt: skip
def test_a_value_agrees_if_it_rounds_to_the_published_one_or_is_within_its_margin(
    printed: str, computed: float, margin: float | None, agrees: bool, text: str | None
) -> None:
    """The text has two digits more than the published one."""
    case = Oracle(
        "a case", (printed,), MADE, lambda value: [value], lambda: computed, margin=margin
    )
    found = check(case, lambda _: None)
    assert found.agrees is agrees
    assert text is None or found.computed_text == (text,)


def test_a_case_of_a_stored_table_measures_that_table_where_there_is_one() -> None:
    case = Oracle("a case", ("3",), MADE, lambda form: [len(form.vectors)], sha256="0" * 64)
    assert check(case, lambda _: PositionTable(frozen([[1.0], [2.0], [3.0]]))).computed == (3.0,)
    missing = check(case, lambda _: None)
    assert (missing.computed, missing.difference, missing.agrees) == (None, None, False)
