"""``python -m tests.near [COMMIT]``: the tests that a change since a commit can affect, nearest
first, for about a minute; HEAD unless given.

The test files that last detected faults in a module come first (``make kills``). Others are as near
as their shortest chain of imports to a module that changed. A template belongs to the module of its
name; any other file affects the test files that name it. ``make test`` runs all.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic

import grimp
import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 60.0
MOST_FILES = 40  # that are collected, which takes part of the minute
# Test files that detected faults in modules that many import, by module, the best first.
KILLERS = ROOT / "tests/killers.json"
MANY = 20  # modules of the program and of its tests
# Packages whose members are found by listing them, so that no import says that their reader depends
# on them.
LISTED = tuple(
    f"generator.{name}"
    for name in (
        "analyses",
        "analyses.use",
        "encyclopedia.pages",
        "reading.rules",
        "schemes",
        "site.pages",
        "checkpoints.sources",
        "checkpoints.files.formats",
    )
)
OF_TEMPLATES = {
    "analyses": "generator.analyses",
    "schemes": "generator.schemes",
    "pages": "generator.site.pages",
    "rules": "generator.reading.rules",
}


def changed(commit: str) -> list[str]:
    """Paths of the files that differ from ``commit``, new ones included, relative to the
    repository.
    """
    commands = (
        ["git", "diff", "--name-only", commit],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    listed = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for command in commands
    ]
    return sorted({line for text in listed for line in text.splitlines()})


def near(paths: Iterable[str]) -> list[str]:
    """Test files that a change of ``paths`` can affect, the nearest first."""
    graph = _graph()
    modules, others = set[str](), list[str]()
    for path in paths:
        module = module_of(path)
        modules |= {module} & graph.modules
        others += [path] if module not in graph.modules else []
    found = [
        file_of(module)
        for module in _by_distance(graph, modules)
        if module.rpartition(".")[2].startswith("test_")
    ]
    own = {f"test_{module.rpartition('.')[2]}" for module in modules}
    found.sort(key=lambda file: Path(file).stem not in own)
    killers = json.loads(KILLERS.read_text(encoding="utf-8"))
    first = [test for module in sorted(modules) for test in killers.get(module, ())]
    return list(
        dict.fromkeys([*first, *found, *(test for path in others for test in _naming(path))])
    )


def central() -> list[Path]:
    """The modules of the program that many import, themselves or by the package that names them."""
    graph, found = _graph(), list[Path]()
    for module in sorted(graph.find_descendants("generator")):
        importers = graph.find_modules_that_directly_import(module)
        package = module.rpartition(".")[0]
        if package in importers:
            importers |= graph.find_modules_that_directly_import(package)
        path = ROOT / file_of(module)
        found += [path] if len(importers) >= MANY and path.exists() else []
    return found


def module_of(path: str) -> str:
    """The module that a file is, or that a template belongs to; for other files a name that no
    module has.
    """
    match Path(path).parts:
        case ("templates", kind, name) if kind in OF_TEMPLATES:
            return f"{OF_TEMPLATES[kind]}.{name.partition('.')[0]}"
        case (*parts, name) if name.endswith(".py"):
            return ".".join([*parts, name.removesuffix(".py")]).removesuffix(".__init__")
    return ""


def _graph() -> grimp.ImportGraph:
    """What imports what, in the program and in the tests."""
    graph = grimp.build_graph("generator", "tests", cache_dir=None)
    for package in LISTED:
        for member in graph.find_children(package):
            graph.add_import(importer=package, imported=member)
    for conftest in [module for module in graph.modules if module.endswith(".conftest")]:
        for test in graph.find_descendants(conftest.rpartition(".")[0]) - {conftest}:
            # pytest imports it for all tests of its folder.
            graph.add_import(importer=test, imported=conftest)
    return graph


def _by_distance(graph: grimp.ImportGraph, modules: Iterable[str]) -> list[str]:
    """``modules`` and all that import one of them, directly or not; those with the shortest chains
    first, by name where these are alike.
    """
    reached, last = list[str](), sorted(modules)
    while last:
        reached += last
        importers = {
            importer
            for module in last
            for importer in graph.find_modules_that_directly_import(module)
        }
        last = sorted(importers - {*reached})
    return reached


def file_of(module: str) -> str:
    """The file of a module, relative to the repository."""
    return f"{module.replace('.', '/')}.py"


def _naming(path: str) -> list[str]:
    """The test files in which the name of a file occurs, or, where there is none, that of its
    folder.
    """
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    for name in (Path(path).name, Path(path).parent.name):
        if name and (
            naming := [test for test in tests if name in test.read_text(encoding="utf-8")]
        ):
            return [test.relative_to(ROOT).as_posix() for test in naming]
    return []


class _Budget:
    """A plugin of pytest that begins no further test once SECONDS are over."""

    def __init__(self) -> None:
        self.until, self.failed = monotonic() + SECONDS, 0

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if monotonic() > self.until:
            item.session.shouldstop = "the minute is over; `make test` runs all"

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.failed = session.testsfailed


def main(commit: str = "HEAD") -> int:
    """The exit code of pytest; 0 where the time is over before a test fails."""
    paths = changed(commit)
    files = [file for file in near(paths) if (ROOT / file).is_file()]
    sys.stdout.write(
        f"{len(paths)} files differ from {commit}; {len(files)} test files can be affected\n"
    )
    sys.stdout.flush()
    budget = _Budget()
    code = (
        pytest.main(["-q", *files[:MOST_FILES]], plugins=[budget]) if files else pytest.ExitCode.OK
    )
    return int(budget.failed > 0 if code == pytest.ExitCode.INTERRUPTED else code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
