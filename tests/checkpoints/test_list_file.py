"""checkpoints.yml: valid lists, and the exact line, column and message for invalid ones."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.checkpoints import list_file, list_row
from generator.contracts import Checkpoint, UseOptions, paper_address
from generator.errors import RefusedError
from generator.reading import plan
from generator.text import slugify

ROOT = Path(__file__).parents[2]
SOURCES = plan.all_sources()
HEAD = "checkpoints:\n"
KEYS = ", ".join([*list_row.Options.model_fields, *(source.key for source in plan.all_sources())])
NOT_PLAIN = "expected some text without control or direction marks"
NOT_A_PATH = "expected a name, not a path"
NOT_A_PAPER = "expected an arXiv id in quotes, such as '1706.03762', or an https:// address"
NOT_AN_ID = "expected a Hub id, 'owner/name'"
NOT_NAMES = "expected different names of branches or tags, not paths"
NO_PLACE = "found no place to read from; expected one of 'folder', 'hub', 'run'"

# Content of the file, and the beginning of its message.
NOT_A_LIST = {
    b"": "1:1: found None; expected the key 'checkpoints'",
    b"[]": "1:1: found []; expected the key",
    b"# mine\n\nmodels: none\n": "1:1: found ['models']; expected 'checkpoints' as the last key",
    b"checkpoints: [a/b]\nmodels: []\n": "2:1: models: found []; expected 'all', 'listed' or",
    b"repository: 'javascript:x/y'\ncheckpoints: [a/b]\n": "1:1: repository: found 'javas",
    b"repository: https://a.org\ncheckpoints: [a/b]\n": "1:1: repository: found 'https://a.org'",
    b"repository: [x]\ncheckpoints: [a/b]\n": "1:1: repository: found ['x']; expected an address",
    b"repository: 'https://a.org/b\">c'\ncheckpoints: [a/b]\n": "1:1: repository: found",
    b"# mine\ncheckpoints: []\n": "2:1: checkpoints: found []; expected a list of at least one",
    b"checkpoints:\n": "1:1: checkpoints: found None",
    b"checkpoints: {a: b}\n": "1:1: checkpoints: found {'a': 'b'}",
    b"checkpoints:\n\t- a/b\n": "2:1: not YAML: found character '\\t'",
    b"checkpoints:\n  - 'a/b\n": "3:1: not YAML: found unexpected end of stream",
    b"checkpoints: [a/b]\n---\nx: 1\n": "2:1: not YAML: but found another document",
    "checkpoints: [a/b]\n".encode("utf-16"): "1:1: byte 1, 0xff, is not UTF-8",
    "checkpoints: [a/b]\n".encode("utf-16-le"): "1:1: not YAML: unacceptable character #x0000",
    b"checkpoints:\n  - hub: a/b\n    title: Caf\xe9\n": "1:1: byte 41, 0xe9, is not UTF-8",
    b"checkpoints:\n  - hub: a/b\n    title: x\0y\n": "1:1: not YAML: unacceptable character",
    b"checkpoints:\n  - &x a/b\n  - *x\n": "3:5: an alias (*x); expected values written out",
    b"a: &a [x, x]\nb: &b [*a, *a]\ncheckpoints: *b\n": "2:8: an alias (*a)",
    b"checkpoints:\n  - !!python/object/apply:os.system [x]\n": "2:5: a tag (tag:yaml.org,2002:p",
    b"checkpoints: !!seq [a/b]\n": "1:14: a tag (tag:yaml.org,2002:seq)",
    b"checkpoints:\n  - hub: !!bool foo\n": "2:10: a tag (tag:yaml.org,2002:bool)",
    b"checkpoints:\n  - !mine a/b\n": "2:5: a tag (!mine)",
    b"checkpoints:\n  - " + 5000 * b"1": "1:1: not YAML: a whole number of more than 4300 digits;",
    b'checkpoints:\n  - "\\UFFFFFFFF"\n': "1:1: not YAML: Python int too large",
    b"[" * 100_000: "1:9: nested more than 8 deep; expected values that are less deep",
    b"#" * (list_file.MOST_BYTES + 1): "1:1: more than 524,288 bytes; expected no more",
    b"checkpoints:\n  - hub: a/b\n    hub: a/c\n": '3:5: not YAML: found duplicate key "hub"',
}

# What stands in a row, and the message for it after its line and column, 2:5.
BAD_ROWS = {
    "0123": "checkpoints[0]: found 123; expected a Hub id or a mapping",
    "[a/b]": "checkpoints[0]: found ['a/b']; expected a Hub id or a mapping",
    "title: x": f"checkpoints[0]: {NO_PLACE}",
    "folder: ~": f"checkpoints[0]: {NO_PLACE}",
    "hub: 0123": "checkpoints[0].hub: found 123; expected a valid string",
    "hub: no": f"checkpoints[0].hub: found 'no'; {NOT_AN_ID}",
    "../../x": f"checkpoints[0].hub: found '../../x'; {NOT_A_PATH}",
    "/etc/x": f"checkpoints[0].hub: found '/etc/x'; {NOT_A_PATH}",
    "C:\\x": f"checkpoints[0].hub: found 'C:\\\\x'; {NOT_A_PATH}",
    "'%2e%2e/x'": f"checkpoints[0].hub: found '%2e%2e/x'; {NOT_A_PATH}",
    "CON": f"checkpoints[0].hub: found 'CON'; {NOT_AN_ID}",
    "a/nul": f"checkpoints[0].hub: found 'a/nul'; {NOT_AN_ID}",
    "a.": f"checkpoints[0].hub: found 'a.'; {NOT_AN_ID}",
    "a/b/c": f"checkpoints[0].hub: found 'a/b/c'; {NOT_AN_ID}",
    "https://a.org/a/b": f"checkpoints[0].hub: found 'https://a.org/a/b'; {NOT_AN_ID}",
    '"a/\\u202eb"': f"checkpoints[0].hub: found 'a/\\u202eb'; {NOT_PLAIN}",
    'folder: "x\\0"': f"checkpoints[0].folder: found 'x\\x00'; {NOT_PLAIN}",
}

# A further key of a row, and the message for it after its line and column, 3:5.
BAD_KEYS = {
    "use: maybe": ".use: found 'maybe'; expected true, first_layer, or a mapping of its options",
    "use: {lenght: 64}": ".use: found the unknown key 'lenght' (did you mean 'length'?); expected",
    "use: {length: 3}": ".use.length: found 3; expected greater than or equal to 32",
    "use: {device: tpu}": ".use.device: found 'tpu'; expected 'auto', 'cpu' or 'cuda'",
    "revison: x": ": found the unknown key 'revison' (did you mean 'revision'?); expected one of",
    "zzz: x": f": found the unknown key 'zzz'; expected one of {KEYS}",
    "1: x": f": found the unknown key '1'; expected one of {KEYS}",
    "revision: 1234567": ".revision: found 1234567; expected a valid string",
    "revision: ../x": f".revision: found '../x'; {NOT_A_PATH}",
    "title: ../../x": f".title: found '../../x'; {NOT_A_PATH}",
    "title: '%2E%2E'": f".title: found '%2E%2E'; {NOT_A_PATH}",
    "title: x\u202ey": f".title: found 'x\\u202ey'; {NOT_PLAIN}",
    'title: "x\\0"': f".title: found 'x\\x00'; {NOT_PLAIN}",
    "title: ''": f".title: found ''; {NOT_PLAIN}",
    'group: "\\ud800"': f".group: found '\\ud800'; {NOT_PLAIN}",
    'licence: "MIT\\u202e"': f".licence: found 'MIT\\u202e'; {NOT_PLAIN}",
    f"notes: {'x' * 2001}": f".notes: found '{'x' * 59}; expected at most 2000 characters",
    "pickle: yes": ".pickle: found 'yes'; expected a valid boolean",
    "paper: 'javascript:alert(1)'": f".paper: found 'javascript:alert(1)'; {NOT_A_PAPER}",
    "paper: 'http://arxiv.org/abs/1'": f".paper: found 'http://arxiv.org/abs/1'; {NOT_A_PAPER}",
    "paper: 'https://a.b/\"onclick=x'": f".paper: found 'https://a.b/\"onclick=x'; {NOT_A_PAPER}",
    "paper: 'Attention'": f".paper: found 'Attention'; {NOT_A_PAPER}",
    "paper: 1706.03762": ".paper: found 1706.03762; expected a valid string",
    "revisions: main … dev": ".revisions: found 'main … dev'; expected a list, or two names that",
    "revisions: step9 ... step1": ".revisions: found 'step9 ... step1'; expected a list, or two",
    "revisions: step1": ".revisions: found 'step1'; expected a list, or two names",
    "revisions: [x1, x1]": f".revisions: found ['x1', 'x1']; {NOT_NAMES}",
    "revisions: []": f".revisions: found []; {NOT_NAMES}",
    "revisions: [../x1]": f".revisions: found ['../x1']; {NOT_NAMES}",
    "every: 10": ".every: found it in an entry of one checkpoint; expected 'revisions', or a",
    "copy_of: hub:no": f".copy_of: found 'hub:no'; {NOT_AN_ID}",
    "copy_of: ../x": f".copy_of: found '../x'; {NOT_A_PATH}",
    "every: 0": ".every: found 0; expected greater than or equal to 1",
}

# Rows of several keys, and their messages.
BAD_COMBINATIONS = {
    "hub: a/b\n    folder: x": "2:5: checkpoints[0]: found folder and hub; expected one of",
    "folder: a/b\n    revisions: [x1]": "3:5: checkpoints[0].revisions: found it beside the path",
    "hub: a/b\n    revision: x\n    revisions: [x1, x2]": "3:5: checkpoints[0].revision: found it",
    "hub: a/b\n    copy_of: a-b": "2:5: found copy_of: 'a-b', and no other such page; expected",
    "hub: a/b\n    revisions: [x1, x2]\n    copy_of: c-d": "4:5: checkpoints[0].copy_of: found it",
    "folder: x\n    of: no": f"3:5: checkpoints[0].of: found 'no'; {NOT_AN_ID}",
    "folder: x\n    of: a/nul": f"3:5: checkpoints[0].of: found 'a/nul'; {NOT_AN_ID}",
    "hub: a/b\n    use: {text: nowhere.txt}": "2:5: checkpoints[0]: found 'nowhere.txt', and no su",
}

# Two rows whose pages would have one name.
SAME_NAME = [
    ("a/b", "a/b", "a-b"),
    ("a/b_c", "a/b-c", "a-b-c"),
    ("A/x", "a/X", "a-x"),
    ("a/b.c", "a/b-c", "a-b-c"),
    ("folder: /one/x", "folder: /two/x", "x"),
]


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
    written = (ROOT / "checkpoints.schema.json").read_text(encoding="utf-8")
    assert written == list_row.schema(SOURCES)


def test_the_schema_has_every_key_and_no_other() -> None:
    row = json.loads(list_row.schema(SOURCES))["properties"]["checkpoints"]["items"]["anyOf"][1]
    assert ", ".join(row["properties"]) == KEYS
    assert row["additionalProperties"] is False


@pytest.mark.parametrize(
    "cases",
    [
        NOT_A_LIST,
        {f"{HEAD}  - {row}\n": f"2:5: {message}" for row, message in BAD_ROWS.items()},
        {
            f"{HEAD}  - hub: a/b\n    {key}\n": f"3:5: checkpoints[0]{message}"
            for key, message in BAD_KEYS.items()
        },
        {f"{HEAD}  - {row}\n": message for row, message in BAD_COMBINATIONS.items()},
        {
            f"{HEAD}  - {first}\n  - {second}\n": (
                f"3:5: found the page name '{slug}' a second time, after line 2; expected different"
            )
            for first, second, slug in SAME_NAME
        },
    ],
    ids=["files", "rows", "keys", "combinations", "pages"],
)
def test_an_invalid_list_is_refused_with_line_and_column(cases: Mapping[str | bytes, str]) -> None:
    found = {text: refused(text) for text in cases}
    assert [
        (text[:200], messages, cases[text])
        for text, messages in found.items()
        if len(messages) != 1 or not messages[0].startswith(cases[text])
    ] == []


def test_all_problems_of_all_rows_are_reported_at_once() -> None:
    keys = "    revison: x\n    title: /etc\n    group: 3\n"
    text = f"{HEAD}  - ../x\n  - hub: a/b\n{keys}  - c/d\n  - c_d\n"
    assert [problem.split(";")[0] for problem in refused(text)] == [
        "2:5: checkpoints[0].hub: found '../x'",
        "6:5: checkpoints[1].group: found 3",
        "4:5: checkpoints[1]: found the unknown key 'revison' (did you mean 'revision'?)",
        "5:5: checkpoints[1].title: found '/etc'",
        "8:5: found the page name 'c-d' a second time, after line 7",
    ]


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"^none.yml: cannot be read"):
        list_file.load(Path("none.yml"), SOURCES)


def test_every_option_of_a_row_is_one_of_its_checkpoint() -> None:
    options = {
        key: not field.default if isinstance(field.default, bool) else "other"
        for key, field in list_row.Options.model_fields.items()
        if key not in (list_file.CONFIG, list_row.USE, list_row.ANALYSES)
    }
    options |= {"paper": "1706.03762", "revisions": "step1 … step9"}
    options |= {"of": "c/d"}
    # The one excludes a series, and the other is no text.
    del options["revision"], options["every"], options["copy_of"]
    [checkpoint] = load(json.dumps({"checkpoints": [{"hub": "a/b", **options}]}))
    assert {key: getattr(checkpoint, key) for key in options} == options


def test_a_row_without_options_has_the_defaults_of_the_schema() -> None:
    [checkpoint] = load(HEAD + "  - a/b\n")
    defaults = list_row.Options.model_validate({}).model_dump(
        exclude={"title", list_row.USE, list_row.ANALYSES}
    )
    assert {key: getattr(checkpoint, key) for key in defaults} == defaults
    assert checkpoint.use is None
    assert not checkpoint.analyses


# A key of a row, and an attribute that it gives the checkpoint.
SAID: list[tuple[str, str, object]] = [
    ("use: true", "use", UseOptions()),
    ("use: false", "use", None),
    ("use: first_layer", "use", UseOptions("first_layer")),
    ("use: {length: 128, seed: 7}", "use", UseOptions(length=128, seed=7)),
    ("use: {}", "use", UseOptions()),
    ("sentence: [101, 7, 0x66]", "sentence", (101, 7, 102)),
    ("sentence: 'It is\n\n      so.'", "sentence", "It is\nso."),
    ("title: CON", "slug", "con-checkpoint"),
    ("title: index", "slug", "index-checkpoint"),
    ("title: 日本", "slug", "a-b"),
    ("title: Été!", "slug", "ete"),
]


def test_a_checkpoint_is_as_its_row_says() -> None:
    for key, name, value in SAID:
        found = getattr(load(f"{HEAD}  - hub: a/b\n    {key}\n")[0], name)
        assert found == value
        if isinstance(found, tuple):  # plain numbers
            assert {type(each) for each in found} == {int}


def test_defaults_of_use_are_those_of_the_schema() -> None:
    written = list_row.UseRow.model_validate({}).model_dump()
    assert written == {key: getattr(UseOptions(), key) for key in written}


def test_files_are_read_relative_to_the_list_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("C C O")
    (tmp_path / "own.json").write_text('{"model_type": "gpt2"}')
    row = "{hub: a/b, use: {text: own.txt}, config: own.json}"
    (tmp_path / "list.yml").write_text(f"{HEAD}  - {row}\n")
    [checkpoint] = list_file.load(tmp_path / "list.yml", SOURCES)
    assert checkpoint.use == UseOptions(text="C C O")
    assert checkpoint.config == '{"model_type": "gpt2"}'


@pytest.mark.parametrize(
    ("key", "content", "problem"),
    [
        ("use: {text: own}", b"\xff", "own: byte 1, 0xff, is not UTF-8"),
        ("use: {text: own}", b"a" * 200_001, "200,001 bytes; expected at most 200"),
        ("config: own", None, "no such file"),
        ("config: own", b"[]", "expected a JSON object"),
        ("config: own", b"{", "not JSON"),
        ("config: own", "{}".encode("utf-16"), "own: byte 1, 0xff, is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_row(
    key: str, content: bytes | None, problem: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "own").write_bytes(content)
    (tmp_path / "list.yml").write_text(f"{HEAD}  - hub: a/b\n    {key}\n")
    with pytest.raises(RefusedError, match=rf"list.yml:2:5: checkpoints\[0\]: .*{problem}"):
        list_file.load(tmp_path / "list.yml", SOURCES)


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
    checkpoints = load(HEAD + "  - c/d\n  - {hub: z/z, title: B}\n  - a/b\n")
    assert [checkpoint.slug for checkpoint in checkpoints] == ["a-b", "b", "c-d"]


def test_a_folder_is_relative_to_the_file() -> None:
    Path("lists").mkdir()
    Path("lists/mine.yml").write_text("checkpoints: [{folder: ../models/x}]", encoding="utf-8")
    [checkpoint] = list_file.load(Path("lists/mine.yml"), SOURCES)
    assert (checkpoint.id, Path(checkpoint.place)) == ("../models/x", Path("lists/../models/x"))


# A folder, and what its checkpoint is called: the last part, or all from the one before a pattern.
ABSOLUTE = {
    "/somewhere/models/x": "x",
    "~/models/x": "x",
    "/somewhere/models/x/": "x",
    "/somewhere/runs/gpt/checkpoint-*": "gpt/checkpoint-*",
    "/somewhere/runs/*/step*": "runs/*/step*",
    "/step*": "step*",
}


def test_an_absolute_folder_is_named_by_its_end() -> None:
    for folder, name in ABSOLUTE.items():
        [checkpoint] = load(f"{HEAD}  - folder: {folder}\n")
        assert (checkpoint.id, checkpoint.title) == (name, name)
        assert Path(checkpoint.place) == Path(folder).expanduser()


def test_a_byte_order_mark_is_ignored() -> None:
    assert len(load(b"\xef\xbb\xbfcheckpoints: [a/b]\n")) == 1


def test_a_long_title_is_truncated_with_an_ellipsis() -> None:
    title = load(f"{HEAD}  - hub: a/b\n    title: {'long ' * 2_000}\n")[0].title
    assert len(title) == list_file.LONGEST_TITLE
    assert title.endswith("…")


@given(st.text())
def test_a_slug_is_lower_case_words_joined_by_hyphens(text: str) -> None:
    words = slugify(text).split("-")
    assert all(word.isalnum() and word.isascii() and word == word.lower() for word in words if word)
    assert words == [""] or words[0]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_list_or_are_refused(data: bytes) -> None:
    assert all(problem.startswith("checkpoints.yml:") for problem in problems(data))


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=9)
ROWS = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
NAMES = st.sampled_from(KEYS.split(", ")) | st.text(max_size=5)


@given(st.lists(st.dictionaries(NAMES, ROWS, max_size=4) | ROWS, max_size=4))
def test_any_rows_are_checkpoints_or_are_refused(rows: list[object]) -> None:
    found = problems(json.dumps({"checkpoints": rows}))
    assert all(problem.startswith("checkpoints.yml:") for problem in found)


def test_an_emoji_as_json_escapes_it_is_one_character() -> None:
    (row,) = load('{"checkpoints": [{"hub": "a/b", "title": "Model \\ud83d\\ude00"}]}')
    assert row.title == "Model \U0001f600"
