"""Rules about the code itself."""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import generator

ROOT = Path(generator.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
MOST_STATEMENTS, MOST_LINES = 25, 400
HEAVY = {"torch", "transformers", "matplotlib", "sklearn", "scipy"}
COMMAND_LINE = {*(ROOT / "cli").glob("*.py"), ROOT / "__main__.py"}
LIBRARY = [module for module in MODULES if module not in COMMAND_LINE]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(module: Path) -> str:
    return str(module.relative_to(ROOT))


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def statements(function: Function) -> int:
    """How many statements a function has, without those of functions and classes within it, and without its docstring."""
    stack: list[ast.AST] = list(function.body)
    count = -1 if ast.get_docstring(function) is not None else 0
    while stack:
        node = stack.pop()
        count += isinstance(node, ast.stmt)
        if not isinstance(node, Function | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
    return count


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names, with every name taken from them."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def when_loaded(module: Path) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported: none in a function, none for the type checker alone."""
    stack: list[ast.AST] = [tree_of(module)]
    while stack:
        node = stack.pop()
        yield node
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not isinstance(node, Function | ast.Lambda) and not for_types:
            stack.extend(ast.iter_child_nodes(node))


def broken_by(breaks: Callable[[Path], object], modules: Sequence[Path] = MODULES) -> dict[str, object]:
    """What breaks a rule, by the name of its module."""
    return {name_of(module): found for module in modules if (found := breaks(module))}


def test_no_function_is_longer_than_25_statements() -> None:
    def long(module: Path) -> list[str]:
        functions = [node for node in ast.walk(tree_of(module)) if isinstance(node, Function)]
        return [function.name for function in functions if statements(function) > MOST_STATEMENTS]

    assert broken_by(long) == {}


def test_no_module_is_longer_than_400_lines() -> None:
    assert broken_by(lambda module: len(module.read_text(encoding="utf-8").splitlines()) > MOST_LINES) == {}


def test_the_library_does_not_know_its_command_line() -> None:
    def knows(module: Path) -> set[str]:
        names = {name for node in ast.walk(tree_of(module)) for name in imported(node)}
        return {name for name in names if name.startswith("generator.cli")}

    assert broken_by(knows, LIBRARY) == {}


def test_only_the_command_line_prints_and_ends_the_program() -> None:
    def calls(module: Path) -> set[str]:
        found = {ast.unparse(node.func) for node in ast.walk(tree_of(module)) if isinstance(node, ast.Call)}
        return found & {"print", "exit", "quit", "sys.exit", "os._exit", "sys.stdout.write", "sys.stderr.write"}

    assert broken_by(calls, LIBRARY) == {}


def test_heavy_libraries_are_imported_by_the_work_that_needs_them() -> None:
    def heavy(module: Path) -> set[str]:
        return {name.split(".")[0] for node in when_loaded(module) for name in imported(node)} & HEAVY

    assert broken_by(heavy) == {}


def test_every_module_and_public_class_says_what_it_is() -> None:
    def silent(module: Path) -> list[str]:
        tree = tree_of(module)
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        undocumented = [node.name for node in classes if not ast.get_docstring(node)]
        return undocumented if ast.get_docstring(tree) else ["the module", *undocumented]

    assert broken_by(silent) == {}
