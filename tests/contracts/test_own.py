"""Extensions beside a list: what is found, how it fails, and what is said of one that is wrong."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.contracts import Outcome, own, own_guards
from generator.contracts.own_records import WORDS
from generator.errors import RefusedError
from generator.pipeline import evaluate, extensions, versions
from generator.reading import lint
from generator.reading.find import all_schemes
from tests import inline, small_site
from tests.built import ROOT
from tests.support import checkpoint, save_folder

MINE = """
import numpy as np
from generator.contracts import Analysis, FigureSpec, Finding, Metric, Result
from generator.contracts.wording import Wording
from generator.encodings import OffsetBias
from generator.figures.panels import panels

WORDING = Wording("analyses/{key}.md.jinja")


def compute(subject):
    {compute}
    return Result((Metric("most", "Largest bias", 0.0),), {{}}, (Finding("It is 0.", ("most",)),))


def draw(results):
    {draw}
    return panels(1, height=3.0)[0]


ANALYSIS = Analysis(
    key="{key}",
    compute=compute,
    forms=(OffsetBias,),
    figures=(FigureSpec("it", WORDING.figure("it"), draw),),
)
"""
WORDS_OF_MINE = """
{% set title %}Own measure{% endset %}
{% set question %}What is it?{% endset %}
{% set source %}This test.{% endset %}
{% set it_caption %}It.{% endset %}
{% set it_how_to_read %}It is read.{% endset %}
{% set it_alt %}It is drawn.{% endset %}
{% macro it_summary(most) %}{{ most }}{% endmacro %}
{% macro method() %}By hand.{% endmacro %}
{% macro arrays() %}{% endmacro %}
"""
LINE = MINE.partition("ANALYSIS")[0].count("\n") + 1  # Of the record.
BLOOM = {"model_type": "bloom", "hidden_size": 64, "n_head": 4, "n_layer": 2, "vocab_size": 9}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    own.use(None)


def analysis(folder: Path, key: str = "mine", compute: str = "", draw: str = "") -> Path:
    (folder / "analyses").mkdir(parents=True, exist_ok=True)
    code = MINE.format(key=key, compute=compute or "pass", draw=draw or "pass")
    (folder / f"analyses/{key}.py").write_text(code, encoding="utf-8")
    (folder / f"analyses/{key}.md.jinja").write_text(WORDS_OF_MINE, encoding="utf-8")
    return folder


def outcome(folder: Path) -> Outcome:
    """The checkpoint of a bias, evaluated with what is in ``folder``."""
    own.use(folder)
    return small_site.evaluated(checkpoint(place=str(save_folder(folder / "model", BLOOM, {}))))[0]


def reason_of(folder: Path, key: str = "mine") -> str | None:
    [reading] = outcome(folder).readings
    assert reading.results["bias_by_offset"].reason is None  # Those of the program go on.
    return reading.results[key].reason


def refused(folder: Path) -> str:
    own.use(folder)
    with pytest.raises(RefusedError) as error:
        extensions.check()
    return "\n".join(line.removeprefix(f"{folder}/") for line in error.value.problems)


def test_an_analysis_beside_a_list_measures_and_is_drawn(tmp_path: Path) -> None:
    [reading] = outcome(analysis(tmp_path)).readings
    assert reading.results["mine"].value("most") == 0.0
    assert b"<svg" in reading.drawings["mine-it"]
    assert evaluate.all_analyses()[-1].title == "Own measure"
    own.use(None)
    assert "mine" not in [one.key for one in evaluate.all_analyses()]
    assert not (tmp_path / "analyses/__pycache__").exists()


def test_its_code_and_its_template_are_part_of_the_key_of_what_is_stored(tmp_path: Path) -> None:
    def key() -> tuple[str, str]:
        own.use(tmp_path)
        return versions.evaluation(), versions.code()

    found = [key()]
    analysis(tmp_path)
    found.append(key())
    (tmp_path / "analyses/mine.md.jinja").write_text(WORDS_OF_MINE + "\n", encoding="utf-8")
    found.append(key())
    (tmp_path / own.FAMILIES).write_text("", encoding="utf-8")
    found.append(key())
    assert len({one for one, _ in found}) == len({one for _, one in found}) == len(found)
    assert found[-1] == key()


RAISED, RETURNED = "its code raised ", "its code returned "
FAILING = {
    "raises": (
        "raise ValueError('no <b> \\x1b')",
        f"{RAISED}ValueError at analyses/mine.py:12: no <b> \\u001b",
    ),
    "ends the program": ("raise SystemExit(3)", f"{RAISED}SystemExit at analyses/mine.py:12: 3"),
    "returns nothing": (
        "return None",
        f"{RETURNED}a value of type NoneType, where a Result is expected",
    ),
    "returns other metrics": (
        "return Result((3,))",
        f"{RETURNED}a value of type int, where a Metric is expected",
    ),
    "returns an array of objects": (
        "return Result((), {'x': np.array([object()])})",
        f"{RETURNED}x of another type, where an array of numbers is expected",
    ),
    "rests on nothing": (
        "return Result((), {}, (Finding('So.', ('x',)),))",
        f"{RETURNED}a finding on x, where the key of a metric is expected",
    ),
    "asks for an unknown word": ("WORDING('no_such')", f"{RAISED}AttributeError"),
}


@pytest.mark.parametrize("case", FAILING)
def test_an_analysis_that_fails_has_a_reason_where_its_numbers_would_be(
    case: str, tmp_path: Path
) -> None:
    code, expected = FAILING[case]
    assert (reason_of(analysis(tmp_path, compute=code)) or "").startswith(expected)


def test_one_that_hangs_is_ended_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_guards, "SECONDS", 0.5)
    analysis(tmp_path, compute="while True:\n        try:\n            while True: pass\n"
             "        except Exception: pass")  # fmt: skip
    assert reason_of(tmp_path) == "its code took longer than 0.5 seconds"


def test_a_figure_that_fails_is_a_sentence(tmp_path: Path) -> None:
    found = outcome(analysis(tmp_path, draw="raise KeyError('x')"))
    [reading] = found.readings
    assert reading.results["mine"].reason is None
    assert b"There is no figure, because" in re.sub(
        rb"<[^>]+>", b"", reading.drawings["mine-it"]
    ).replace(b"\n", b" ")


def test_one_that_writes_to_disk_changes_no_other_number(tmp_path: Path) -> None:
    place = tmp_path / "left by it"
    first = outcome(analysis(tmp_path / "a")).readings[0]
    second = outcome(
        analysis(
            tmp_path / "b", compute=f"import pathlib; pathlib.Path({str(place)!r}).write_text('x')"
        )
    )
    assert place.read_text(encoding="utf-8") == "x"
    for key, result in second.readings[0].results.items():
        assert result.metrics == first.results[key].metrics, key


def test_its_page_and_the_list_of_analyses_show_it_and_why_it_failed(tmp_path: Path) -> None:
    analysis(tmp_path, key="failing", compute="raise ValueError('<script>')")
    built = outcome(analysis(tmp_path))
    tree = small_site.tree_of(small_site.atlas_of(built), drawn=False)
    assert "By hand." in tree["analyses/mine.md"].decode()
    page = tree["checkpoints/row.md"].decode()
    assert "its code raised ValueError" in page
    assert "<script>" not in page


PLAIN = MINE.format(key="mine", compute="pass", draw="pass")
IMPORTING = "import generator\n"
# A file of the folder with its text, and what is said.
WRONG = {
    "a mistake of Python": (
        ("mine.py", f"{IMPORTING}def (:\n"),
        "analyses/mine.py:2: found .*expected a module",
    ),
    "an import that fails": (
        ("mine.py", f"{IMPORTING}\n1 / 0\n"),
        "mine.py:3: found ZeroDivisionError: division by zero; expected a module",
    ),
    "no record": (
        ("mine.py", IMPORTING),
        "mine.py:1: found 0 values of type Analysis; expected one",
    ),
    "a name that is none": (("<b>.py", IMPORTING), "<b>.py:1: found another name of a module"),
    "a key of the program": (
        ("rank.py", IMPORTING),
        "rank.py:1: found the name of one of the program; expected another",
    ),
    "another key": (
        ("other.py", PLAIN),
        f"other.py:{LINE}: found the key 'mine'; expected 'other'",
    ),
    "an empty template": (
        ("mine.md.jinja", ""),
        f"mine.py:{LINE}: found no title, question.*in mine.md.jinja",
    ),
    "a template that is none": (
        ("mine.md.jinja", "\n{% set %}"),
        f"mine.py:{LINE}: found .* in line 2 of mine.md.jinja",
    ),
    "a template that includes itself": (
        ("mine.md.jinja", '{% include "analyses/mine.md.jinja" %}'),
        f"mine.py:{LINE}: found RecursionError: .* in mine.md.jinja; expected a template",
    ),
    "a template that raises": (
        ("mine.md.jinja", "{% set x %}{{ 1 / 0 }}{% endset %}"),
        f"mine.py:{LINE}: found ZeroDivisionError: .* in mine.md.jinja; expected a template",
    ),
    "a template with a path": (
        ("mine.md.jinja", '{% include "/etc/passwd" %}'),
        f"mine.py:{LINE}: found /etc/passwd in mine.md.jinja; expected its template beside it",
    ),
    "a template that never ends": (
        ("mine.md.jinja", "{% for i in range(10**9) %}{% endfor %}"),
        f"mine.py:{LINE}: found no end within 0.5 seconds in mine.md.jinja; expected a template",
    ),
    "an import that never ends": (
        ("mine.py", f"{IMPORTING}while True: pass\n"),
        "mine.py:1: found no end within 0.5 seconds; expected a module that can be imported",
    ),
    "no form": (
        ("mine.py", PLAIN.replace("(OffsetBias,)", "()")),
        f"mine.py:{LINE}: found another value of forms; expected forms",
    ),
    "a stage that is none": (
        ("mine.py", PLAIN.replace("forms=", "stage='x', forms=")),
        f"mine.py:{LINE}: found another value of stage; expected one of see, measure and place",
    ),
    "after nothing": (
        ("mine.py", PLAIN.replace("forms=", "after='x', forms=")),
        f"mine.py:{LINE}: found after='x'; expected the key of another",
    ),
    "a field of the program's own": (
        ("mine.py", PLAIN.replace("forms=", "derived={'x': print}, forms=")),
        f"mine.py:{LINE}: found derived; expected none of it in version 0",
    ),
    "a missing argument": (
        ("mine.py", PLAIN.replace("compute=compute,", "")),
        f"mine.py:{LINE}: found TypeError: .*'compute'; expected a module",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_record_is_a_sentence_with_file_and_line(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name, text), expected = WRONG[case]
    if "never ends" in case:
        monkeypatch.setattr(own_guards, "SECONDS", 0.5)
    analysis(tmp_path)
    (tmp_path / "analyses" / name).write_text(text, encoding="utf-8")
    said = refused(tmp_path)
    assert re.search(expected, said), said
    assert len(said.splitlines()) == 1


def test_two_with_one_key_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = analysis(tmp_path / "one"), analysis(tmp_path / "other")
    installed = (other / "analyses",)
    monkeypatch.setattr(own, "_installed", lambda kind: installed if kind == "analyses" else ())
    said = refused(one)
    assert said.endswith(f"found the name of one of {one}/analyses/mine.py; expected another")


def test_check_says_what_is_wrong_and_a_build_does_not_begin(tmp_path: Path) -> None:
    (analysis(tmp_path) / "analyses/mine.md.jinja").unlink()
    for command in ("check", "build"):
        (tmp_path / "checkpoints.yml").write_text("checkpoints: []\n", encoding="utf-8")
        done = inline.run(
            command, "--config", str(tmp_path / "checkpoints.yml"), home=tmp_path / "hub"
        )
        assert done.returncode == 2
        assert "found no mine.md.jinja; expected its template beside it" in " ".join(
            done.stderr.split()
        )


def test_a_folder_of_the_same_name_without_a_record_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "analyses").mkdir()
    (tmp_path / "analyses/plot.py").write_text("raise SystemExit('ran')\n", encoding="utf-8")
    own.use(tmp_path)
    extensions.check()


def test_code_beside_no_list_does_not_run(tmp_path: Path) -> None:
    """A downloaded folder, in which somebody inspects a checkpoint."""
    analysis(tmp_path, compute="")
    own.use(tmp_path, has_code=False)
    assert own.folders("analyses") == ()
    extensions.check()


RULE = """
from generator.contracts import Rule


def find(examined):
    {body}


RULE = Rule(key="own-rule", levels={{"odd": "warning"}}, find=find)
"""
WORDS_OF_RULE = """
{% set title %}Own rule{% endset %}
{% set looks_for %}What is odd.{% endset %}
{% set why %}It is odd.{% endset %}
{% set mend %}Make it even.{% endset %}
{% macro odd(count) %}{{ count }} is odd.{% endmacro %}
"""


def findings(folder: Path, body: str) -> dict[str, str]:
    (folder / "rules").mkdir()
    (folder / "rules/own_rule.py").write_text(RULE.format(body=body), encoding="utf-8")
    (folder / "rules/own_rule.md.jinja").write_text(WORDS_OF_RULE, encoding="utf-8")
    return {one.rule: one.text for one in outcome(folder).lint}


def test_a_rule_beside_a_list_finds(tmp_path: Path) -> None:
    assert findings(tmp_path, "yield 'odd', {'count': 3}")["own-rule"] == "3 is odd."
    assert "own-rule" in [rule.key for rule in lint.all_rules()]
    page = small_site.tree_of(small_site.atlas_of(outcome(tmp_path)), drawn=False)["guide/rules.md"]
    assert "Make it even" in page.decode()


@pytest.mark.parametrize("body", ["1 / 0", "yield 'even', {}", "yield 'odd', {}", "return None"])
def test_a_rule_that_fails_says_so_and_the_others_go_on(body: str, tmp_path: Path) -> None:
    found = findings(tmp_path, body)["own-rule"]
    assert found.startswith("The rule own-rule found nothing, because its code raised ")


def test_every_kind_has_words_that_its_own_templates_have() -> None:
    """What is wanted of others' templates is what those of the program have."""
    for load in (evaluate.all_analyses, all_schemes, lint.all_rules):
        for record in load():
            wanted: Any = WORDS[type(record)]
            assert [one for one in wanted if one not in record.wording] == [], record.key


PICTURE = """
import numpy as np
from generator.contracts import Picture

PICTURE = Picture(
    numbers=lambda: {"x": np.zeros(3)}, draw=lambda _: 1 / 0, card=lambda _: np.zeros((2, 2))
)
"""


def test_a_picture_of_a_scheme_that_fails_is_a_sentence(tmp_path: Path) -> None:
    scheme = shutil.copytree(ROOT / "examples/own-atlas/schemes", tmp_path / "schemes")
    (scheme / "kerple/picture.py").write_text(PICTURE, encoding="utf-8")
    said = "schemes/kerple/picture.py:6: found ZeroDivisionError: division by zero; expected a"
    assert refused(tmp_path).startswith(said)


def test_a_scheme_that_fails_is_a_question_and_the_others_go_on(tmp_path: Path) -> None:
    scheme = shutil.copytree(ROOT / "examples/own-atlas/schemes", tmp_path / "schemes")
    code = (scheme / "kerple/__init__.py").read_text(encoding="utf-8")
    failing = code.replace("    if not {SIZE", "    raise OSError('gone')\n    if not {SIZE")
    (scheme / "kerple/__init__.py").write_text(failing, encoding="utf-8")
    found = outcome(tmp_path)
    assert [reading.encoding.scheme for reading in found.readings] == ["alibi"]
    [said] = [text for text in found.unresolved if "KERPLE" in text]
    assert said == (
        "The scheme KERPLE was not looked for, because its code raised OSError at"
        " schemes/kerple/__init__.py:19: gone."
    )


def test_a_headline_that_no_metric_has_is_a_reason(tmp_path: Path) -> None:
    analysis(tmp_path)
    code = PLAIN.replace(
        "forms=", 'headlines=(Headline("most", WORDING, Chance("level")),), forms='
    )
    code = code.replace("import Analysis,", "import Analysis, Chance, Headline,")
    (tmp_path / "analyses/mine.py").write_text(code, encoding="utf-8")
    assert "found no most_title and most_sentence in mine.md.jinja" in refused(tmp_path)
    words = "{% set most_title %}M{% endset %}{% set most_sentence %}{} of {x}{% endset %}"
    (tmp_path / "analyses/mine.md.jinja").write_text(WORDS_OF_MINE + words, encoding="utf-8")
    assert "found '{} of {x}' as a sentence in mine.md.jinja; expected {}" in refused(tmp_path)


def forget_installed() -> None:
    own._entry_points.cache_clear()
    own._installed.cache_clear()


def test_an_entry_point_of_an_installed_package_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis(tmp_path / "house_measures")
    for package in ("house_measures", "house_measures/analyses"):
        (tmp_path / package / "__init__.py").touch()
    about = tmp_path / "house_measures-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: house-measures\nVersion: 1\n", encoding="utf-8")
    points = "[position_atlas.analyses]\nhouse = house_measures.analyses\n"
    (about / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    forget_installed()
    try:
        [reading] = outcome(tmp_path / "elsewhere").readings
        assert reading.results["mine"].value("most") == 0.0
        (about / "entry_points.txt").write_text(points + "no = no_such.thing\n", encoding="utf-8")
        forget_installed()
        with pytest.raises(RefusedError, match=r"'no' of .*: found 'no_such.thing'"):
            own.use(None)
    finally:
        monkeypatch.undo()
        forget_installed()
