"""The order of one build: what is the same for every list is begun while checkpoints are evaluated."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from generator.contracts import Atlas, Maker, PageKind, discovery
from generator.pipeline import build, evaluate, local_pool, worker
from generator.pipeline.result_store import Store
from generator.site import pages
from generator.site.pages import checked
from tests.comparing import small_atlas
from tests.support import checkpoint
from tests.synthetic import NOTHING, write_folder


def begun(atlas: Atlas) -> set[str]:
    """Names of all that other processes make for the pages of ``atlas``."""
    names: set[str] = set()

    def remember(name: str, make: Maker) -> Maker:
        names.add(name)
        return make

    every = [page for kind in discovery.load(pages, PageKind) for page in kind.pages(replace(atlas, remember=remember))]
    return names | {f"{figure.path} {figure.made_of}" for page in every for figure in page.figures}


def test_what_is_begun_while_rows_are_evaluated_is_wanted_whatever_comes_of_them(tmp_path: Path) -> None:
    atlas = small_atlas(tmp_path)
    before = begun(replace(atlas, outcomes=()))
    assert {f"figures/schemes/{scheme.key} {(scheme.key,)}" for scheme in atlas.schemes} | {checked.GIVEN} <= before
    assert before < begun(atlas)


@dataclass(frozen=True)
class Recording:
    """A pool that notes in ``order`` what is submitted to it."""

    pool: worker.Pool
    order: list[str]

    def submit(self, task: evaluate.Task, kept: Store, key: str) -> "Future[worker.Done]":
        self.order.append("row")
        return self.pool.submit(task, kept, key)

    def make(self, maker: Maker) -> "Future[bytes]":
        self.order.append("other")
        return self.pool.make(maker)

    def reason(self, error: BaseException) -> str:
        return self.pool.reason(error)


def test_it_is_begun_behind_the_rows_and_before_any_has_finished(tmp_path: Path) -> None:
    [task] = evaluate.plan([checkpoint(place=str(write_folder(tmp_path / "nothing", NOTHING)))], offline=True)
    order: list[str] = []

    @contextmanager
    def recording(n_rows: int) -> Iterator[Recording]:
        with local_pool.processes(n_rows, jobs=1) as pool:
            yield Recording(pool, order)

    build.build([task], tmp_path / "out", worker.Pools(recording), lambda event: order.append(event.name))
    assert order.index("row") < order.index("other") < order.index("finished")
