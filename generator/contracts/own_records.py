"""Records of extensions that are not the program's: read from their modules, and checked as tests
check the program's own. What is wrong is a sentence with file and line.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module, invalidate_caches
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, TypeVar, get_args

from jinja2 import TemplateError, TemplateSyntaxError

from generator.contracts import own, own_guards
from generator.contracts.checkpoints import Scheme
from generator.contracts.own_guards import TooLongError, guarded, limited
from generator.contracts.results import Analysis, FigureSpec
from generator.contracts.rules import Level, Rule
from generator.contracts.wording import GivenTexts
from generator.encodings import ActsIn, Form
from generator.errors import RefusedError
from generator.text import enumerated, short

Record = TypeVar("Record")
# A line by which a module is for this program; one with a mistake has it, too.
IMPORTS = re.compile(rb"^\s*(?:from|import)\s+generator\b", re.MULTILINE)
KEY = re.compile("[a-z][a-z0-9_]*")
# What a template has: texts, and macros that pages show.
WORDS: dict[type, tuple[str, ...]] = {
    Analysis: ("title", "question", "source", "method", "arrays"),
    Scheme: (
        *("title", "summary", "looked_for", "where", "explain"),
        *("picture_caption", "picture_how_to_read", "picture_alt"),
    ),
    Rule: ("title", "looks_for", "why", "mend"),
}
VERSION = 0  # Of the interface, whose names tests/contracts/names.json has.
# Fields that are for the program's own alone.
OURS = ("across", "confirmed", "derived", "overlay", "sentence", "units", "find_last")


class _WrongError(Exception):
    """What is wrong with a module, as a sentence."""


def records(package: ModuleType, record: type[Record], ours: Sequence[Any]) -> list[Record]:
    """The records of ``package`` that are not the program's, which raise nothing that ends a row;
    ours: the program's

    errors: RefusedError with every problem
    """
    kind = next((key for key, name in own.PACKAGES.items() if name == package.__name__), None)
    if kind is None or not own.folders(kind):
        return []
    found, problems = list[tuple[Path, Any]](), list[str]()
    taken = {one.key.replace("-", "_"): "the program" for one in ours}
    taken |= {path.stem: "the program" for path in Path(own.packages(kind).__path__[0]).iterdir()}
    for path in (path for folder in own.folders(kind) for path in _modules(folder)):
        name = _name(path)
        try:
            if name in taken:
                raise _WrongError(f"found the name of one of {taken[name]}; expected another")
            taken[name] = str(path)
            found.append((path, _record(f"{package.__name__}.{name}", path, record)))
        except _WrongError as error:
            problems.append(_placed(path, str(error)))
    keys = {one.key for one in (*ours, *(one for _, one in found))}
    for path, one in found:
        line = _line_of(path, type(one).__name__)
        problems += [f"{path}:{line}: {fault}" for fault in _faults(path, one, keys)]
    if problems:
        raise RefusedError(*problems)
    return [guarded(one, kind) for _, one in found]


def _modules(folder: Path) -> list[Path]:
    """The modules of a folder, but for those whose names begin with "_"; none of a folder where
    nothing imports the program, which is there for another reason.
    """
    paths = {*folder.glob("*.py"), *folder.glob("*/__init__.py")} - {folder / "__init__.py"}
    found = sorted(path for path in paths if not _name(path).startswith("_"))
    return found if any(map(_is_for_us, found)) else []


def _name(path: Path) -> str:
    return path.parent.name if path.stem == "__init__" else path.stem


def _tree(path: Path) -> ast.Module:
    """That of a module; an empty one where it cannot be read, of which the import tells."""
    with suppress(SyntaxError, ValueError, OSError, RecursionError):
        return ast.parse(path.read_bytes())
    return ast.Module([], [])


def _is_for_us(path: Path) -> bool:
    with suppress(OSError):  # The import tells.
        return IMPORTS.search(path.read_bytes()) is not None
    return True


def _record(name: str, path: Path, record: type[Record]) -> Record:
    """errors: _WrongError"""
    if not KEY.fullmatch(_name(path)):
        raise _WrongError("found another name of a module; expected one of a-z, 0-9 and _")
    with _imports(path):
        module = import_module(name)
    found = [value for value in vars(module).values() if isinstance(value, record)]
    if len(found) != 1:
        raise _WrongError(f"found {len(found)} values of type {record.__name__}; expected one")
    return found[0]


@contextmanager
def _imports(path: Path) -> Iterator[None]:
    """Report what an import raises, and leave no byte code beside the module.

    errors: _WrongError
    """
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    invalidate_caches()
    try:
        with limited():
            yield
    except TooLongError:
        raise _WrongError(f"{_no_end()}; expected a module that can be imported") from None
    except SyntaxError as error:
        line = f"{error.lineno or 1}: " if Path(error.filename or "") == path else ""
        raise _WrongError(f"{line}found {error.msg}; expected a module of Python") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 (of any code)
        frames = [
            one.lineno for one in extract_tb(error.__traceback__) if one.filename == str(path)
        ]
        line = f"{frames[-1]}: " if frames else ""
        raise _WrongError(
            f"{line}found {_raised(error)}; expected a module that can be imported"
        ) from None
    finally:
        sys.dont_write_bytecode = before


def _raised(error: BaseException) -> str:
    return f"{type(error).__name__}: {short(' '.join(str(error).split()), 160)}"


def _placed(path: Path, problem: str) -> str:
    """A problem with its file, and with the line that it begins with, or the first."""
    has_line = problem.partition(": ")[0].isdigit()
    return f"{path}:{problem}" if has_line else f"{path}:1: {problem}"


def _line_of(path: Path, record: str) -> int:
    """The line on which a module makes its record."""
    calls = (node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call))
    return next((one.lineno for one in calls if getattr(one.func, "id", "") == record), 1)


def _faults(path: Path, record: Any, keys: set[str]) -> Iterator[str]:
    """What is wrong with a record, by fields first: its words may be asked for by them."""
    if str(record.key).replace("-", "_") != _name(path):
        yield f"found the key {short(str(record.key))!r}; expected {_name(path)!r}, as its module"
        return
    after = getattr(record, "after", "")
    if after and (after not in keys or after == record.key):
        yield f"found after={short(str(after))!r}; expected the key of another"
    ours = [name for name in OURS if _is_given(record, name)]
    if ours:
        yield f"found {enumerated(ours)}; expected none of it in version {VERSION} of the interface"
    of_fields = _of_fields(path, record)
    yield from of_fields
    if not of_fields:
        yield from _of_words(record)


def _is_given(record: Any, name: str) -> bool:
    default = next(
        (one for one in type(record).__dataclass_fields__.values() if one.name == name),
        None,
    )
    return default is not None and bool(getattr(record, name)) and not callable(default.default)


def _of_fields(path: Path, record: Any) -> list[str]:
    """What is wrong with the fields of a record."""
    checks: Sequence[tuple[str, Callable[[], bool], str]]
    if isinstance(record, Analysis):
        stages = get_args(Analysis.__annotations__["stage"])
        checks = (
            ("compute", lambda: callable(record.compute), "a function"),
            ("forms", lambda: bool(record.forms) and all(map(_is_form, record.forms)), "forms"),
            ("figures", lambda: bool(record.figures) and _are_figures(record), "FigureSpecs with"
             " keys of their own"),
            ("stage", lambda: record.stage in stages, f"one of {enumerated(stages)}"),
            ("subject", lambda: record.subject == "encoding", "'encoding'"),
        )  # fmt: skip
    elif isinstance(record, Scheme):
        checks = (
            ("find", lambda: callable(record.find), "a function"),
            ("acts_in", lambda: record.acts_in in get_args(ActsIn), enumerated(get_args(ActsIn))),
            ("module", (path.parent / "picture.py").is_file, "a folder with picture.py"),
        )
    else:
        levels = {*get_args(Level)}
        checks = (
            ("find", lambda: callable(record.find), "a function"),
            ("levels", lambda: bool(record.levels) and levels.issuperset(record.levels.values()),
             f"kinds with {enumerated(get_args(Level))}"),
        )  # fmt: skip
    return [
        f"found another value of {name}; expected {expected}"
        for name, is_right, expected in checks
        if not _holds(is_right)
    ]


def _holds(is_right: Callable[[], bool]) -> bool:
    with suppress(Exception):  # Of values of any type.
        return is_right()
    return False


def _is_form(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Form)


def _are_figures(analysis: Analysis) -> bool:
    keys = {spec.key for spec in analysis.figures if isinstance(spec, FigureSpec)}
    return len(keys) == len(analysis.figures)


def _no_end() -> str:
    return f"found no end within {own_guards.SECONDS:g} seconds"


def _of_words(record: Any) -> list[str]:
    """What is wrong with the template of a record, and what it lacks."""
    name = record.wording.path.partition("/")[2]
    try:
        with limited():
            return list(_wrong_words(record, name))
    except TooLongError:
        return [f"{_no_end()} in {name}; expected a template"]


def _wrong_words(record: Any, name: str) -> Iterator[str]:
    wanted = [*WORDS[type(record)], *(getattr(record, "levels", None) or ())]
    for head in getattr(record, "shown", ()):
        wanted += [f"{head.metric}_title", f"{head.metric}_sentence"]
        wanted += [head.where] if head.where else []
    wanted += ["overlay_how_to_read"] if getattr(record, "overlay", None) else []
    figures = getattr(record, "figures", ())
    for spec in (one for one in figures if not isinstance(one.texts, GivenTexts)):
        wanted += [f"{spec.key}_{text}" for text in ("caption", "how_to_read", "alt")]
    try:
        missing = [one for one in wanted if one not in record.wording]
    except TemplateSyntaxError as error:
        yield f"found {error.message} in line {error.lineno} of {name}; expected a template"
        return
    except TemplateError as error:
        is_absent = str(error).startswith(record.wording.path)
        found = f"no {name}" if is_absent else f"{short(str(error), 160)} in {name}"
        yield f"found {found}; expected its template beside it"
        return
    except Exception as error:  # noqa: BLE001 (of any template)
        yield f"found {_raised(error)} in {name}; expected a template"
        return
    if missing:
        yield f"found no {enumerated(missing)} in {name}; expected a text or a macro for each"
        return
    yield from _unshown(record, name)


def _unshown(record: Any, name: str) -> Iterator[str]:
    """Words of a template that no page can show."""
    for one in WORDS[type(record)]:
        try:
            record.wording.shown(one)
        except Exception as error:  # noqa: BLE001 (of any template)
            yield f"found {_raised(error)} in {one} of {name}; expected words"
    for head in getattr(record, "shown", ()):
        try:
            head.says("1")
        except (KeyError, IndexError, ValueError):
            sentence = short(head.sentence)
            yield f"found {sentence!r} as a sentence in {name}; expected {{}} for the value alone"
