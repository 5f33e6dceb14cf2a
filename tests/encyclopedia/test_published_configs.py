"""The corpus of published configs in generator/encyclopedia/models is whole, and says what it may.

A file ``<org>--<name>.json`` holds one model of the Hub:

- ``id``: its name on the Hub, with ``--`` for the slash in the file's name.
- ``source``: where the values stand in public: a repository that repeats the file, a model card, a
  paper.
- ``from_knowledge`` (optional): true where they were entered from knowledge of the published file,
  without a copy of it at hand.
- ``commit`` and ``read`` (optional): the commit of its repository on the Hub at which ``python -m
  generator models refresh`` has read config.json, and the date.
- ``maker`` (optional): who made it.
- ``published`` (optional): the ``month`` of its first weights, as YYYY-MM, and ``by`` what that is
  known: "its name" or a dated text; or else, where none was found, its paper ("arXiv 2304.01373"),
  whose month pages mark as that of a paper.
- ``reference`` (optional): the folder of ``references`` that repeats its settings.
- ``extends`` (optional): what its maker publishes to serve more tokens than it was trained on, one
  record a way: ``to``, the length; ``rope_parameters``, as published but with ``rope_type`` for the
  older ``type``, or ``way``, words in place of settings; ``by``, the document; ``source``, its
  address; ``date``, its month as YYYY-MM, or null.
- ``native`` (optional): the ``length`` that its maker states as trained or usable, with ``source``
  and ``date`` likewise.
- ``cache_type`` (optional): the ``name`` of the type of the cache, and the key of the published
  config that it is known ``by``.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generator.checkpoints.model.kv_cache import BYTES
from generator.encyclopedia.known_models import FOLDER

KINDS = {"full", "sliding", "chunked", "sparse", "compressed"}
WITHOUT_ATTENTION = {"recurrent", "convolution", "feed-forward"}
SCALINGS = {"default", "linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "ntk"}
BIASES = {"alibi", "t5", "transformer-xl", "deberta", "shaw", "wavlm", "mpnet"}
LAYERS = ("num_decoder_layers", "decoder_layers", "num_hidden_layers", "num_layers", "n_layers",
          "n_layer", "num_blocks")  # The decoder's own first.  # fmt: skip
OPTIONAL = {"maker", "published", "from_knowledge", "commit", "read", "reference", "expected",
            "parameters", "extends", "native", "cache_type"}  # fmt: skip
FACTS = {"rotation", "before", "bias", "table"}
OF_ROTATION = {"layers", "base", "rotary_dim", "scaling"}
FILES = sorted(FOLDER.glob("*.json"))


def read(file: Path) -> dict[str, Any]:
    """What ``file`` holds; NaN and infinity are no JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{file.name}: {constant}")

    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"), parse_constant=refuse)
    return found


# What else says when a model came: a dated line of its makers, or of the documentation.
DATED_TEXT = (
    r"its announcement|.*(news|update note|launch table|card|change ?log|blog|docs|data file"
    r"|recipe|commit [0-9a-f]{12} of).*"
)
RECORDS = {file.stem: read(file) for file in FILES}
EXPECTED = {name: record["expected"] for name, record in RECORDS.items() if "expected" in record}


def chosen(layers: Any, count: int) -> list[int]:
    """The layers that ``layers`` names, out of ``count``."""
    return list(range(count)) if layers == "all" else layers


def stated(config: dict[str, Any]) -> int | None:
    """The number of layers of the decoder that ``config`` states, under any name, at its top or for
    the language model nested in it, each time that they run.
    """
    nested = next(
        (config[key] for key in ("text_config", "llm_config", "language_config") if key in config),
        config,
    )
    n_layers = next((nested[key] for key in LAYERS if nested.get(key)), None)
    return n_layers and n_layers * nested.get("num_loops", 1)


def test_the_corpus_has_not_shrunk() -> None:
    assert len(FILES) >= 160


COUNTED_BY = (
    r"arXiv \d{4}\.\d{5}|(vLLM's recipe, )?[\w.-]+/[\w.-]+ at [0-9a-f]{12}, \S+\.(md|mdx|ts|yaml)"
)


def _problems(name: str, record: dict[str, Any]) -> Iterator[str]:
    if record["id"].replace("/", "--") != name:
        yield "its file has another name"
    if not {"id", "source", "config"} <= set(record) <= {"id", "source", "config"} | OPTIONAL:
        yield "keys"
    if not record["source"].strip() or not record["config"]:
        yield "no source or no settings"
    if not _has_copy(record):
        yield "no copy"
    if "published" in record and not _is_month(name, record["published"]):
        yield "month"
    if "parameters" in record:
        given = record["parameters"]
        total = float(given["total"].removesuffix("B"))
        active = float(given.get("active", "0B").removesuffix("B"))  # All of a dense model are.
        if active >= total or not re.fullmatch(COUNTED_BY, given["by"]):
            yield "parameters"
    if not all(_is_way(way) for way in record.get("extends", ())) or record.get("extends") == []:
        yield "extends"
    if "native" in record and not _is_stated(record["native"], "length", set()):
        yield "native"


def _has_copy(record: dict[str, Any]) -> bool:
    """Whether it has the commit that was read, or what is not from knowledge says where a copy
    is.
    """
    if "commit" in record:
        read = f"{record['commit']} {record['read']}"
        return re.fullmatch(r"[0-9a-f]{40} 20\d\d(-\d\d){2}", read) is not None
    copied = r"repeated|\w/\w|model card|as published|model_type as in"
    return bool(record.get("from_knowledge", re.search(copied, record["source"])))


def _is_way(record: dict[str, Any]) -> bool:
    """Whether a way to serve more tokens has settings or words, and its document."""
    how = {"rope_parameters", "way"} & set(record)
    typed = "rope_type" in record.get("rope_parameters", {"rope_type"})
    return len(how) == 1 and typed and _is_stated(record, "to", how | {"by"})


def _is_stated(record: dict[str, Any], length: str, others: set[str]) -> bool:
    """Whether a length has a source and a month, or null for the month."""
    return (
        set(record) == {length, "source", "date"} | others
        and isinstance(record[length], int)
        and record["source"].startswith("https://")
        and re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", record["date"] or "2000-01") is not None
    )


def _is_month(name: str, published: dict[str, str]) -> bool:
    """Whether a month is that of its paper, its name, or a dated text."""
    year, number = published["month"][:4], published["month"][5:]
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", published["month"]):
        return False
    if published["by"] == "its name":
        dates = {match[1] for match in re.finditer(r"-(?=(\d\d-20\d\d|\d{4})(?!\d))", name)}
        written = (year[2:] + number, number + year[2:], f"{number}-{year}")
        return not dates.isdisjoint(written)
    paper = rf"arXiv {year[2:]}{number}\.\d{{4,5}}"
    return re.fullmatch(f"{DATED_TEXT}|{paper}", published["by"]) is not None


def test_every_record_says_what_it_may() -> None:
    found = {name: list(_problems(name, record)) for name, record in RECORDS.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}


OF_NO_MAKER = {"vllm-project/recipes"}  # The words of others on a model.
STATES_NO_LENGTH = {  # Named for a date, by a document that states no length of this very model.
    "BAAI/bge-base-en-v1.5", "BAAI/bge-large-en-v1.5", "BAAI/bge-large-zh-v1.5",
    "BAAI/bge-reranker-base", "BAAI/bge-reranker-v2-m3", "BAAI/bge-small-en-v1.5",
    "Qwen/Qwen3-Next-80B-A3B-Thinking", "Qwen/Qwen3.6-27B",
    "Qwen/QwQ-32B", "cross-encoder/ms-marco-MiniLM-L6-v2",
    "internlm/internlm2_5-7b-chat", "nvidia/NVIDIA-Nemotron-3-Nano-4B-BF16",
    "sarvamai/sarvam-30b", "zai-org/GLM-4.5V",
}  # fmt: skip


def test_a_repository_of_a_maker_that_a_record_names_was_read_for_its_length() -> None:
    """Where it gave the length of one model, it may give that of each that names it."""
    sources = [one["native"]["source"] for one in RECORDS.values() if "native" in one]
    found = (re.match(r"https://github\.com/([^/]+/[^/]+)/", source) for source in sources)
    makers = {match[1] for match in found if match}
    assert makers.isdisjoint(OF_NO_MAKER)
    assert {"mistralai/platform-docs-public", "meta-llama/llama-models"} <= makers
    unread = set()
    for record in RECORDS.values():
        named = f"{record.get('published', {}).get('by', '')}; {record['source']}"
        whole = rf"(?<![\w/.-])({'|'.join(map(re.escape, makers))})(?![\w.-])"
        if "native" not in record and re.search(whole, named):
            unread.add(record["id"])
    assert unread == STATES_NO_LENGTH


def test_types_of_caches_are_by_the_keys_that_say_them() -> None:
    of_scheme = ("float8", "quantization_config.kv_cache_scheme")
    for record in RECORDS.values():
        name, by = (record.get("cache_type") or {"name": "float32", "by": "dtype"}).values()
        of_model = name in BYTES and by.rpartition(".")[2] in ("dtype", "torch_dtype")
        assert of_model or (name, by) == of_scheme, record["id"]


def _contradictions(name: str, expected: dict[str, Any]) -> Iterator[str]:
    count, kinds = expected["layers"], expected["kinds"]
    if not {"layers", "kinds"} <= set(expected) <= {"layers", "kinds"} | FACTS or count < 1:
        yield "facts"
    if expected.get("bias", "t5") not in BIASES:
        yield "bias"
    if set(expected.get("table", {"rows", "first"})) != {"rows", "first"}:
        yield "table"
    if not set(kinds) <= KINDS | WITHOUT_ATTENTION:
        yield "kinds"
    if not set(expected.get("before", {})) <= set(kinds) & {"sliding", "chunked"}:
        yield "a limit of no kind that has one"
    of_kind = {kind: chosen(layers, count) for kind, layers in kinds.items()}
    recurrent = of_kind.pop("recurrent", [])
    one_kind = sorted(layer for layers in of_kind.values() for layer in layers)
    if len(set(one_kind)) < len(one_kind) or {*one_kind, *recurrent} != set(range(count)):
        yield "not every layer has one kind"
    attention = {layer for kind in KINDS & of_kind.keys() for layer in of_kind[kind]}
    rotations = expected.get("rotation", [])
    turned = [layer for rotation in rotations for layer in chosen(rotation["layers"], count)]
    if len(turned) != len(set(turned)) or not set(turned) <= attention:
        yield "layers without attention turn, or some in two ways"
    if not all(_is_rotation(rotation) for rotation in rotations):
        yield "rotation"
    if stated(RECORDS[name]["config"]) not in (None, count):
        yield "another number of layers than the config has"


def _is_rotation(rotation: dict[str, Any]) -> bool:
    return (
        set(rotation) - {"factor", "effective_base"} == OF_ROTATION
        and rotation["scaling"] in SCALINGS
        and rotation["rotary_dim"] % 2 == 0
        and rotation["base"] > 1
    )


def test_what_is_expected_of_a_model_contradicts_neither_itself_nor_the_config() -> None:
    found = {name: list(_contradictions(name, expected)) for name, expected in EXPECTED.items()}
    assert {name: problems for name, problems in found.items() if problems} == {}
