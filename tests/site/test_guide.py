"""The guide: its reference is that of the program, its examples hold, and its links lead
somewhere.
"""

import math
import os
import re
import subprocess
import sys
import tomllib
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from bs4 import BeautifulSoup
from ruamel.yaml import YAML
from typer.testing import CliRunner

from generator import PACKAGE, ROOT, errors
from generator.analyses import decay_with_distance
from generator.checkpoints import list_file, list_row
from generator.checkpoints.hub import client, repository, revisions
from generator.checkpoints.sources import hub
from generator.cli import command_records
from generator.cli.application import GROUP_OF
from generator.cli.commands import app
from generator.contracts import Atlas, Command, Parameter
from generator.numerics import linear_probes
from generator.pipeline import jobs, local_pool
from generator.reading import plan, taken
from generator.site.data import schema_words
from generator.site.history import changes
from generator.site.html import long_tables, mkdocs_build
from generator.site.pages import guide
from generator.site.render import environment_of
from tests.hub_server import client_of
from tests.site.test_comparing import rendered
from tests.support import flowing
from tests.test_workflows import PINNED

COMMANDS = command_records.commands(app)
KEYS = guide.row_keys(plan.all_sources())
EXAMPLES = [(key.name, str(example)) for key in KEYS for example in key.examples]
GUIDE = ROOT / "site_src/guide"
PAGES = {page.path: rendered(page) for page in guide.pages(Atlas((), (), (), commands=COMMANDS))}
CONFIGURATION = PAGES["guide/configuration.md"]
WRITTEN = {path.name: path.read_text(encoding="utf-8") for path in sorted(GUIDE.glob("*.md"))}


def tables(text: str) -> list[list[list[str]]]:
    """The cells of every HTML table in ``text``, row by row."""
    html = BeautifulSoup(text, "html.parser")
    rows = [table.select("tbody tr") for table in html.select("table")]
    return [[[cell.get_text() for cell in row.select("th, td")] for row in each] for each in rows]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_option_of_a_command_is_that_of_its_help_with_its_default(command: Command) -> None:
    wide = {"COLUMNS": "400", "NO_COLOR": "1", "TERMINAL_WIDTH": "400"}
    done = CliRunner().invoke(app, [*command.name.split(), "--help"], env=wide)
    listed = re.findall(r"^│[* ]+(--[a-z-]+|[a-z]+)(?:\.{3})? ", done.output, re.MULTILINE)
    names = [parameter.name.lower() for parameter in command.parameters]
    assert sorted(listed) == sorted([*names, "--help"])
    defaults = [parameter.default for parameter in command.parameters if parameter.default]
    assert [default for default in defaults if default not in done.output] == []
    assert done.output.count("[default:") == len(defaults)
    required = [parameter for parameter in command.parameters if parameter.is_required]
    assert done.output.count("[required]") == len(required)


def test_the_page_has_every_command_that_help_lists() -> None:
    done = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    listed = re.findall(r"^│ ([a-z]+) ", done.output, re.MULTILINE)
    text = PAGES["guide/command-line.md"]
    titles = re.findall(r"^## <code>(\w+)(?: \w+)?</code>$", text, re.MULTILINE)
    assert list(dict.fromkeys(titles)) == listed  # A group once.
    rows = tables(text)
    assert [[row[0] for row in table] for table in rows] == [
        [parameter.name for parameter in command.parameters] for command in COMMANDS
    ]


def make(
    name: Annotated[str, typer.Argument(help="Who.")],
    count: Annotated[int, typer.Option(help="How many.", min=1, max=9)] = 3,
    into: Annotated[Path | None, typer.Option("--into", "-i", help="Where.")] = None,
    loud: Annotated[bool, typer.Option("--loud", help="With noise.")] = False,
) -> None:
    """Make it.

    Exit codes: 0 made; 3 not.
    """


def test_a_signature_becomes_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GROUP_OF, "make", "for a test")
    other = typer.Typer()
    other.command()(make)
    other.command(hidden=True)(test_the_page_has_every_command_that_help_lists)
    [command] = command_records.commands(other)
    assert (command.name, command.summary, command.endings) == (
        "make", "Make it.", "0 made; 3 not.",
    )  # fmt: skip
    assert command.parameters == (
        Parameter("NAME", "text", "", True, "Who."),
        Parameter("--count", "whole number from 1 to 9", "3", False, "How many."),
        Parameter("--into -i", "path", "", False, "Where."),
        Parameter("--loud", "", "", False, "With noise."),
    )


@pytest.mark.parametrize(("key", "example"), EXAMPLES)
def test_each_example_of_a_key_is_a_list_that_loads(key: str, example: str, tmp_path: Path) -> None:
    (tmp_path / "references").symlink_to(ROOT / "references")
    (tmp_path / "checkpoints.yml").write_text(example, encoding="utf-8")
    [checkpoint] = list_file.load(tmp_path / "checkpoints.yml", plan.all_sources())
    assert key in example
    assert checkpoint.source in [source.key for source in plan.all_sources()]
    assert f"```yaml\n{example}```" in CONFIGURATION


def test_every_key_of_a_row_has_a_type_a_meaning_and_an_example() -> None:
    model = list_row.row_model(plan.all_sources())
    assert {key.name for key in KEYS} == set(model.model_fields)
    assert all(key.meaning and key.kind and key.examples for key in KEYS)
    assert schema_words.ANYTHING not in {key.kind for key in KEYS}
    head = guide.head_keys(plan.all_sources())
    assert {key.name for key in head} == set(list_row.ListKeys.model_fields)
    assert all(key.meaning and key.kind and key.examples for key in head)
    of_head, of_rows, *_ = tables(CONFIGURATION)
    assert [row[0] for row in of_head] == [key.name for key in head]
    assert [row[0] for row in of_rows] == [key.name for key in KEYS]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "maxLength": 1200}, "text, at most 1,200 characters"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "whole number or null"),
        ({"type": "array", "items": {"$ref": "#/$defs/Layer"}}, "list of Layers"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object: number by name"),
        ({"enum": ["ok", "failed"], "type": "string"}, "“ok” or “failed”"),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 24},
            "list of whole numbers, 1 to 24 of them",
        ),
        ({}, "any value"),
    ],
)
def test_a_schema_in_words(schema: dict[str, Any], words: str) -> None:
    assert schema_words.kind(schema) == words


def test_what_stands_between_backquotes_is_code_and_the_rest_is_literal() -> None:
    assert unescape(schema_words.prose("a `b_c` <d>")) == "a <code>b_c</code> <d>"
    assert "<d>" not in schema_words.prose("a `b_c` <d>")
    assert schema_words.prose(" `x` ") == " <code>x</code> "


def test_every_list_on_a_page_of_the_guide_loads(tmp_path: Path) -> None:
    found = re.compile(r"```yaml\n((?:[a-z]+:[^`]*)?checkpoints:.*?)```", re.DOTALL)
    lists = [block for text in (*WRITTEN.values(), CONFIGURATION) for block in found.findall(text)]
    assert len(lists) > len(KEYS)
    (tmp_path / "references").symlink_to(ROOT / "references")
    for block in lists:
        (tmp_path / "checkpoints.yml").write_text(block, encoding="utf-8")
        assert list_file.load(tmp_path / "checkpoints.yml", plan.all_sources())


def test_the_settings_of_the_example_are_merged_by_mkdocs(tmp_path: Path) -> None:
    [settings] = re.findall(r"```yaml\n# position-atlas.yml\n(.*?)```", CONFIGURATION, re.DOTALL)
    (tmp_path / "docs/assets").mkdir(parents=True)
    (tmp_path / "docs/index.md").write_text("# Page", encoding="utf-8")
    own = tmp_path / "position-atlas.yml"
    own.write_text(f"{settings}nav:\n  - index.md\n", encoding="utf-8")
    mkdocs_build.build((own, ROOT / "mkdocs.yml"), tmp_path / "docs", tmp_path / "site", None)
    page = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "Encodings of our models" in page
    assert page.index("assets/atlas.css") < page.index("assets/mine.css")


def environment_variables() -> list[str]:
    return [name for row in tables(CONFIGURATION)[-1] for name in row[0].split(", ")]


def test_every_environment_variable_is_read() -> None:
    """By our code, or by the library that asks the Hub for us: a fresh process shows it."""
    ours = "".join(
        path.read_text(encoding="utf-8") for path in [*PACKAGE.rglob("*.py"), ROOT / "mkdocs.yml"]
    )
    of_library = {"HF_HOME": "HF_HUB_CACHE"}
    of_library |= {name: name for name in ("HF_HUB_CACHE", "HF_ASSETS_CACHE")}
    names = environment_variables()
    assert [name for name in names if name not in ours and name not in of_library] == []
    inherited = {key: value for key, value in os.environ.items() if key not in of_library}
    for name, constant in of_library.items():
        assert name in names
        code = f"from huggingface_hub import constants; print(constants.{constant})"
        environment = inherited | {name: "/somewhere/else"}
        command = [sys.executable, "-c", code]
        told = subprocess.check_output(command, env=environment, text=True)
        assert told.startswith("/somewhere/else")
    assert {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE"} <= set(names)


def test_every_command_on_a_page_exists_with_its_options() -> None:
    known = {each.name: {parameter.name for parameter in each.parameters} for each in COMMANDS}
    blocks = re.findall(r"```(?:sh|yaml)\n(.*?)```", "\n".join(WRITTEN.values()), re.DOTALL)
    found = re.findall(r"position-atlas ([a-z]+)(.*)", "\n".join(blocks))
    assert len(found) > 8
    for command, rest in found:
        assert command in known
        assert set(re.findall(r"--[a-z-]+", rest)) <= known[command]


def test_the_inputs_of_the_action_on_the_page_exist() -> None:
    texts = re.findall(r"```yaml\n(- uses: .*?)```", WRITTEN["publishing.md"], re.DOTALL)
    action = YAML(typ="safe").load(ROOT / "action.yml")
    for text in texts:
        [step] = YAML(typ="safe").load(text)
        assert set(step["with"]) <= set(action["inputs"])
    assert len(texts) == 3
    assert not PINNED.match("uses: OWNER/position-atlas@COMMIT")  # A reader has to fill it in.


LIMITS = local_pool.Limits()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = PROJECT["requires-python"].removeprefix(">=")
# Numbers in sentences of the guide, each made of the constant that holds it.
NUMBERS = [
    ("faq.md", f"Each checkpoint may take {LIMITS}."),
    ("faq.md", f"runs (`use`) may take {jobs.TIMES_OF_A_MODEL} times as much."),
    ("faq.md", f"the first {long_tables.MOST_ROWS} rows of every table"),
    ("faq.md", f"for {client.REACH_SECONDS:g} seconds at most each"),
    ("faq.md", f"Hub takes over {revisions.LISTING_SECONDS:g} seconds to list an entry's files"),
    ("faq.md", f"begin without it after {hub.BEFORE_A_RUN:g} seconds"),
    ("faq.md", f"may have up to {repository.MOST_FILE_BYTES / 2**30:g} GiB"),
    ("faq.md", f"the first {decay_with_distance.POSITIONS} positions only, the probes"),
    ("faq.md", f" positions only, the probes the first {linear_probes.MOST_POSITIONS}"),
    ("publishing.md", f"difference of 10<sup>−{round(-math.log10(changes.TOLERANCE))}</sup>"),
    ("quick-start.md", f"Python {OLDEST} or later"),
    ("quick-start.md", f"**Bounds**: {errors.BOUNDS}."),
]

COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def test_the_quick_start_counts_the_programs_whose_reading_is_shown() -> None:
    assert f"what each of {COUNTS[len(taken.all_readers())]} programs" in WRITTEN["quick-start.md"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_breaks_lines_where_the_terminal_ends_alone(command: Command) -> None:
    narrow = {"COLUMNS": "80", "NO_COLOR": "1", "TERMINAL_WIDTH": "80"}
    done = CliRunner().invoke(app, [*command.name.split(), "--help"], env=narrow)
    [about, *_] = done.output.split("╭")
    lines = [line.strip() for line in about.splitlines()]
    pairs = [(line, after.split()[0]) for line, after in pairwise(lines) if line and after]
    assert [line for line, word in pairs if len(f"{line} {word}") < 79] == []


@pytest.mark.parametrize(("page", "sentence"), NUMBERS)
def test_a_number_on_a_page_is_that_of_the_program(page: str, sentence: str) -> None:
    assert sentence in flowing(WRITTEN[page])


def test_the_quick_start_names_the_files_that_init_writes(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["init", str(tmp_path / "atlas")]).exit_code == 0
    _, _, rest = WRITTEN["quick-start.md"].partition("| File | What it is |\n")
    firsts = "".join(line.split("|")[1] for line in rest.partition("\n\n")[0].splitlines())
    names = {name.split("/")[0] for name in re.findall(r"`([^`]+)`", firsts)}
    assert names == {path.name for path in (tmp_path / "atlas").iterdir()}


def test_the_output_of_compare_on_the_page_is_what_it_prints(
    tmp_path: Path,
) -> None:
    _, _, rest = unescape(PAGES["guide/command-line.md"]).partition("$ position-atlas compare ")
    names, *lines = rest.partition("</code>")[0].splitlines()
    with client_of(tmp_path):
        found = CliRunner().invoke(app, ["compare", *names.split()])
    assert found.exit_code == 1
    printed = " ".join(found.stdout.split())
    assert printed.startswith(" ".join(" ".join(lines).split()))


def test_a_template_of_the_guide_shows_no_key_as_markup() -> None:
    template = environment_of(ROOT / "templates").get_template("pages/guide_command_line.md.jinja")
    odd = Command("odd", "<i>Odd</i>", "<b>*Bold*</b>", "", (), ("odd *.json <b>",))
    text = template.render(commands=(odd,), link=str)
    assert "<b>" not in text
    assert "*Bold*" not in text
