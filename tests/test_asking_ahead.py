"""What takes torch is asked by one process before any other starts, and the answer is the same as if each had asked for itself."""

import gc
import json
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.hub import responses
from generator.contracts import Atlas, Maker, OwnLayer, PageKind, discovery
from generator.contracts.published import paper_sinusoid
from generator.encodings import PositionTable
from generator.errors import RowError
from generator.pipeline import build, evaluate, jobs, local_pool, worker
from generator.pipeline.result_store import Store, pack, unpack
from generator.site import pages
from generator.site.pages import checked
from tests import tiny
from tests.built import begin
from tests.comparing import small_atlas
from tests.support import Deadly, checkpoint, save_model
from tests.synthetic import ROTATION, write_folder

WORDS = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"word{index}" for index in range(35))])
LARGE = ("torch", "transformers")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> evaluate.Task:
    """One of BERT's kind, whose sum is compared with that of transformers' layer."""
    folder = save_model(tiny.build("bert"), tmp_path_factory.mktemp("bert"), {"vocab.txt": WORDS})
    [task] = evaluate.plan([checkpoint(slug="bert", place=str(folder), sentence="word1 word2 word1")], offline=True)
    return task


@pytest.fixture(scope="module")
def alone() -> Iterator[worker.Makers]:
    with local_pool.processes(jobs=1, alone=True) as crew:
        yield crew


def large_libraries() -> bytes:
    """Which of them this process has imported."""
    return " ".join(name for name in LARGE if name in sys.modules).encode()


def asked(tasks: list[evaluate.Task], alone: worker.Makers) -> list[evaluate.Task]:
    return [*jobs.asked(dict.fromkeys(tasks, "key"), lambda: alone)]


def test_a_study_with_the_answer_is_the_same_as_one_that_asks_itself(bert: evaluate.Task, alone: worker.Makers) -> None:
    [told] = asked([bert], alone)
    assert told.own is not None
    assert told.own.name == "BertEmbeddings"
    assert pack(evaluate.study(told)) == pack(evaluate.study(bert))


def test_whoever_has_the_answer_imports_no_large_library(bert: evaluate.Task, alone: worker.Makers, tmp_path: Path) -> None:
    store = Store(tmp_path)
    [told] = asked([bert], alone)
    with local_pool.processes(jobs=1) as crew:
        for task, libraries in ((told, b""), (bert, b"torch transformers")):
            crew.submit(task, store, "key").result()
            assert crew.make(large_libraries).result() == libraries


def test_for_the_page_of_published_values_large_libraries_are_needed_ahead_alone() -> None:
    ahead = checked.ahead(evaluate.all_analyses(), evaluate.all_schemes())
    begun: dict[str, Maker] = {}

    def remember(name: str, make: Maker) -> Maker:
        begun[name] = make
        return make

    checked.pages(Atlas((), evaluate.all_analyses(), evaluate.all_schemes(), remember=remember))
    with local_pool.processes(jobs=1) as crew:
        for name, make in begun.items():
            if name not in ahead:
                crew.make(make).result()
        assert crew.make(large_libraries).result() == b""
        for name in ahead:
            crew.make(begun[name]).result()
        assert crew.make(large_libraries).result() == b"torch transformers"


def begun(atlas: Atlas) -> set[str]:
    """Names of all that is made by others for the pages of ``atlas``."""
    names: set[str] = set()

    def remember(name: str, make: Maker) -> Maker:
        names.add(name)
        return make

    every = [page for kind in discovery.load(pages, PageKind) for page in kind.pages(replace(atlas, remember=remember))]
    return names | {f"{figure.path} {figure.made_of}" for page in every for figure in page.figures}


def test_what_is_begun_while_rows_are_studied_is_wanted_whatever_comes_of_them(tmp_path: Path) -> None:
    atlas = small_atlas(tmp_path)
    before = begun(replace(atlas, outcomes=()))
    assert {f"figures/schemes/{scheme.key}.svg {(scheme.key,)}" for scheme in atlas.schemes} | {checked.GIVEN} <= before
    assert before < begun(atlas)


def test_it_is_begun_behind_the_rows_and_before_any_has_finished(bert: evaluate.Task, alone: worker.Makers, tmp_path: Path) -> None:
    order: list[str] = []

    @dataclass
    class Crew:
        crew: worker.Crew

        def submit(self, task: evaluate.Task, kept: Store, key: str) -> "Future[worker.Done]":
            order.append("row")
            return self.crew.submit(task, kept, key)

        def make(self, maker: Maker) -> "Future[bytes]":
            order.append("other")
            return self.crew.make(maker)

        def reason(self, error: BaseException) -> str:
            return self.crew.reason(error)

    @contextmanager
    def here(n_rows: int) -> Iterator[Crew]:
        with local_pool.processes(n_rows, jobs=1) as crew:
            yield Crew(crew)

    def tell(event: jobs.Event | jobs.Stage) -> None:
        order.append(event.name)

    build.build([bert], tmp_path, worker.Crews(here, lambda: nullcontext(alone)), tell)
    assert order.index("row") < order.index("other") < order.index("finished")


def test_a_table_of_the_papers_size_is_shown_beside_the_very_sinusoid_that_published_values_are_asked_of() -> None:
    assert PositionTable(np.zeros((512, 768))).reference is paper_sinusoid()


@pytest.mark.parametrize(("few", "starts"), [(1, 1), (0, 0)])
def test_nobody_works_alone_where_more_rows_are_new(bert: evaluate.Task, few: int, starts: int, tmp_path: Path) -> None:
    here, started = partial(local_pool.processes, jobs=1), []

    def alone() -> AbstractContextManager[worker.Makers]:
        started.append("alone")
        return here()

    begin(tmp_path / "out")
    assert build.build([bert], tmp_path / "out", worker.Crews(here, alone, few=few), lambda _: None) == {
        "ok": 1,
        "failed": 0,
        "not reached": 0,
    }
    assert len(started) == starts


def test_a_scaled_rotation_from_the_store_asks_transformers_for_nothing(tmp_path: Path) -> None:
    yarn = {
        **json.loads(ROTATION["config.json"]),
        "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64},
    }
    folder = write_folder(tmp_path / "yarn", {"config.json": json.dumps(yarn).encode()})
    with local_pool.processes(jobs=1) as crew:
        crew.submit(evaluate.Task(checkpoint(place=str(folder)), "#3d7fd6", True), Store(tmp_path), "key").result()
        assert crew.make(large_libraries).result() == b"torch transformers"
    kernel = partial(stored_kernel, Store(tmp_path))
    with local_pool.processes(jobs=1) as crew:
        there = crew.make(kernel).result()
        assert crew.make(large_libraries).result() == b""
    assert there == evaluate.find(FolderFiles(folder, "here"))[0].form.kernel(8).tobytes()


def stored_kernel(kept: Store) -> bytes:
    outcome = kept.get("key")
    return outcome.readings[0].encoding.form.kernel(8).tobytes() if outcome is not None else b""


def test_a_pickle_is_not_loaded_for_an_answer(bert: evaluate.Task, alone: worker.Makers) -> None:
    assert asked([replace(bert, checkpoint=replace(bert.checkpoint, pickle=True))], alone)[0].own is None


def test_an_answer_that_comes_too_late_is_left_to_the_study(bert: evaluate.Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "ASKING_SECONDS", 0.0)
    with local_pool.processes(jobs=1, alone=True) as crew:
        assert asked([bert], crew)[0].own is None


def test_what_goes_wrong_while_asking_is_left_to_the_study(bert: evaluate.Task, alone: worker.Makers, tmp_path: Path) -> None:
    missing, deadly = (evaluate.Task(checkpoint(slug=str(place), place=place), "", True) for place in (str(tmp_path / "missing"), Deadly()))
    tasks = asked([missing, deadly, bert], alone)
    assert [task.own and task.own.name for task in tasks] == [None, None, "BertEmbeddings"]


def test_where_there_is_no_such_layer_none_is_looked_for_again(alone: worker.Makers, tmp_path: Path) -> None:
    [task] = evaluate.plan([checkpoint(place=str(write_folder(tmp_path / "rotation", ROTATION)))], offline=True)
    [told] = asked([task], alone)
    assert told.own is not None
    assert told.own.values is None


def test_bytes_that_came_for_an_answer_or_for_none_are_counted(bert: evaluate.Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: evaluate.Task) -> OwnLayer:
        responses.METER.add(1000)
        raise RowError("a broken file")

    monkeypatch.setattr(worker, "ask", fails)
    assert unpack(worker.answer(bert)) == (None, 1000)
    assert worker.attempt(replace(bert, own=OwnLayer(), received=1000)).received == 1000


def test_processes_share_what_a_collection_would_touch() -> None:
    with local_pool.processes(jobs=1) as crew:
        assert int(crew.make(frozen_objects).result()) > 10_000


def frozen_objects() -> bytes:
    return str(gc.get_freeze_count()).encode()
