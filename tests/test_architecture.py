"""Rules about the code itself that no linter has."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

import generator
from tests.built import ROOT

MOST_LINES = 600
MOST_COLUMNS = 160
# Names that stand twice or more, which may become fewer: of atlas.json, whose keys are fewer than
# those of the record of the same name;
CLASSES = {"Atlas", "Checkpoint", "Copy", "Encoding", "Layer", "Metric"}
# of modules with the records that a package exchanges, and that package;
MODULES = {
    "checkpoints", "layer_map", "releases", "resolved", "rules", "runs",
    # of a page, and of what it shows;
    "changes", "checkpoint", "compare", "copies", "expected", "glossary", "known_models", "pages",
    # of what several extensions or processes have;
    "families", "folder", "hub", "layers", "none", "picture", "preload", "quantised", "rotations",
    "stored", "windows",
    # and of one thing on several floors.
    "pair_order", "use",
}  # fmt: skip


def test_no_module_is_longer_than_600_lines() -> None:
    modules = sorted(Path(generator.__file__).parent.rglob("*.py"))
    assert [
        module.name
        for module in modules
        if len(module.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ] == []


def test_lines_of_templates_fit_160_columns() -> None:
    templates = [*(ROOT / "templates").rglob("*.*"), *(ROOT / "site_src").rglob("*.md")]
    assert [
        f"{template.name}:{number}"
        for template in sorted(templates)
        for number, line in enumerate(template.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ] == []


def test_the_project_weighs_what_its_budget_says() -> None:
    """No more, and less by a fiftieth or by 20 lines at most."""
    budget = tomllib.loads((ROOT / "budget.toml").read_text(encoding="utf-8"))
    rooms = {path.parent.name for path in ROOT.glob("generator/*/__init__.py")}
    assert {f"generator/{room}/**/*.py" for room in rooms} <= budget["lines"].keys()
    wrong = {}
    for pattern, most in budget["lines"].items():
        lines = sum(len(path.read_text("utf-8").splitlines()) for path in ROOT.glob(pattern))
        if not min(0.98 * most, most - 20) <= lines <= most:
            wrong[pattern] = f"{lines} lines; the budget has {most}"
    assert wrong == {}
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").split()) <= budget["words"]


def test_a_class_and_a_module_have_a_name_of_their_own() -> None:
    classes, modules = Counter[str](), Counter[str]()
    for path in Path(generator.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes.update(node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        modules[path.parent.name if path.stem == "__init__" else path.stem] += 1
    assert {name for name, count in classes.items() if count > 1} == CLASSES
    assert {name for name, count in modules.items() if count > 1} == MODULES
