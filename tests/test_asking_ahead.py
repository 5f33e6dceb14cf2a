"""What takes torch is asked by one process before any other starts, and the answer is the same as if each had asked for itself."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator import crews, runs, study, work
from generator.contracts import Atlas, Maker, OwnLayer
from generator.pages import checked
from generator.store import Store, pack
from tests import tiny
from tests.support import Deadly, checkpoint, save_model
from tests.synthetic import ROTATION, write_folder

WORDS = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"word{index}" for index in range(35))])
LARGE = ("torch", "transformers")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> study.Task:
    """One of BERT's kind, whose sum is compared with that of transformers' layer."""
    folder = save_model(tiny.build("bert"), tmp_path_factory.mktemp("bert"), {"vocab.txt": WORDS})
    [task] = study.plan([checkpoint(slug="bert", place=str(folder), sentence="word1 word2 word1")], offline=True)
    return task


@pytest.fixture(scope="module")
def alone() -> Iterator[work.Makers]:
    with crews.processes(jobs=1, alone=True) as crew:
        yield crew


def large_libraries() -> bytes:
    """Which of them this process has imported."""
    return " ".join(name for name in LARGE if name in sys.modules).encode()


def asked(
    tasks: list[study.Task], kept: Store, alone: Callable[[], work.Makers], few: int = work.FEW, fresh: bool = False
) -> list[study.Task]:
    return [*runs.asked(dict.fromkeys(tasks, "key"), kept, alone, few, fresh)]


def nobody() -> work.Makers:
    raise AssertionError("asked")


def test_a_study_with_the_answer_is_the_same_as_one_that_asks_itself(bert: study.Task, alone: work.Makers, tmp_path: Path) -> None:
    [told] = asked([bert], Store(tmp_path), lambda: alone)
    assert told.own is not None
    assert told.own.name == "BertEmbeddings"
    assert pack(study.study(told)) == pack(study.study(bert))


def test_whoever_has_the_answer_imports_no_large_library(bert: study.Task, alone: work.Makers, tmp_path: Path) -> None:
    store = Store(tmp_path)
    [told] = asked([bert], store, lambda: alone)
    with crews.processes(jobs=1) as crew:
        for task, libraries in ((told, b""), (bert, b"torch transformers")):
            crew.submit(task, store, "key").result()
            assert crew.make(large_libraries).result() == libraries


def test_for_the_page_of_published_values_large_libraries_are_needed_ahead_alone() -> None:
    ahead = checked.ahead(study.all_analyses(), study.all_schemes())
    begun: dict[str, Maker] = {}

    def remember(name: str, make: Maker) -> Maker:
        begun[name] = make
        return make

    checked.pages(Atlas((), study.all_analyses(), study.all_schemes(), remember=remember))
    with crews.processes(jobs=1) as crew:
        for name, make in begun.items():
            if name not in ahead:
                crew.make(make).result()
        assert crew.make(large_libraries).result() == b""
        for name in ahead:
            crew.make(begun[name]).result()
        assert crew.make(large_libraries).result() == b"torch transformers"


def test_nobody_is_asked_what_is_in_the_store_unless_all_is_to_be_fresh(bert: study.Task, tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.put("key", [b"whatever it is"])
    assert asked([bert], kept, nobody)[0].own is None
    with pytest.raises(AssertionError, match="asked"):
        asked([bert], kept, nobody, fresh=True)


def test_many_ask_for_themselves(bert: study.Task, tmp_path: Path) -> None:
    assert asked([bert], Store(tmp_path), nobody, few=0)[0].own is None


def test_what_goes_wrong_while_asking_is_left_to_the_study(bert: study.Task, alone: work.Makers, tmp_path: Path) -> None:
    missing, deadly = (study.Task(checkpoint(slug=str(place), place=place), "", True) for place in (str(tmp_path / "missing"), Deadly()))
    tasks = asked([missing, deadly, bert], Store(tmp_path), lambda: alone)
    assert [task.own and task.own.name for task in tasks] == [None, None, "BertEmbeddings"]


def test_where_there_is_no_such_layer_none_is_looked_for_again(alone: work.Makers, tmp_path: Path) -> None:
    [task] = study.plan([checkpoint(place=str(write_folder(tmp_path / "rotation", ROTATION)))], offline=True)
    [told] = asked([task], Store(tmp_path), lambda: alone)
    assert told.own is not None
    assert told.own.values is None


def test_bytes_that_came_for_the_answer_are_counted(bert: study.Task) -> None:
    assert work.attempt(replace(bert, own=OwnLayer(), received=1000)).received == 1000
