"""How much the tests notice: the share of small faults, put into the program one at a time, with which some test fails.

`python -m benchmarks.mutants --out FOLDER` first runs all tests once under coverage, to learn which tests run which lines and how long
they take. Then it draws the same 300 faults for the same program, and runs for each the tests nearest to it, until one fails or
`LIMIT` seconds of tests have passed. Every fault ends in FOLDER/results.json; a second run carries on there.

The faults are those of mutation testing (DeMillo, Lipton & Sayward 1978): another operator, another constant, a condition turned
round, nothing returned.
"""

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any

ROOT = Path(__file__).parent.parent
COUNT, SEED = 300, 20
LIMIT, MOST_TESTS = 12.0, 100  # Seconds of tests for one fault, by their time without it, and how many.
HANGS = 3.0  # A run that takes so many times as long, and a minute, is ended; a test would have failed at its own limit.
PRELOADED = [
    *("pytest", "torch", "transformers", "matplotlib.figure", "sklearn.model_selection", "scipy.optimize", "playwright.sync_api"),
    *("pydantic", "typer", "rich.table", "ruamel.yaml", "jinja2", "PIL.Image", "bs4", "safetensors.numpy"),
]  # What most runs import, and nothing that reads settings of a test while it is imported.
WORKERS = len(os.sched_getaffinity(0))
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult,
}  # fmt: skip
DURATION = re.compile(r"^(\d+\.\d+)s (?:call|setup|teardown) +(tests/.+)$")


@dataclass(frozen=True)
class Mutant:
    """One fault: the piece of a file from ``start`` to ``end``, in characters, becomes ``text``. function: the lines around it"""

    path: str
    start: int
    end: int
    text: str
    former: str
    line: int
    function: tuple[int, int] | None


def mutants(path: Path) -> Iterator[Mutant]:
    """Every fault that the file can have."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    lines = source.splitlines()

    def place(line: int, column: int) -> int:
        return offsets[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node, function in _nodes(tree, None):
        for other in _others(node):
            start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
            text = ast.unparse(other) if isinstance(other, ast.stmt) else f"({ast.unparse(other)})"
            yield Mutant(str(path.relative_to(ROOT)), start, end, text, source[start:end], node.lineno, function)  # type: ignore[attr-defined]


def _nodes(node: ast.AST, function: tuple[int, int] | None) -> Iterator[tuple[ast.AST, tuple[int, int] | None]]:
    """Every node below, with the function that it stands in; nothing of documentation, types and pieces of f-strings."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = (node.lineno, node.end_lineno or node.lineno)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not is_text and name not in {"annotation", "returns", "decorator_list"}:
                yield child, function
                if not isinstance(child, ast.JoinedStr):
                    yield from _nodes(child, function)


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of ``node`` instead."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OTHER:
            yield _with(node, ops=[OTHER[type(operator)]()])
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) if type(operator) in OTHER:
            yield _with(node, op=OTHER[type(operator)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value) if value:
            yield ast.Constant(f"XX{value}")
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def sample() -> list[Mutant]:
    """The same faults for the same program."""
    every = [mutant for path in sorted((ROOT / "generator").rglob("*.py")) for mutant in mutants(path)]
    return random.Random(SEED).sample(every, COUNT)  # noqa: S311 (no secret)


@dataclass(frozen=True)
class Suite:
    """The tests: which of them run each line of each file, and the seconds that each takes."""

    lines: Mapping[str, Mapping[int, Sequence[str]]]
    seconds: Mapping[str, float]

    def near(self, mutant: Mutant) -> list[str]:
        """Those for a fault: which run its line first, then its function, then its file; the quick before the slow."""
        lines = self.lines.get(mutant.path, {})
        first, last = mutant.function or (1, 0)
        in_line = set(lines.get(mutant.line, ())) if mutant.function else set()
        in_function = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        in_file = {test for tests in lines.values() for test in tests}
        ranked = sorted(in_file, key=lambda test: (test not in in_line, test not in in_function, self.seconds.get(test, 0.0), test))
        chosen, spent = [], 0.0
        for test in ranked[:MOST_TESTS]:
            spent += self.seconds.get(test, 0.0)
            if spent > LIMIT:
                break
            chosen.append(test)
        return chosen


def measured(out: Path) -> Suite:
    """The suite, from one run of all tests under coverage; the tests that fail without a fault are left out."""
    from coverage import CoverageData

    data_file, log = out / "coverage", out / "tests.log"
    if not log.exists():
        command = [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-n",
                str(WORKERS),
                "--dist",
                "loadfile",
                "-q",
                "-vv",
                "--durations=0",
                "-p",
                "no:cacheprovider",
            ),
            *("--cov=generator", "--cov-context=test", "--cov-report="),
        ]
        environment = {**os.environ, "COVERAGE_FILE": str(data_file)}
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        log.write_text(done.stdout, encoding="utf-8")
    text = log.read_text(encoding="utf-8")
    seconds: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        if found := DURATION.match(line):
            seconds[found[2]] += float(found[1])
    failing = {line.split(" ", 1)[1].split(" - ")[0] for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))}
    data = CoverageData(basename=str(data_file))
    data.read()
    lines = {
        str(Path(name).relative_to(ROOT)): {
            line: sorted({context.partition("|")[0] for context in contexts if context} - failing)
            for line, contexts in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    return Suite(lines, seconds)


def _child(tree: Path, tests: list[str], log: Path) -> None:
    """Run tests in ``tree`` as a group of processes of its own; exit code 0 where all pass."""
    os.setsid()
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    import pytest

    class Chosen:
        """These tests alone, in their order."""

        @staticmethod
        def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
            known = {item.nodeid: item for item in items}
            items[:] = [known[test] for test in tests if test in known]

    files = sorted({test.partition("::")[0] for test in tests})
    options = ["-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    os._exit(int(pytest.main([*options, *files], plugins=[Chosen()])))


def run(mutant: Mutant, tests: list[str], seconds: float, tree: Path) -> str:
    """What becomes of one fault in ``tree``, a copy of the checkout: "killed by …", "survived", "hangs" or "no test"."""
    if not tests:
        return "no test"
    path, log = tree / mutant.path, tree / "mutant.log"
    former = path.read_text(encoding="utf-8")
    path.write_text(former[: mutant.start] + mutant.text + former[mutant.end :], encoding="utf-8")
    process = get_context("forkserver").Process(target=_child, args=(tree, tests, log))
    process.start()
    process.join(60 + HANGS * seconds)
    ended = process.exitcode
    with suppress(ProcessLookupError, TypeError):
        os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
    process.join()
    path.write_text(former, encoding="utf-8")
    if ended is None:
        return "hangs"
    if ended == 0:
        return "survived"
    text = log.read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR|ImportError while loading) (\S+)", text, re.MULTILINE)
    if failed is None:
        raise RuntimeError(f"{log}: no test failed, and yet the run ended with {ended}")
    return f"killed by {failed[1]}"


def trees(out: Path) -> "SimpleQueue[Path]":
    """A copy of the checkout for each worker."""
    found: SimpleQueue[Path] = SimpleQueue()
    for index in range(WORKERS):
        tree = out / f"tree-{index}"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", ".venv*", "build", "samples", "*.egg-info", ".*_cache"))
        (tree / "samples").symlink_to((ROOT / "samples").resolve())
        found.put(tree)
    return found


@dataclass(frozen=True)
class Results:
    """What became of each fault, by its number, in a file that several threads add to."""

    file: Path
    lock: Lock = field(default_factory=Lock)

    def read(self) -> dict[str, Any]:
        return json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}

    def add(self, number: int, result: dict[str, Any]) -> None:
        with self.lock:
            self.file.write_text(json.dumps({**self.read(), str(number): result}, indent=1), encoding="utf-8")


def test(number: int, mutant: Mutant, suite: Suite, free: "SimpleQueue[Path]", results: Results) -> None:
    """Run the tests near one fault in a tree that is free, and add what became of it."""
    tests = suite.near(mutant)
    tree, begun = free.get(), time.monotonic()
    try:
        verdict = run(mutant, tests, sum(suite.seconds.get(test, 0.0) for test in tests), tree)
    finally:
        free.put(tree)
    results.add(number, {**asdict(mutant), "verdict": verdict, "tests": len(tests), "seconds": round(time.monotonic() - begun, 1)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="Folder for what is learnt of the tests, and the results.")
    out: Path = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    get_context("forkserver").set_forkserver_preload(PRELOADED)
    suite, free, results = measured(out), trees(out), Results(out / "results.json")
    known = results.read()
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = [pool.submit(test, n, mutant, suite, free, results) for n, mutant in enumerate(sample()) if str(n) not in known]
        for future in futures:
            future.result()
    counts = Counter(entry["verdict"].split(" by ")[0] for entry in results.read().values())
    killed = counts["killed"] + counts["hangs"]
    sys.stdout.write(f"{killed} of {counts.total()} killed: {100 * killed / counts.total():.1f} % ({dict(counts)})\n")


if __name__ == "__main__":
    main()
