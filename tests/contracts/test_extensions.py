"""Rules for all extensions, without naming any."""

import ast
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jinja2 import nodes

import generator
from generator import analyses, schemes
from generator.analyses import use
from generator.checkpoints import sources
from generator.checkpoints.files import formats
from generator.contracts import Analysis, FileFormat, PageKind, Rule, Scheme, Source, discovery
from generator.encyclopedia import pages as pages_of_models
from generator.reading import rules
from generator.site import pages
from generator.site.pictures.scheme_pictures import picture_of
from generator.site.render import environment_of

KINDS: tuple[tuple[ModuleType, type[Any]], ...] = (
    (schemes, Scheme), (analyses, Analysis), (sources, Source), (formats, FileFormat),
    (pages, PageKind), (pages_of_models, PageKind), (rules, Rule),
)  # fmt: skip
ALL = [
    (package if getattr(record, "subject", "encoding") == "encoding" else use, record)
    for package, kind in KINDS
    for record in discovery.load(package, kind)
]
# Keys of those of models are ordinary words, as atlas.json has them.
KEYS = {
    record.key: f"{package.__name__}.{record.key}" for package, record in ALL if package is not use
}
MACROS = {schemes: {"where", "explain"}, analyses: {"method"}, use: {"method", "arrays"}}
WITH_PROSE = [(package, record) for package, record in ALL if package in MACROS]
ROOT = Path(generator.__file__).parent
TEMPLATES = ROOT.parent / "templates"
MODULES = sorted(ROOT.rglob("*.py"))

# Words that are compared and equal the key of an extension by accident.
ORDINARY = {
    ("generator.checkpoints.files.formats.gguf.rope", "none"),  # a kind of scaling of llama.cpp
    ("generator.checkpoints.model.family_formats", "alibi"),  # a key of config.json
    ("generator.checkpoints.model.layers", "convolution"),  # a way of mixing positions
    ("generator.checkpoints.model.layers", "none"),  # a layer that mixes no positions
    ("generator.checkpoints.model.recurrent_state", "convolution"),  # as well
    ("generator.contracts.layer_map", "none"),  # a layer that mixes no positions
    ("generator.encyclopedia.refreshed", "expected"),  # a key of a file
    ("generator.reading.programs.mlx_lm", "none"),  # windows of a model's code
    ("generator.schemes.rotary", "alibi"),  # a value in config.json
    ("generator.schemes.rotary", "axial"),  # a value in config.json
    ("generator.schemes.rotary", "sinusoidal"),  # a value in config.json
    ("generator.site.pictures.layer_strips", "none"),  # a layer that mixes no positions
}

# Words that are spelt like a model family and do not mean it.
OF_FAMILIES = ("architectures", "engines_families", "families", "family_formats")
PROGRAMS = ROOT / "reading/programs"  # What others do depends on the family.
NO_FAMILIES = {
    ("generator.checkpoints.files.formats.torch_pickle", "whisper"): "what OpenAI's files are of",
    ("generator.analyses.seams", "bert"): "a premise of an explanation",
    ("generator.checkpoints.model.position_tables", "vit"): "a word in names of tensors",
    ("generator.analyses.seams", "distilbert"): "a premise of an explanation",
    ("generator.checkpoints.files.formats.gguf.settings", "clip"): "an architecture of llama.cpp",
    **{
        ("generator.checkpoints.files.other_configs", family): "what files of other programs are of"
        for family in (
            "clip",
            "clip_text_model",
            "gpt_neox",
            "llama",
            "llama4",
            "llama4_text",
            "llama4_vision_model",
            "ministral3",
            "mistral",
            "mistral3",
            "pixtral",
            "smollm3",
        )
    },
    ("generator.checkpoints.model.layers", "mamba"): "a kind of layer in config.json",
    ("generator.pipeline.versions", "git"): "a program",
}


def docstrings(tree: ast.AST) -> set[int]:
    """Identities of the constants that are docstrings."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    firsts = [node.body[0] for node in ast.walk(tree) if isinstance(node, kinds) and node.body]
    return {id(first.value) for first in firsts if isinstance(first, ast.Expr)}


@cache
def literals(module: Path) -> list[tuple[int, str]]:
    """String literals of ``module`` that are no docstrings, with their lines."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    ignored = docstrings(tree)
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [
        (node.lineno, node.value)
        for node in constants
        if isinstance(node.value, str) and id(node) not in ignored
    ]


def name_of(module: Path) -> str:
    """Name under which ``module`` is imported."""
    parts = ("generator", *module.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def compared(module: Path) -> Iterator[tuple[int, str]]:
    """String literals that ``module`` compares a value with, with their lines."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        operands: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        for operand in operands:
            for part in (operand, *getattr(operand, "elts", ())):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def is_in_the_module_of_its_key(package: ModuleType, record: Any) -> bool:
    module = import_module(f"{package.__name__}.{record.key.replace('-', '_')}")
    return any(value is record for value in vars(module).values())


def test_the_key_of_an_extension_is_unique_and_the_name_of_its_module() -> None:
    assert [one.key for package, one in ALL if not is_in_the_module_of_its_key(package, one)] == []
    keys = [record.key for _, record in ALL]
    assert len(set(keys)) == len(keys)


def test_no_module_compares_a_value_with_the_key_of_another_extension() -> None:
    found = {
        (name_of(module), text): line
        for module in MODULES
        for line, text in compared(module)
        if text in KEYS and not f"{name_of(module)}.".startswith(f"{KEYS[text]}.")
    }
    assert found.keys() == ORDINARY, found


def test_only_file_formats_name_the_files_of_weights() -> None:
    patterns = [pattern for known in discovery.load(formats, FileFormat) for pattern in known.names]
    others = [module for module in MODULES if not name_of(module).startswith(formats.__name__)]
    texts = [(module.name, text) for module in others for _, text in literals(module)]
    words = [(name, word.strip(".,;:`'()")) for name, text in texts for word in text.split()]
    assert [one for one in words if any(fnmatch(one[1], pattern) for pattern in patterns)] == []


def constants(module: Path) -> set[int]:
    """The lines of ``module`` that define constants."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    statements = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    return {line for node in statements for line in range(node.lineno, (node.end_lineno or 0) + 1)}


def test_model_families_are_named_in_modules_for_them_and_in_constants_of_schemes_alone() -> None:
    from transformers import CONFIG_MAPPING

    named = {
        (name_of(module), text)
        for module in MODULES
        if module.stem not in OF_FAMILIES and not module.is_relative_to(PROGRAMS)
        for line, text in literals(module)
        if not (module.is_relative_to(ROOT / "schemes") and line in constants(module))
    }
    assert {(module, text) for module, text in named if text in CONFIG_MAPPING} == set(NO_FAMILIES)


def _folder(package: ModuleType) -> str:
    return package.__name__.split(".")[1]


def macros_of(package: ModuleType, record: Any) -> set[str]:
    """Names of the macros with a body in the template of an extension."""
    source = (TEMPLATES / _folder(package) / f"{record.key}.md.jinja").read_text(encoding="utf-8")
    macros = environment_of(TEMPLATES).parse(source).find_all(nodes.Macro)
    return {macro.name for macro in macros if macro.body}


def test_an_extension_has_a_template_with_its_macros() -> None:
    for package, record in WITH_PROSE:
        assert macros_of(package, record) >= MACROS[package], record.key


def test_every_template_belongs_to_an_extension() -> None:
    for folder in ("schemes", "analyses"):
        names = {path.name for path in (TEMPLATES / folder).iterdir()}
        keys = [record.key for package, record in WITH_PROSE if _folder(package) == folder]
        assert names == {f"{key}.md.jinja" for key in keys}


def test_the_texts_of_an_extension_are_stripped_and_not_empty() -> None:
    fields = ("title", "summary", "question", "source", "looked_for")
    texts = [getattr(record, name, None) for _, record in WITH_PROSE for name in fields]
    given = [text for text in texts if text is not None]
    assert [text for text in given if text.strip() != text or len(text) <= 3] == []


def test_the_drawing_functions_and_published_values_of_an_extension_can_be_pickled() -> None:
    pictures = [picture_of(record) for package, record in WITH_PROSE if package is schemes]
    others = [record for package, record in WITH_PROSE if package is not schemes]
    across = [record.across for package, record in WITH_PROSE if package is use]
    specs = [*pictures, *(spec for record in others for spec in record.figures), *across]
    published = [record.oracles for package, record in WITH_PROSE]
    assert pickle.dumps([*(one.draw for one in specs if one), *published])
    assert pickle.dumps([picture.numbers for picture in pictures])


def test_the_figures_of_an_analysis_have_different_keys_and_captions() -> None:
    for analysis in discovery.load(analyses, Analysis):
        specs = analysis.figures
        assert specs, analysis.key
        for texts in ([spec.key for spec in specs], [spec.caption for spec in specs]):
            assert len({*texts}) == len(texts), analysis.key
        for spec in specs:
            assert spec.caption.endswith("."), analysis.key
            assert spec.how_to_read.endswith("."), analysis.key


def test_a_module_without_a_record_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"0 values of type Scheme; expected exactly one"):
        discovery.load(analyses, Scheme)


def test_an_extension_may_be_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numbers_of_a_kind/one").mkdir(parents=True)
    records = {"one/__init__": "RECORD = 1j", "two": "RECORD = 2j"}
    for name, code in {"__init__": "", "one/part": "", **records}.items():
        (tmp_path / f"numbers_of_a_kind/{name}.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert discovery.load(import_module("numbers_of_a_kind"), complex) == (1j, 2j)


@dataclass(frozen=True)
class Ordered:
    key: str
    after: str


def ordered(**after: str) -> list[str]:
    """Keys of records in their order."""
    return [one.key for one in discovery.in_order([Ordered(*pair) for pair in after.items()])]


def test_an_extension_is_directly_behind_the_one_it_names_and_last_where_it_names_none() -> None:
    keys = ordered(a="", first="", last="then", new="first", other="first", then="first")
    assert keys == ["first", "new", "other", "then", "last", "a"]


def test_an_extension_behind_one_that_is_not_there_or_behind_itself_is_an_error() -> None:
    with pytest.raises(ValueError, match="missing"):
        ordered(first="", new="missing")
    with pytest.raises(ValueError, match="other, one"):
        ordered(first="", one="other", other="one")


def paragraph_of(scheme: Scheme) -> str:
    template = environment_of(TEMPLATES).get_template(f"schemes/{scheme.key}.md.jinja")
    module: Any = template.make_module({"link": str})
    return str(module.where())


def test_the_paragraph_of_a_scheme_says_nothing_of_other_encodings_of_a_model() -> None:
    others = re.compile(r"nowhere else|nothing else|no other|here only|only here|the only")
    every = discovery.load(schemes, Scheme)
    assert [scheme.key for scheme in every if others.search(paragraph_of(scheme))] == []


def test_a_new_source_comes_after_those_that_read_what_no_key_says() -> None:
    """Whatever its key is: a bare name of the list is one of the Hub, a path is a folder."""
    first = [source.key for source in discovery.load(sources, Source) if not source.after]
    assert first == ["folder"]
    assert not Source.after
