"""Mutation testing: the share of small faults, injected one at a time, that some test detects.

`python -m benchmarks.mutants --out FOLDER [--count N] [--central] [PATH ...]` first runs all tests
once under coverage, to learn which tests run which lines and how long they take. It then samples
faults, of the whole program or of these files and folders, the same for the same program, and runs
for each the nearest tests, until one fails or `LIMIT` seconds of tests have passed. Results are in
FOLDER/results.json; a second run resumes there. With `--central` it samples N faults of each module
that many import, and writes for `make near` which test files detected them.

The faults are those of mutation testing (DeMillo, Lipton & Sayward 1978): another operator, another
constant, a negated condition, a return value of None.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).parent.parent
COUNT, SEED = 300, 20
# Per fault: seconds of tests, by their time without it, and number of tests.
LIMIT, MOST_TESTS = 12.0, 100
HANGS = 3.0  # A run that takes this many times as long, plus a minute, is ended as a hang.
# Imports of most runs, except modules that read test settings when imported.
PRELOADED = [
    *("pytest", "torch", "transformers", "matplotlib.figure", "sklearn.model_selection"),
    *("scipy.optimize", "bs4", "PIL.Image", "playwright.sync_api", "pydantic", "typer"),
    *("rich.table", "ruamel.yaml", "jinja2", "safetensors.numpy"),
]
WORKERS = len(os.sched_getaffinity(0))
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult,
}  # fmt: skip
DURATION = re.compile(r"^(\d+\.\d+)s (?:call|setup|teardown) +(tests/.+)$")


@dataclass(frozen=True)
class Mutant:
    """One fault: the source from ``start`` to ``end``, in characters, becomes ``text``.

    function: first and last line of the enclosing one
    """

    path: str
    start: int
    end: int
    text: str
    former: str
    line: int
    function: tuple[int, int] | None


def mutants(path: Path) -> Iterator[Mutant]:
    """Every possible fault of a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    lines = source.splitlines()

    def offset(line: int, column: int) -> int:
        return offsets[line - 1] + len(lines[line - 1].encode()[:column].decode())

    node: Any  # The nodes that become others have places.
    for node, function in _nodes(tree, None):
        for other in _others(node):
            start = offset(node.lineno, node.col_offset)
            end = offset(node.end_lineno, node.end_col_offset)
            text = ast.unparse(other) if isinstance(other, ast.stmt) else f"({ast.unparse(other)})"
            name, former = str(path.relative_to(ROOT)), source[start:end]
            yield Mutant(name, start, end, text, former, node.lineno, function)


def _nodes(
    node: ast.AST, function: tuple[int, int] | None
) -> Iterator[tuple[ast.AST, tuple[int, int] | None]]:
    """Every node below, with its enclosing function, except docstrings, annotations and pieces of
    f-strings.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = (node.lineno, node.end_lineno or node.lineno)
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            is_code = name not in {"annotation", "returns", "decorator_list"} and not is_text
            if isinstance(child, ast.AST) and is_code:
                yield child, function
                if not isinstance(child, ast.JoinedStr):
                    yield from _nodes(child, function)


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """Possible replacements of ``node``."""
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
        case ast.Return(value=ast.expr() as value) if not (
            isinstance(value, ast.Constant) and value.value is None
        ):
            yield ast.Return(ast.Constant(None))
        case ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def sample(places: Sequence[Path], n_faults: int) -> list[Mutant]:
    """Random faults of these files and folders, the same for the same program."""
    files = sorted(
        {path for one in places for path in ([one] if one.is_file() else one.rglob("*.py"))}
    )
    every = [mutant for path in files for mutant in mutants(path.resolve())]
    n_faults = min(n_faults, len(every))
    return random.Random(SEED).sample(every, n_faults)  # noqa: S311 (no secret)


@dataclass(frozen=True)
class Suite:
    """The tests that run each line of each file, and the seconds of each test."""

    lines: Mapping[str, Mapping[int, Sequence[str]]]
    seconds: Mapping[str, float]

    def near(self, mutant: Mutant) -> list[str]:
        """The tests for a fault: those of its line first, then of its function, then of its file;
        fast ones before slow ones.
        """
        lines = self.lines.get(mutant.path, {})
        first, last = mutant.function or (1, 0)
        in_line = set(lines.get(mutant.line, ())) if mutant.function else set()
        in_function = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        in_file = {test for tests in lines.values() for test in tests}

        def farness(test: str) -> tuple[bool, bool, float, str]:
            seconds = self.seconds.get(test, 0.0)
            return test not in in_line, test not in in_function, seconds, test

        ranked = sorted(in_file, key=farness)
        selected, total = [], 0.0
        for test in ranked[:MOST_TESTS]:
            total += self.seconds.get(test, 0.0)
            if total > LIMIT:
                break
            selected.append(test)
        return selected


def measured(out: Path) -> Suite:
    """The suite, from one run of all tests under coverage, without tests that fail by
    themselves.
    """
    from coverage import CoverageData

    data_file, log = out / "coverage", out / "tests.log"
    if not log.exists():
        command = [
            *(sys.executable, "-m", "pytest", "-n", str(WORKERS), "--dist", "loadfile"),
            *("-q", "-vv", "--durations=0", "-p", "no:cacheprovider"),
            *("--cov", "--cov-context=test", "--cov-report="),
        ]
        environment = {**os.environ, "COVERAGE_FILE": str(data_file)}
        completed = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        log.write_text(completed.stdout, encoding="utf-8")
    text = log.read_text(encoding="utf-8")
    seconds: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        if match := DURATION.match(line):
            seconds[match[2]] += float(match[1])
    failing = {
        line.split(" ", 1)[1].split(" - ")[0]
        for line in text.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    }
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

    options = ["-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
    ignored = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    os._exit(int(pytest.main([*options, *ignored, *tests])))


def run(mutant: Mutant, tests: list[str], seconds: float, tree: Path) -> str:
    """The verdict on one fault in ``tree``, a copy of the checkout: "killed by …", "survived",
    "hangs" or "no test".
    """
    if not tests:
        return "no test"
    path, log = tree / mutant.path, tree / "mutant.log"
    former = path.read_text(encoding="utf-8")
    path.write_text(former[: mutant.start] + mutant.text + former[mutant.end :], encoding="utf-8")
    process = get_context("forkserver").Process(target=_child, args=(tree, tests, log))
    process.start()
    process.join(60 + HANGS * seconds)
    exit_code = process.exitcode
    with suppress(ProcessLookupError, TypeError):
        os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
    process.join()
    path.write_text(former, encoding="utf-8")
    if exit_code is None:
        return "hangs"
    if exit_code == 0:
        return "survived"
    text = log.read_text(encoding="utf-8", errors="replace")
    failure = re.search(r"^(?:FAILED|ERROR|ImportError while loading) (\S+)", text, re.MULTILINE)
    # A run that ends without a result is no better than one that fails.
    return f"killed by {failure[1] if failure else f'exit code {exit_code}'}"


def trees(out: Path) -> "SimpleQueue[Path]":
    """A copy of the checkout per worker."""
    queue: SimpleQueue[Path] = SimpleQueue()
    own = (".git", ".venv*", "build", "samples", "*.egg-info", ".*_cache")
    left_out = shutil.ignore_patterns(*own)
    for index in range(WORKERS):
        tree = out / f"tree-{index}"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=left_out)
        (tree / "samples").symlink_to((ROOT / "samples").resolve())
        queue.put(tree)
    return queue


def test(mutant: Mutant, suite: Suite, free: "SimpleQueue[Path]") -> dict[str, Any]:
    """The verdict of the tests near one fault, run in a free tree."""
    tests = suite.near(mutant)
    tree, started = free.get(), time.monotonic()
    try:
        verdict = run(mutant, tests, sum(suite.seconds.get(test, 0.0) for test in tests), tree)
    finally:
        free.put(tree)
    seconds = round(time.monotonic() - started, 1)
    return {**asdict(mutant), "verdict": verdict, "tests": len(tests), "seconds": seconds}


def killers(results: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The test files in which a test detected a fault, by module; those with most faults first."""
    from tests import near  # Not above: a process that runs tests has those of its tree.

    counts = defaultdict[str, Counter[str]](Counter)
    for entry in results:
        if match := re.match("killed by (tests/[^:]+)::", entry["verdict"]):
            counts[near.module_of(entry["path"])][match[1]] += 1
    return {
        module: sorted(counted, key=lambda file: (-counted[file], file))
        for module, counted in sorted(counts.items())
    }


def main() -> None:
    from tests import near

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="Folder for coverage and results.")
    parser.add_argument("--count", type=int, default=COUNT, help="Number of faults.")
    parser.add_argument("--central", action="store_true", help="Of modules that many import.")
    parser.add_argument("places", nargs="*", type=Path, default=[ROOT / "generator"])
    options = parser.parse_args()
    out: Path = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    get_context("forkserver").set_forkserver_preload(PRELOADED)
    suite, free, file = measured(out), trees(out), out / "results.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    groups = [[path] for path in near.central()] if options.central else [options.places]
    faults = enumerate(fault for places in groups for fault in sample(places, options.count))
    with ThreadPoolExecutor(WORKERS) as pool:
        futures = {
            pool.submit(test, mutant, suite, free): str(number)
            for number, mutant in faults
            if str(number) not in results
        }
        for future in as_completed(futures):
            results[futures[future]] = future.result()
            file.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.central:
        text = json.dumps(killers(results.values()), indent=1)
        near.KILLERS.write_text(f"{text}\n", encoding="utf-8")
    counts = Counter(entry["verdict"].split(" by ")[0] for entry in results.values())
    killed = counts["killed"] + counts["hangs"]
    share = 100 * killed / counts.total()
    sys.stdout.write(f"{killed} of {counts.total()} killed: {share:.1f} % ({dict(counts)})\n")


if __name__ == "__main__":
    main()
