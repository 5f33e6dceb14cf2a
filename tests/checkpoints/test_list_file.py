"""checkpoints.yml: valid lists, and the exact line, column and message for invalid ones."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.checkpoints import list_file, list_row
from generator.contracts import Checkpoint, UseOptions, paper_address
from generator.errors import RefusedError
from generator.pipeline import plan
from generator.text import slugify

ROOT = Path(__file__).parents[2]
SOURCES = plan.all_sources()
HEAD = "checkpoints:\n"
KEYS = ", ".join([*list_row.Options.model_fields, *(source.key for source in plan.all_sources())])
NOT_PLAIN = "expected some text without control or direction marks"
NOT_A_PATH = "expected a name, not a path"
NOT_A_PAPER = "expected an arXiv id in quotes, such as '1706.03762', or an https:// address"
NOT_AN_ID = "expected a Hub id, 'owner/name'"
A_RANGE = (
    "expected a list, or two names that differ by their numbers alone, the lower first, such as"
    " 'step1000 … step143000'"
)
A_LIST = "expected a list under 'checkpoints'"
WRITTEN_OUT = "expected values written out"

# Content of the file, and the message for it.
NOT_A_LIST = {
    "empty": (b"", "1:1: found None; expected one key, 'checkpoints'"),
    "a list at the top": (b"[]", "1:1: found []; expected one key, 'checkpoints'"),
    "another key": (
        b"# mine\n\nmodels: []\n",
        "3:1: found ['models']; expected one key, 'checkpoints'",
    ),
    "one key too many": (
        b"checkpoints: [a/b]\nmodels: []\n",
        "2:1: found ['checkpoints', 'models']; expected one key, 'checkpoints'",
    ),
    "no rows": (
        b"# mine\ncheckpoints: []\n",
        "2:1: checkpoints: found []; expected a list of at least one checkpoint",
    ),
    "nothing": (
        b"checkpoints:\n",
        "1:1: checkpoints: found None; expected a list of at least one checkpoint",
    ),
    "a mapping": (
        b"checkpoints: {a: b}\n",
        "1:1: checkpoints: found {'a': 'b'}; expected a list of at least one checkpoint",
    ),
    "a tab": (
        b"checkpoints:\n\t- a/b\n",
        f"2:1: not YAML: found character '\\t' that cannot start any token; {A_LIST}",
    ),
    "an open quote": (
        b"checkpoints:\n  - 'a/b\n",
        f"3:1: not YAML: found unexpected end of stream; {A_LIST}",
    ),
    "two documents": (
        b"checkpoints: [a/b]\n---\nx: 1\n",
        f"2:1: not YAML: but found another document; {A_LIST}",
    ),
    "UTF-16": (
        "checkpoints: [a/b]\n".encode("utf-16"),
        "1:1: byte 0xff is not UTF-8; expected UTF-8 text",
    ),
    "UTF-16 without its mark": (
        "checkpoints: [a/b]\n".encode("utf-16-le"),
        "1:2: not YAML: unacceptable character #x0000: special characters are not allowed in"
        ' "<unicode string>", position 1; ' + A_LIST,
    ),
    "Latin-1": (
        b"checkpoints:\n  - hub: a/b\n    title: Caf\xe9\n",
        "3:15: byte 0xe9 is not UTF-8; expected UTF-8 text",
    ),
    "NUL": (
        b"checkpoints:\n  - hub: a/b\n    title: x\0y\n",
        "3:13: not YAML: unacceptable character #x0000: special characters are not allowed in"
        ' "<unicode string>", position 38; ' + A_LIST,
    ),
    "an alias": (b"checkpoints:\n  - &x a/b\n  - *x\n", f"3:5: an alias (*x); {WRITTEN_OUT}"),
    "an alias bomb": (
        b"a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\ncheckpoints: *c\n",
        "2:8: an alias (*a); expected values written out",
    ),
    "a tag": (
        b"checkpoints:\n  - !!python/object/apply:os.system [x]\n",
        f"2:5: a tag (tag:yaml.org,2002:python/object/apply:os.system); {WRITTEN_OUT}",
    ),
    "a tag on the list": (
        b"checkpoints: !!seq [a/b]\n",
        f"1:14: a tag (tag:yaml.org,2002:seq); {WRITTEN_OUT}",
    ),
    "a tag that the text does not fit": (
        b"checkpoints:\n  - hub: !!bool foo\n",
        f"2:10: a tag (tag:yaml.org,2002:bool); {WRITTEN_OUT}",
    ),
    "a tag of one's own": (b"checkpoints:\n  - !mine a/b\n", f"2:5: a tag (!mine); {WRITTEN_OUT}"),
    "a character beyond all": (
        b'checkpoints:\n  - "\\UFFFFFFFF"\n',
        f"1:1: not YAML: Python int too large to convert to C int; {A_LIST}",
    ),
    "deep nesting": (
        b"[" * 100_000,
        "1:9: nested more than 8 deep; expected a list of checkpoints",
    ),
    "too large": (
        b"#" * (list_file.MOST_BYTES + 1),
        "1:1: 524,289 bytes; expected at most 524,288",
    ),
    "the same key twice": (
        b"checkpoints:\n  - hub: a/b\n    hub: a/c\n",
        (
            '3:5: not YAML: found duplicate key "hub" with value "a/c" (original value: "a/b");'
            f" {A_LIST}"
        ),
    ),
}

# Row below the head, and the message for it.
BAD_ROWS = {
    "a use of no kind": (
        "  - hub: a/b\n    use: maybe\n",
        "3:5: checkpoints[0].use: found 'maybe'; expected true, first_layer, or a mapping of its"
        " options",
    ),
    "a use with a key of no kind": (
        "  - hub: a/b\n    use: {lenght: 64}\n",
        "3:5: checkpoints[0].use: found the unknown key 'lenght' (did you mean 'length'?); expected"
        " one of text, length, sequences, seed, device, most_parameters",
    ),
    "a use of too short texts": (
        "  - hub: a/b\n    use: {length: 3}\n",
        "3:5: checkpoints[0].use.length: found 3; expected greater than or equal to 32",
    ),
    "a use on no device": (
        "  - hub: a/b\n    use: {device: tpu}\n",
        "3:5: checkpoints[0].use.device: found 'tpu'; expected 'auto', 'cpu' or 'cuda'",
    ),
    "a text that is not there": (
        "  - hub: a/b\n    use: {text: nowhere.txt}\n",
        "3:5: checkpoints[0].use: found 'nowhere.txt', and no such file; expected a text",
    ),
    "unknown key": (
        "  - hub: a/b\n    revison: x\n",
        (
            "3:5: checkpoints[0]: found the unknown key 'revison' (did you mean 'revision'?);"
            f" expected one of {KEYS}"
        ),
    ),
    "a key like no other": (
        "  - hub: a/b\n    zzz: x\n",
        f"3:5: checkpoints[0]: found the unknown key 'zzz'; expected one of {KEYS}",
    ),
    "a number as a key": (
        "  - hub: a/b\n    1: x\n",
        f"3:5: checkpoints[0]: found the unknown key '1'; expected one of {KEYS}",
    ),
    "no, which older YAML takes for false": (
        "  - hub: no\n",
        f"2:5: checkpoints[0].hub: found 'no'; {NOT_AN_ID}",
    ),
    "a leading zero": (
        "  - hub: 0123\n",
        "2:5: checkpoints[0].hub: found 123; expected a valid string",
    ),
    "a bare number": (
        "  - 0123\n",
        "2:5: checkpoints[0]: found 123; expected a Hub id or a mapping",
    ),
    "a commit of digits": (
        "  - hub: a/b\n    revision: 1234567\n",
        "3:5: checkpoints[0].revision: found 1234567; expected a valid string",
    ),
    "a list": ("  - [a/b]\n", "2:5: checkpoints[0]: found ['a/b']; expected a Hub id or a mapping"),
    "two places": (
        "  - hub: a/b\n    folder: x\n",
        "2:5: checkpoints[0]: found folder and hub; expected one of 'folder', 'hub', 'run'",
    ),
    "no place": (
        "  - title: x\n",
        "2:5: checkpoints[0]: found no place to read from; expected one of 'folder', 'hub', 'run'",
    ),
    "an empty place": (
        "  - folder: ~\n",
        "2:5: checkpoints[0]: found no place to read from; expected one of 'folder', 'hub', 'run'",
    ),
    "a path": ("  - ../../x\n", f"2:5: checkpoints[0].hub: found '../../x'; {NOT_A_PATH}"),
    "a path from the root": (
        "  - /etc/x\n",
        f"2:5: checkpoints[0].hub: found '/etc/x'; {NOT_A_PATH}",
    ),
    "a Windows path": ("  - C:\\x\n", f"2:5: checkpoints[0].hub: found 'C:\\\\x'; {NOT_A_PATH}"),
    "an encoded path": (
        "  - '%2e%2e/x'\n",
        f"2:5: checkpoints[0].hub: found '%2e%2e/x'; {NOT_A_PATH}",
    ),
    "a path as a title": (
        "  - hub: a/b\n    title: ../../x\n",
        f"3:5: checkpoints[0].title: found '../../x'; {NOT_A_PATH}",
    ),
    "an encoded path as a title": (
        "  - hub: a/b\n    title: '%2E%2E'\n",
        f"3:5: checkpoints[0].title: found '%2E%2E'; {NOT_A_PATH}",
    ),
    **{
        f"a paper that is {what}": (
            f"  - hub: a/b\n    paper: {value}\n",
            f"3:5: checkpoints[0].paper: found {value}; {NOT_A_PAPER}",
        )
        for what, value in {
            "a script": "'javascript:alert(1)'",
            "not encrypted": "'http://arxiv.org/abs/1706.03762'",
            "an address with a quote": "'https://a.b/\"onclick=x'",
            "a title": "'Attention is all you need'",
        }.items()
    },
    "a paper without quotes": (
        "  - hub: a/b\n    paper: 1706.03762\n",
        "3:5: checkpoints[0].paper: found 1706.03762; expected a valid string",
    ),
    "a licence with a control mark": (
        '  - hub: a/b\n    licence: "MIT\\u202e"\n',
        f"3:5: checkpoints[0].licence: found 'MIT\\u202e'; {NOT_PLAIN}",
    ),
    "a path as a revision": (
        "  - hub: a/b\n    revision: ../x\n",
        f"3:5: checkpoints[0].revision: found '../x'; {NOT_A_PATH}",
    ),
    "a device": ("  - CON\n", f"2:5: checkpoints[0].hub: found 'CON'; {NOT_AN_ID}"),
    "a device as a name": ("  - a/nul\n", f"2:5: checkpoints[0].hub: found 'a/nul'; {NOT_AN_ID}"),
    "a dot at the end": ("  - a.\n", f"2:5: checkpoints[0].hub: found 'a.'; {NOT_AN_ID}"),
    "a URL": (
        "  - https://example.org/a/b\n",
        f"2:5: checkpoints[0].hub: found 'https://example.org/a/b'; {NOT_AN_ID}",
    ),
    "three words": ("  - a/b/c\n", f"2:5: checkpoints[0].hub: found 'a/b/c'; {NOT_AN_ID}"),
    "a bidi override in an id": (
        '  - "a/\\u202eb"\n',
        f"2:5: checkpoints[0].hub: found 'a/\\u202eb'; {NOT_PLAIN}",
    ),
    "a bidi override in a title": (
        "  - hub: a/b\n    title: x\u202ey\n",
        f"3:5: checkpoints[0].title: found 'x\\u202ey'; {NOT_PLAIN}",
    ),
    "a NUL in a title": (
        '  - hub: a/b\n    title: "x\\0"\n',
        f"3:5: checkpoints[0].title: found 'x\\x00'; {NOT_PLAIN}",
    ),
    "a NUL in a folder": (
        '  - folder: "x\\0"\n',
        f"2:5: checkpoints[0].folder: found 'x\\x00'; {NOT_PLAIN}",
    ),
    "a lone surrogate": (
        '  - hub: a/b\n    group: "\\ud800"\n',
        f"3:5: checkpoints[0].group: found '\\ud800'; {NOT_PLAIN}",
    ),
    "an empty title": (
        "  - hub: a/b\n    title: ''\n",
        f"3:5: checkpoints[0].title: found ''; {NOT_PLAIN}",
    ),
    "a note as long as a page": (
        f"  - hub: a/b\n    notes: {'x' * 2001}\n",
        f"3:5: checkpoints[0].notes: found '{'x' * 59}; expected at most 2000 characters",
    ),
    "a range of two letters": (
        "  - hub: a/b\n    revisions: main … dev\n",
        f"3:5: checkpoints[0].revisions: found 'main … dev'; {A_RANGE}",
    ),
    "a range downwards": (
        "  - hub: a/b\n    revisions: step9 ... step1\n",
        f"3:5: checkpoints[0].revisions: found 'step9 ... step1'; {A_RANGE}",
    ),
    "a range of one name": (
        "  - hub: a/b\n    revisions: step1\n",
        f"3:5: checkpoints[0].revisions: found 'step1'; {A_RANGE}",
    ),
    "the same revision twice": (
        "  - hub: a/b\n    revisions: [x1, x1]\n",
        (
            "3:5: checkpoints[0].revisions: found ['x1', 'x1']; expected different names of"
            " branches or tags, not paths"
        ),
    ),
    "no revisions": (
        "  - hub: a/b\n    revisions: []\n",
        (
            "3:5: checkpoints[0].revisions: found []; expected different names of branches or tags,"
            " not paths"
        ),
    ),
    "a path among revisions": (
        "  - hub: a/b\n    revisions: [../x1]\n",
        (
            "3:5: checkpoints[0].revisions: found ['../x1']; expected different names of branches"
            " or tags, not paths"
        ),
    ),
    "revisions of a folder": (
        "  - folder: a/b\n    revisions: [x1]\n",
        (
            "3:5: checkpoints[0].revisions: found it beside the path 'a/b'; expected it beside a"
            " repository of the Hub"
        ),
    ),
    "one revision and several": (
        "  - hub: a/b\n    revision: x\n    revisions: [x1, x2]\n",
        "3:5: checkpoints[0].revision: found it beside 'revisions'; expected one of the two",
    ),
    "one in some of a single checkpoint": (
        "  - hub: a/b\n    every: 10\n",
        (
            "3:5: checkpoints[0].every: found it in a row of one checkpoint; expected 'revisions',"
            " or a folder with *"
        ),
    ),
    "one in none": (
        "  - folder: a/*\n    every: 0\n",
        "3:5: checkpoints[0].every: found 0; expected greater than or equal to 1",
    ),
    "a yes in words": (
        "  - hub: a/b\n    pickle: yes\n",
        "3:5: checkpoints[0].pickle: found 'yes'; expected a valid boolean",
    ),
}

# Two rows whose pages would have one name.
SAME_NAME = {
    "the same id": ("a/b", "a/b", "a-b"),
    "underscore and hyphen": ("a/b_c", "a/b-c", "a-b-c"),
    "upper and lower case": ("A/x", "a/X", "a-x"),
    "dot and hyphen": ("a/b.c", "a/b-c", "a-b-c"),
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def load(text: str | bytes) -> tuple[Checkpoint, ...]:
    path = Path("checkpoints.yml")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list_file.load(path, SOURCES)


def refused(text: str | bytes) -> list[str]:
    """The problems of an invalid list, without the name of the file."""
    with pytest.raises(RefusedError) as caught:
        load(text)
    assert all(problem.startswith("checkpoints.yml:") for problem in caught.value.problems)
    return [problem.removeprefix("checkpoints.yml:") for problem in caught.value.problems]


def problems(text: str | bytes) -> tuple[str, ...]:
    """The problems of a list; empty for a valid one."""
    try:
        load(text)
    except RefusedError as error:
        return error.problems
    return ()


def test_the_list_in_this_repository_is_well_formed() -> None:
    assert len(list_file.load(ROOT / "checkpoints.yml", SOURCES)) >= 10


def test_the_schema_in_this_repository_equals_that_of_the_code() -> None:
    assert (ROOT / "checkpoints.schema.json").read_text(encoding="utf-8") == list_row.schema(
        SOURCES
    )


def test_the_schema_has_every_key_and_no_other() -> None:
    row = json.loads(list_row.schema(SOURCES))["properties"]["checkpoints"]["items"]["anyOf"][1]
    assert ", ".join(row["properties"]) == KEYS
    assert row["additionalProperties"] is False


@pytest.mark.parametrize(("text", "message"), NOT_A_LIST.values(), ids=NOT_A_LIST)
def test_an_invalid_list_is_refused_with_line_and_column(text: bytes, message: str) -> None:
    assert refused(text) == [message]


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_an_invalid_row_is_refused_with_line_and_column(row: str, message: str) -> None:
    assert refused(HEAD + row) == [message]


@pytest.mark.parametrize(("first", "second", "slug"), SAME_NAME.values(), ids=SAME_NAME)
def test_two_rows_with_one_page_name_are_refused_naming_both_lines(
    first: str, second: str, slug: str
) -> None:
    message = (
        f"3:5: found the page name '{slug}' a second time, after line 2; expected different titles"
        " or revisions"
    )
    assert refused(f"{HEAD}  - {first}\n  - {second}\n") == [message]


def test_all_problems_of_all_rows_are_reported_at_once() -> None:
    text = (
        HEAD + "  - ../x\n  - hub: a/b\n    revison: x\n    title: /etc\n    group: 3\n  - c/d\n  -"
        " c_d\n"
    )
    assert [problem.split(";")[0] for problem in refused(text)] == [
        "2:5: checkpoints[0].hub: found '../x'",
        "6:5: checkpoints[1].group: found 3",
        "4:5: checkpoints[1]: found the unknown key 'revison' (did you mean 'revision'?)",
        "5:5: checkpoints[1].title: found '/etc'",
        "8:5: found the page name 'c-d' a second time, after line 7",
    ]


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(
        RefusedError,
        match=(
            r"^none.yml: cannot be read \(No such file or directory\); expected the list of"
            r" checkpoints$"
        ),
    ):
        list_file.load(Path("none.yml"), SOURCES)


def test_every_option_of_a_row_is_one_of_its_checkpoint() -> None:
    options = {
        key: not field.default if isinstance(field.default, bool) else "other"
        for key, field in list_row.Options.model_fields.items()
        if key not in (list_file.CONFIG, list_row.USE)
    }
    options |= {"paper": "1706.03762", "revisions": "step1 … step9"}
    # The one excludes a series, and the other is no text.
    del options["revision"], options["every"]
    [checkpoint] = load(json.dumps({"checkpoints": [{"hub": "a/b", **options}]}))
    assert {key: getattr(checkpoint, key) for key in options} == options


def test_a_row_without_options_has_the_defaults_of_the_schema() -> None:
    [checkpoint] = load(HEAD + "  - a/b\n")
    defaults = list_row.Options.model_validate({}).model_dump(exclude={"title", list_row.USE})
    assert {key: getattr(checkpoint, key) for key in defaults} == defaults
    assert checkpoint.use is None


@pytest.mark.parametrize(
    ("written", "use"),
    [
        ("true", UseOptions()),
        ("false", None),
        ("first_layer", UseOptions("first_layer")),
        ("{length: 128, seed: 7}", UseOptions(length=128, seed=7)),
        ("{}", UseOptions()),
    ],
)
def test_what_is_measured_of_a_model_is_as_its_row_says(
    written: str, use: UseOptions | None
) -> None:
    [checkpoint] = load(f"{HEAD}  - hub: a/b\n    use: {written}\n")
    assert checkpoint.use == use


def test_defaults_of_use_are_those_of_the_schema() -> None:
    written = list_row.UseRow.model_validate({}).model_dump()
    assert written == {key: getattr(UseOptions(), key) for key in written}


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"\xff", "byte 0xff is not UTF-8"), (b"a" * 200_001, "200,001 bytes; expected at most 200")],
)
def test_a_text_that_cannot_be_read_is_refused_where_it_is_named(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "own.txt").write_bytes(content)
    (tmp_path / "list.yml").write_text(f"{HEAD}  - {{hub: a/b, use: {{text: own.txt}}}}\n")
    with pytest.raises(RefusedError, match=problem):
        list_file.load(tmp_path / "list.yml", SOURCES)


def test_a_text_is_read_relative_to_the_list_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("C C O")
    (tmp_path / "list.yml").write_text(f"{HEAD}  - {{hub: a/b, use: {{text: own.txt}}}}\n")
    [checkpoint] = list_file.load(tmp_path / "list.yml", SOURCES)
    assert checkpoint.use == UseOptions(text="C C O")


def test_a_config_is_read_relative_to_the_list_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "list.yml").write_text(f"{HEAD}  - {{hub: a/b, config: own.json}}\n")
    [checkpoint] = list_file.load(tmp_path / "list.yml", SOURCES)
    assert checkpoint.config == '{"model_type": "gpt2"}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "no such file"),
        (b"[]", "expected a JSON object"),
        (b"{", "not JSON"),
        ("{}".encode("utf-16"), "byte 0xff is not UTF-8"),
    ],
)
def test_a_config_that_is_no_json_object_is_refused_where_it_is_named(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (tmp_path / "own.json").write_bytes(content)
    (tmp_path / "list.yml").write_text("checkpoints:\n  - hub: a/b\n    config: own.json\n")
    with pytest.raises(RefusedError, match=rf"list.yml:3:5: checkpoints\[0\].config: .*{problem}"):
        list_file.load(tmp_path / "list.yml", SOURCES)


@pytest.mark.parametrize(
    ("written", "sentence"), [("[101, 7, 0x66]", (101, 7, 102)), ("'It is\n\n  so.'", "It is\nso.")]
)
def test_a_sentence_is_plain_text_or_a_tuple_of_plain_numbers(
    written: str, sentence: object
) -> None:
    [checkpoint] = load(f"{HEAD}  - {{hub: a/b, sentence: {written}}}\n")
    assert checkpoint.sentence == sentence
    assert {type(checkpoint.sentence), *map(type, checkpoint.sentence)} <= {str, tuple, int}


@pytest.mark.parametrize(
    ("paper", "address"),
    [
        ("1706.03762", "https://arxiv.org/abs/1706.03762"),
        ("cs/0112017v1", "https://arxiv.org/abs/cs/0112017v1"),
        ("math.GT/0309136", "https://arxiv.org/abs/math.GT/0309136"),
        ("https://doi.org/10.1126/sciadv.abe4166", "https://doi.org/10.1126/sciadv.abe4166"),
    ],
)
def test_a_paper_has_an_address(paper: str, address: str) -> None:
    [row] = load(f"{HEAD}  - {{hub: a/b, paper: '{paper}', licence: Apache-2.0}}\n")
    assert (paper_address(row.paper), row.licence) == (address, "Apache-2.0")


def test_one_checkpoint_at_two_revisions_has_two_pages() -> None:
    checkpoints = load(HEAD + "  - {hub: a/b, revision: step1}\n  - {hub: a/b, revision: step2}\n")
    assert [checkpoint.slug for checkpoint in checkpoints] == ["a-b-step1", "a-b-step2"]


def test_rows_are_in_the_order_of_their_slugs() -> None:
    assert [
        checkpoint.slug
        for checkpoint in load(HEAD + "  - c/d\n  - {hub: z/z, title: B}\n  - a/b\n")
    ] == ["a-b", "b", "c-d"]


def test_a_folder_is_relative_to_the_file() -> None:
    Path("lists").mkdir()
    Path("lists/mine.yml").write_text("checkpoints: [{folder: ../models/x}]", encoding="utf-8")
    [checkpoint] = list_file.load(Path("lists/mine.yml"), SOURCES)
    assert (checkpoint.id, Path(checkpoint.place)) == ("../models/x", Path("lists/../models/x"))


@pytest.mark.parametrize("folder", ["/somewhere/models/x", "~/models/x", "/somewhere/models/x/"])
def test_an_absolute_folder_is_named_by_its_last_part(folder: str) -> None:
    [checkpoint] = load(f"{HEAD}  - folder: {folder}\n")
    assert (checkpoint.id, checkpoint.title, checkpoint.slug) == ("x", "x", "x")
    assert Path(checkpoint.place) == Path(folder).expanduser()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/somewhere/runs/gpt/checkpoint-*", "gpt/checkpoint-*"),
        ("/somewhere/runs/*/step*", "runs/*/step*"),
        ("/step*", "step*"),
    ],
)
def test_an_absolute_series_is_named_from_the_part_before_its_pattern(
    folder: str, name: str
) -> None:
    [checkpoint] = load(f"{HEAD}  - folder: {folder}\n")
    assert (checkpoint.id, checkpoint.title) == (name, name)


def test_two_absolute_folders_of_one_name_need_titles() -> None:
    with pytest.raises(
        RefusedError,
        match=(
            r"3:5: found the page name 'x' a second time, after line 2; expected different titles"
        ),
    ):
        load(HEAD + "  - folder: /one/x\n  - folder: /two/x\n")


def test_a_byte_order_mark_is_ignored() -> None:
    assert len(load(b"\xef\xbb\xbfcheckpoints: [a/b]\n")) == 1


@pytest.mark.parametrize(
    ("title", "slug"),
    [("CON", "con-checkpoint"), ("index", "index-checkpoint"), ("日本", "a-b"), ("Été!", "ete")],
)
def test_every_title_gets_a_valid_file_name(title: str, slug: str) -> None:
    assert load(f"{HEAD}  - hub: a/b\n    title: {title}\n")[0].slug == slug


def test_a_row_with_very_many_unknown_keys_is_refused_in_a_hundred_lines() -> None:
    n_keys, told = 20_000, list_row.MOST_PROBLEMS
    keys = "".join(f"    key{index}: 1\n" for index in range(n_keys))
    messages = refused(f"{HEAD}  - hub: a/b\n{keys}")
    assert len(messages) == told + 1
    assert f"{told + 2}:5: checkpoints[0]: found the unknown key 'key{told - 1}'" in messages[-2]
    assert f"checkpoints[0]: found {n_keys - told:,} more problems; expected" in messages[-1]


def test_a_long_title_is_truncated_with_an_ellipsis() -> None:
    title = load(f"{HEAD}  - hub: a/b\n    title: {'long ' * 2_000}\n")[0].title
    assert len(title) == list_file.LONGEST_TITLE
    assert title.endswith("…")


@given(st.text())
def test_a_slug_is_lower_case_words_joined_by_hyphens(text: str) -> None:
    assert all(
        word.isalnum() and word.isascii() and word == word.lower()
        for word in slugify(text).split("-")
        if word
    )
    assert not slugify(text).startswith("-")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_list_or_are_refused(data: bytes) -> None:
    assert all(problem.startswith("checkpoints.yml:") for problem in problems(data))


ROWS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(KEYS.split(", ")) | st.text(max_size=5), ROWS, max_size=4)
        | ROWS,
        max_size=4,
    )
)
def test_any_rows_are_checkpoints_or_are_refused(rows: list[object]) -> None:
    assert all(
        problem.startswith("checkpoints.yml:")
        for problem in problems(json.dumps({"checkpoints": rows}))
    )


def test_an_emoji_as_json_escapes_it_is_one_character() -> None:
    (row,) = load('{"checkpoints": [{"hub": "a/b", "title": "Model \\ud83d\\ude00"}]}')
    assert row.title == "Model \U0001f600"
