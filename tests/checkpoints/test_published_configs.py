"""The corpus of published configs in generator/models is whole and says what it may say.

A file ``<org>--<name>.json`` holds one model of the Hub:

- ``id``: its name on the Hub, with ``--`` for the slash in the file's name.
- ``source``: where the values stand in public: a repository that repeats the file, a model card, a
  paper.
- ``from_knowledge`` (optional): true where they were entered from knowledge of the published file,
  without a copy of it at hand.
- ``maker`` (optional): who made it.
- ``published`` (optional): the ``month`` of its publication, as YYYY-MM, and ``by`` what that is
  known: a paper of this very model ("arXiv 2304.01373"), "its name" or "its announcement".
- ``reference`` (optional): the folder of ``references`` that repeats its settings.
- ``config``: config.json in the spelling of the published file, cut to architecture, sizes,
  position, kinds of attention and layers. A setting that the
  published file leaves out, or that no source gives, is not there.
- ``expected`` (optional): what the authors' code or paper does in every layer of the decoder, or of
  the encoder where there is no decoder.
  Layers count from 0; "all" stands for every layer.
  - ``layers``: their number. Blocks without attention, as in Nemotron-H, count.
  - ``rotation``: one record for each rotation: ``layers``, ``base``, ``rotary_dim`` (components of
    a head that turn), ``scaling`` ("default" for none) and perhaps
    ``factor`` of the scaling, and ``effective_base`` where the authors' code changes the base. A
    layer in none of them has no rotation; where no source says which turn, there is no ``rotation``
    at all.
  - ``kinds``: layers by kind. "full": every earlier key (in encoders every key); "sliding": a
    window; "chunked": the keys of the query's own chunk; "sparse": a
    few of all earlier keys, chosen or by a fixed pattern; "compressed": a window and compressed
    earlier keys; "recurrent": a state in place of attention, as in Mamba or linear attention;
    "convolution": a short one in place of attention; "feed-forward": none of these. A layer is of
    one kind, or is recurrent and of a kind of attention at once, in parallel.
  - ``before``: for a kind with a limit, the greatest number of keys that a query of a causal model
    sees, itself among them.
  - ``bias``: the kind of bias that attention adds for position, or its relative encoding.
  - ``table``: a table of position vectors: ``rows`` of the stored table, and ``first``, the row of
    the first position.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

CONFIGS = Path(__file__).parents[2] / "generator" / "models"
KINDS = {
    "full",
    "sliding",
    "chunked",
    "sparse",
    "compressed",
    "recurrent",
    "convolution",
    "feed-forward",
}
SCALINGS = {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "ntk"}
BIASES = {"alibi", "t5", "transformer-xl", "deberta", "shaw", "wavlm", "mpnet"}
LAYERS = (
    "num_decoder_layers",
    "decoder_layers",
    "num_hidden_layers",
    "num_layers",
    "n_layers",
    "n_layer",
    "num_blocks",
)  # The decoder's own first.
FILES = sorted(CONFIGS.glob("*.json"))


def read(file: Path) -> dict[str, Any]:
    """What ``file`` holds; NaN and infinity are no JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{file.name}: {constant}")

    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"), parse_constant=refuse)
    return found


# What else says when a model came: a dated line of its makers, or of the documentation.
DATED_TEXT = r"its announcement|.*(news|update note|launch table|card|change ?log|blog|docs).*"
RECORDS = {file.stem: read(file) for file in FILES}
EXPECTED = {name: record["expected"] for name, record in RECORDS.items() if "expected" in record}


def chosen(layers: Any, count: int) -> list[int]:
    """The layers that ``layers`` names, out of ``count``."""
    return list(range(count)) if layers == "all" else layers


def stated(config: dict[str, Any]) -> int | None:
    """The number of layers of the decoder that ``config`` states, under any name, at its top or for
    the language model nested in it.
    """
    nested = next(
        (config[key] for key in ("text_config", "llm_config", "language_config") if key in config),
        config,
    )
    return next((nested[key] for key in LAYERS if nested.get(key)), None)


def test_the_corpus_has_not_shrunk() -> None:
    assert len(FILES) >= 160


@pytest.mark.parametrize("name", RECORDS)
def test_a_file_is_named_after_its_model(name: str) -> None:
    assert RECORDS[name]["id"].replace("/", "--") == name


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_a_source_and_settings(name: str) -> None:
    record = RECORDS[name]
    optional = {
        *("maker", "published", "from_knowledge", "reference", "expected", "parameters"),
    }
    assert {"id", "source", "config"} <= set(record) <= {"id", "source", "config"} | optional
    assert record["source"].strip()
    assert record["config"]


@pytest.mark.parametrize(
    "name", [name for name, record in RECORDS.items() if "published" in record]
)
def test_a_month_is_that_of_its_paper_its_name_or_a_dated_text(name: str) -> None:
    month, by = RECORDS[name]["published"]["month"], RECORDS[name]["published"]["by"]
    year, number = re.fullmatch(r"(20[12]\d)-(0[1-9]|1[0-2])", month).groups()  # type: ignore[union-attr]
    if by == "its name":
        assert {year[2:] + number, f"{number}-{year}"} & {
            match[1] for match in re.finditer(r"-(?=(\d\d-20\d\d|\d{4})(?!\d))", name)
        }
    elif not re.fullmatch(DATED_TEXT, by):
        assert re.fullmatch(rf"arXiv {year[2:]}{number}\.\d{{4,5}}", by)


@pytest.mark.parametrize(
    "name", [name for name, record in RECORDS.items() if "parameters" in record]
)
def test_parameters_are_from_a_paper_and_fewer_are_active(name: str) -> None:
    given = RECORDS[name]["parameters"]
    total, active = (re.fullmatch(r"([\d.]+)B", given[part]) for part in ("total", "active"))
    assert total is not None
    assert active is not None
    assert float(active[1]) < float(total[1])
    assert re.fullmatch(r"arXiv \d{4}\.\d{5}", given["by"])


@pytest.mark.parametrize("name", RECORDS)
def test_what_is_not_from_knowledge_says_where_a_copy_is(name: str) -> None:
    record = RECORDS[name]
    assert record.get("from_knowledge", True)
    if "from_knowledge" not in record:
        assert re.search(
            r"repeated|\w/\w|model card|as published|model_type as in", record["source"]
        )


@pytest.mark.parametrize("name", EXPECTED)
def test_only_named_facts_are_expected(name: str) -> None:
    assert (
        {"layers", "kinds"}
        <= set(EXPECTED[name])
        <= {"layers", "rotation", "kinds", "before", "bias", "table"}
    )
    assert EXPECTED[name]["layers"] > 0
    assert EXPECTED[name].get("bias", "t5") in BIASES
    assert set(EXPECTED[name].get("table", {"rows", "first"})) == {"rows", "first"}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_layer_has_a_kind(name: str) -> None:
    count, kinds = EXPECTED[name]["layers"], EXPECTED[name]["kinds"]
    assert set(kinds) <= KINDS
    assert set(EXPECTED[name].get("before", {})) <= set(kinds) & {"sliding", "chunked"}
    other = [
        layer
        for kind, layers in kinds.items()
        if kind != "recurrent"
        for layer in chosen(layers, count)
    ]
    assert len(other) == len(set(other))
    assert {*other, *chosen(kinds.get("recurrent", []), count)} == set(range(count))


@pytest.mark.parametrize("name", EXPECTED)
def test_only_layers_with_attention_turn_and_each_in_one_way(name: str) -> None:
    count, kinds = EXPECTED[name]["layers"], EXPECTED[name]["kinds"]
    attention = {
        layer
        for kind in kinds.keys() - {"recurrent", "convolution", "feed-forward"}
        for layer in chosen(kinds[kind], count)
    }
    turned = [
        layer
        for rotation in EXPECTED[name].get("rotation", [])
        for layer in chosen(rotation["layers"], count)
    ]
    assert len(turned) == len(set(turned))
    assert set(turned) <= attention


@pytest.mark.parametrize("name", EXPECTED)
def test_a_rotation_turns_pairs(name: str) -> None:
    for rotation in EXPECTED[name].get("rotation", []):
        assert set(rotation) - {"factor", "effective_base"} == {
            "layers",
            "base",
            "rotary_dim",
            "scaling",
        }
        assert rotation["scaling"] in SCALINGS
        assert rotation["rotary_dim"] % 2 == 0
        assert rotation["base"] > 1


@pytest.mark.parametrize("name", [name for name in EXPECTED if stated(RECORDS[name]["config"])])
def test_as_many_layers_are_expected_as_the_config_says(name: str) -> None:
    assert EXPECTED[name]["layers"] == stated(RECORDS[name]["config"])
