"""families.yml beside a list, and what is assumed of a family that nobody describes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.checkpoints.files.config_alone import ConfigAlone
from generator.checkpoints.model import origins
from generator.checkpoints.model.layer_map import layer_map
from generator.checkpoints.model.own_families import own_families
from generator.checkpoints.model.pair_order import stated_orders
from generator.checkpoints.model.stacks import check_own_families
from generator.contracts import Files, own
from generator.encodings import Rotation
from generator.errors import RefusedError
from generator.reading import lint
from generator.reading.evidence import look_closely
from generator.reading.find import Found
from generator.reading.questions import unresolved
from generator.text import visible
from tests import inline
from tests.site.test_escape import NASTY
from tests.support import save_folder
from tests.test_outputs import OBEYED

KINDS = ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]
NEBULA: dict[str, Any] = {
    "model_type": "nebula", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 8,
    "vocab_size": 100, "max_position_embeddings": 1024, "rope_theta": 5e5,
}  # fmt: skip
WINDOWED = {**NEBULA, "layer_types": KINDS * 2, "sliding_window": 256}
TAUGHT = """nebula:
  source: modeling_nebula.py at <b>4f2c9a1</b>
  settings:
    rope_theta: 10000
    partial_rotary_factor: 0.5
    rope_interleave: true
    layer_types: [sliding_attention, full_attention]
    sliding_window: 64
    no_rope_layers: [1, 1, 1, 0]
"""


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    own.use(None)


def taught(folder: Path, text: str = TAUGHT) -> None:
    (folder / own.FAMILIES).write_text(text, encoding="utf-8")
    own.use(folder)


def read(settings: dict[str, Any]) -> tuple[Files, Found]:
    files = ConfigAlone(settings, "own")
    return files, look_closely(files)


def before(files: Files, found: Found) -> list[int | None]:
    return [one.before for one in layer_map(files, found.all, is_complete=found.is_complete)]


def test_a_family_of_the_file_is_read_as_its_settings_say(tmp_path: Path) -> None:
    taught(tmp_path)
    files, found = read(NEBULA)
    [one] = found.measured
    assert isinstance(one.form, Rotation)
    # What config.json says wins: its base.
    assert (one.form.base, one.form.rotary_dim, one.is_guess) == (5e5, 8, False)
    assert one.layers == (0, 1, 2, 4, 5, 6)
    assert before(files, found) == [63, None] * 4
    assert [*stated_orders(files.config)] == [("family", "nebula", "adjacent")]
    assert not [text for text in unresolved(files, found) if "nebula" in text]
    assert one.notes[-1] == (
        "partial_rotary_factor, rope_interleave, layer_types, sliding_window and no_rope_layers are"
        " as families.yml of this atlas says for the family “nebula”, after modeling_nebula.py at"
        " <b>4f2c9a1</b>."
    )


def test_its_parameters_say_that_they_follow_from_the_file(tmp_path: Path) -> None:
    taught(tmp_path)
    _, found = read({name: value for name, value in NEBULA.items() if name != "rope_theta"})
    words = origins.in_words(found.measured[0].record)
    says = "as families.yml of this atlas says"
    assert words["Base"] == f"not in config.json, but {says}"
    assert words["Layers"] == f"num_hidden_layers in config.json, and {says}"
    assert says not in words["Components of a head"]


def test_an_edit_of_the_file_is_seen(tmp_path: Path) -> None:
    taught(tmp_path)
    assert read(NEBULA)[1].measured[0].record.parameters["rotary_dim"] == 8
    taught(tmp_path, TAUGHT.replace("0.5", "1.0"))
    assert read(NEBULA)[1].measured[0].record.parameters["rotary_dim"] == 16


BOMB = "a0: &a0 {x: 1}" + "".join(
    f", a{i}: &a{i} {{{', '.join(f'k{j}: *a{i - 1}' for j in range(9))}}}" for i in range(1, 10)
)
WRONG = {
    "a: [": r"families.yml:1: found .*; expected families by model type",
    "- a": "families.yml:1: found no mapping; expected families",
    "a: 3": "families.yml:1: a: found no mapping; expected source and settings",
    "a: {settings: {}}": "families.yml:1: a: found no source; expected where its code says so",
    "a: {source: x, sets: 1}": "families.yml:1: a: found 'sets'; expected source or settings",
    "a:\n  source: x\n  settings:\n    rope_thet: 1": (
        "families.yml:4: a: rope_thet: found an unknown setting; expected rope_theta perhaps"
    ),
    "a: {source: x, settings: {rope_theta: 0}}": "rope_theta: found 0; expected a number above 0",
    "a: {source: x, settings: {rope_theta: .nan}}": "rope_theta: found nan; expected a number",
    "a: {source: x, settings: {layer_types: [wide]}}": r"layer_types: found \['wide'\]; expected",
    "a: {source: x, settings: {no_rope_layers: [[1]]}}": "no_rope_layers: found .*expected a list",
    "a: {source: x}\na: {source: y}": "families.yml:2: found .*duplicate key",
    "<<: {a: {source: 1}}": "families.yml:1: a: found no source",
    "a: [b": "families.yml:1: found expected ',' or ']'",
    "a: '": "families.yml:1: found unexpected end of stream",
    # Some hundred bytes that would be a milliard of values, or never end.
    f"a: {{source: x, settings: {{rope_parameters: {{{BOMB}}}}}}}": r"found an alias \(\*a0\); exp",
    "a: &a {source: x, settings: *a}": r"families.yml:1: found an alias \(\*a\); expected values",
    "a: !!python/object/apply:os.system [x]": r"found a tag \(tag:yaml.org,2002:p.*; expected",
    "%TAG ! tag:yaml.org,2002:python/\n---\na: !name:os.system": "families.yml:3: found a tag",
    f"a: {'[' * 5000}": "families.yml:1: found nested more than 8 deep; expected values that are",
    "".join(f"f{i}: {{source: x}}\n" for i in range(10**4)): "found more than 65,536 bytes; exp",
    "a: {source: x, settings: {rope_theta: 2001-01-01}}": "rope_theta: found 2001-01-01; expected",
    '"\\n::warning::\\u202e": 3': "found no mapping; expected source and settings",
    f"a: {5000 * '1'}": "found a whole number of more than 4300 digits; expected families",
    "llama: {source: x}": "families.yml: found 'llama', whose code is known; expected families",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_a_sentence_with_file_and_line(text: str, tmp_path: Path) -> None:
    taught(tmp_path, text)
    with pytest.raises(RefusedError, match=WRONG[text]) as error:
        check_own_families()
    assert len(error.value.problems) == 1


def test_text_of_a_file_that_was_downloaded_is_shown_and_obeyed_by_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of somebody else, where ``inspect`` reads no list, but this file."""
    texts = " ".join(text for text in NASTY if len(text) < 1000)
    source = json.dumps(f"{texts} \n::warning::x \x1b[2J")
    taught(tmp_path, f"nebula: {{source: {source}, settings: {{partial_rotary_factor: 0.5}}}}")
    save_folder(tmp_path / "own", NEBULA)
    monkeypatch.chdir(tmp_path)
    for command in (("inspect",), ("inspect", "--json"), ("lint", "--level", "fact")):
        ended = inline.run(command[0], "own", *command[1:], home=tmp_path / "hub")
        lines = (ended.stdout + ended.stderr).split("\n")
        assert ended.returncode == 0
        assert all(line.isprintable() for line in lines)
        assert [line for line in lines if OBEYED.search(line)] == []
        assert (visible("\x1b[2J") in ended.stdout) == (command == ("inspect",))


def test_an_empty_file_teaches_nothing(tmp_path: Path) -> None:
    taught(tmp_path, "# Nothing yet.\n")
    check_own_families()
    assert own_families() == {}


def test_lists_by_layer_of_an_unknown_family_are_taken_and_said_to_be_assumed() -> None:
    files, found = read({**WINDOWED, "no_rope_layers": [1, 1, 1, 0] * 2})
    [one] = found.measured
    assert one.is_guess
    assert before(files, found) == [255, 255, 255, None] * 2
    assert one.layers == (0, 1, 2, 4, 5, 6)
    assert one.notes[-1] == (
        "The family is unknown, so it is assumed that layer_types, sliding_window and"
        " no_rope_layers in config.json mean what transformers makes of them: layers of sliding"
        " attention see the given number of positions, the query's included, and layers with a 1"
        " rotate and those with a 0 do not."
    )
    assert [one.rule for one in lint.findings(files, found)] == ["not-understood"]


def test_of_an_unknown_family_without_a_vocabulary_nothing_of_layers_is_assumed() -> None:
    files, found = read({key: value for key, value in WINDOWED.items() if key != "vocab_size"})
    assert before(files, found) == []
    said = " ".join(unresolved(files, found))
    assert "it is assumed" not in " ".join(
        [said, *(note for one in found.measured for note in one.notes)]
    )
    assert "sliding_window" in said


@pytest.mark.parametrize(
    "odd",
    [
        {"layer_types": KINDS}, {"layer_types": [*KINDS, *KINDS[:3], "ring"]},
        {"sliding_window": None}, {"no_rope_layers": [1, 0]}, {"no_rope_layers": [3] * 8},
    ],
)  # fmt: skip
def test_of_another_form_they_are_not_understood(odd: dict[str, Any]) -> None:
    files, found = read({**WINDOWED, **odd})
    assert found.measured == []
    assert before(files, found) in ([], [255, 255, 255, None] * 2)
    assert "were not understood" in " ".join(unresolved(files, found)).replace(
        "was not", "were not"
    )


def test_inspect_prints_a_block_to_begin_with_which_check_then_takes(tmp_path: Path) -> None:
    name = 'neb<u>la"\x1b[31m'
    folder = save_folder(tmp_path / "model", {**NEBULA, "model_type": name}, {})
    done = inline.run("inspect", str(folder), home=tmp_path / "hub")
    said = done.stdout[done.stdout.index("A family for families.yml") :]
    lines = said.split("\n\n")[0].splitlines()[1:]
    assert json.loads(lines[0].strip().removesuffix(":")) == name
    assert "    rope_theta" not in said  # config.json has it.
    text = "\n".join(line.removeprefix("  ") for line in lines).replace('""', "its code")
    taught(tmp_path, text)
    check_own_families()
    assert own_families()[name].settings["no_rope_layers"] == [1]
