"""The page of a training run: its sentences hold where they are printed, and it stays small."""

from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from generator.contracts import Run, RunEncoding, RunMember, RunMetric, RunUse
from generator.pipeline.use import all_measures
from generator.site import render
from generator.site.pages import training_run
from generator.site.runs import courses
from generator.site.runs import findings as run_findings
from generator.site.runs.run_figures import Kernels
from generator.site.runs.side_by_side import SideBySide, side_by_side
from tests.small_site import atlas_of
from tests.support import flowing

STEPS = (0, 10, 20, 30)


Row = tuple[float | None, ...]
NONE: tuple[Row, ...] = ((),) * 4


def run_with(*values: Row, kernel: tuple[Row, ...] = NONE) -> tuple[Run, list[RunMetric]]:
    """A run of four checkpoints whose encoding has these metrics."""
    metrics = tuple(
        RunMetric(f"kernel.m{index}", f"Measure {index}", "%", series)
        for index, series in enumerate(values)
    )
    names = ("encoder-learned", "encoder", "encoder", "learned", "PositionTable")
    encoding = RunEncoding(*names, "cosine, of vectors", metrics, kernel)
    members = tuple(RunMember(step, f"step{step}", "ok") for step in STEPS)
    return Run("run", "A run", "folder", "runs/a", members, (encoding,)), list(metrics)


def sentences(*values: Row, kernel: tuple[Row, ...] = NONE) -> list[str]:
    run, metrics = run_with(*values, kernel=kernel)
    return run_findings.sentences(run, run.encodings[0], metrics)


MOST = "Most of the change came by step"
# Values of a metric, and its sentence, if there is one.
TOLD: list[tuple[Row, str]] = [
    ((1.0, 2.0, 8.0, 9.0), f"Measure 0 rose from 1 to 9%. {MOST} 20."),
    ((9.0, 8.0, 2.0, 1.0), f"Measure 0 fell from 9 to 1%. {MOST} 20."),
    ((0.001, 0.0, 0.0, 100.0), "Measure 0 rose from 0.001 to 100%."),
    ((1.0, 9.0, 1.0, 9.0), "Measure 0 rose from 1 to 9%."),
    ((1.0, 20.0, 8.0, 9.0), "Measure 0 rose from 1 to 9%. It was highest at step 10 (20%). "
     f"{MOST} 10."),
    ((1.0, 9.3, 8.0, 9.0), f"Measure 0 rose from 1 to 9%. {MOST} 10."),
    ((None, 1.0, 2.0, 4.0), "Measure 0 rose from 1 to 4% between step 10 and step 30."),
    ((5.0, 5.0, 5.0, 5.0), ""), ((5.0, 6.0, 7.0, 5.001), ""),
    ((None, None, None, 5.0), ""), ((None, None, None, None), ""),
    ((0.5, 0.5, 2.0, 12.0), "Measure 0 rose from 0.5 to 12%."),
    ((-1.0, 0.0, 0.0, 3.0), "Measure 0 rose from −1 to 3%."),
]  # fmt: skip


@pytest.mark.parametrize(("values", "expected"), TOLD)
def test_a_metric_is_told_by_its_ends_where_they_differ(values: Row, expected: str) -> None:
    assert sentences(values) == ([expected] if expected else [])


def test_a_metric_that_repeats_the_kernel_is_left_out() -> None:
    rows = ((1.0, 0.2, 0.1), (1.0, 0.3, 0.1), (1.0, 0.4, 0.1), (1.0, 0.8, 0.1))
    found = sentences((0.2, 0.3, 0.4, 0.8), (0.2, 0.3, 0.4, 0.9), kernel=rows)
    assert [text.partition(" rose")[0] for text in found] == [
        "Between step 0 and step 30, the mean cosine at distance 1",
        "Measure 1",
    ]


def test_a_title_with_a_comma_ends_with_one() -> None:
    run, [metric] = run_with((1.0, 1.0, 1.0, 2.0))
    titled = replace(metric, title="Components, mean-centred")
    found = run_findings.sentences(run, run.encodings[0], [titled])
    assert found == ["Components, mean-centred, rose from 1 to 2%."]


def test_what_changed_most_comes_first() -> None:
    found = sentences((10.0, 10.0, 10.0, 11.0), (1.0, 1.0, 1.0, 5.0))
    assert [text.partition(" rose")[0] for text in found] == ["Measure 1", "Measure 0"]


def test_the_kernel_is_told_at_two_distances() -> None:
    rows = ((), (1.0, 0.004, 0.1, 0.1), (1.0, 0.5, 0.2, 0.0), (1.0, 0.8, 0.2, -0.25))
    [text] = sentences(kernel=rows)
    assert (
        text
        == "Between step 10 and step 30, the mean cosine at distance 1 rose from 0.0040 to 0.80,"
        " and that at distance 3 fell from 0.10 to −0.25."
    )


def test_two_checkpoints_are_enough_for_a_kernel_and_its_axis_holds_both() -> None:
    rows = ((1.0, 0.5, 0.25), (), (), (1.0, 0.75, -0.25))
    [text] = sentences(kernel=rows)
    assert text.startswith(
        "Between step 0 and step 30, the mean cosine at distance 1 rose from 0.50"
    )
    values = np.array([[1.0, 0.75, -0.25]])
    low, high = Kernels(STEPS, values, "cosine").limits
    assert -0.25 - low == pytest.approx(high - 1.0)
    assert 0.0 < high - 1.0 < 0.2
    assert Kernels(STEPS, 9.0 * values, "cosine").limits == pytest.approx((9.0 * low, 9.0 * high))


def test_without_two_kernels_there_is_no_sentence() -> None:
    cases: tuple[tuple[Row, ...], ...] = (
        NONE, ((1.0,), (), (), (0.5,)),
        ((), (), (), (1.0, 0.5, 0.2)), ((1.0, 0.5), (), (), (1.0, 0.5)),
        ((1.0, None, 0.5), (), (), (1.0, 0.2, 0.1)),
    )  # fmt: skip
    assert [rows for rows in cases if sentences(kernel=rows)] == []


def text_of(*runs: Run) -> str:
    atlas = replace(atlas_of(date="2020-02-20", runs=runs), measures=all_measures())
    pages = training_run.pages(atlas)
    return render.render(atlas, pages)[pages[-1].path].decode()


def test_markup_in_a_run_is_shown_as_it_is() -> None:
    run, _ = run_with((1.0, 2.0, 3.0, 4.0))
    text = text_of(replace(run, title="<b>x</b>", notes="[y](javascript:z)"))
    assert "<b>x" not in text
    assert "](javascript" not in text


def test_an_unknown_scheme_is_named_and_not_linked() -> None:
    run, _ = run_with((1.0, 2.0, 3.0, 4.0))
    text = text_of(replace(run, encodings=(replace(run.encodings[0], scheme="unheard"),)))
    assert "unheard, encoder" in flowing(text)
    assert "schemes/unheard" not in text


def course(key: str, *values: float | None, error: float | None = 1.0, first: int = 0) -> list[str]:
    """Sentences of a model with these values of a metric of heads or of hidden states."""
    errors = tuple(None if value is None else error for value in values)
    use = RunUse(
        "decoder",
        (RunMetric(key, "", "%", values), RunMetric(f"{key}_error", "", "%", errors)),
    )
    members = tuple(RunMember(step + first, f"step{step}", "ok") for step in STEPS)
    run = Run("run", "A run", "folder", "runs/a", members, (), uses=(use,))
    found = (courses.sentences(run, use, measure) for measure in all_measures())
    return [text for texts in found for text in texts]


SINKS, SHARE, RANK = "heads.sinks", "probe.share_highest", "probe.rank_last"


@pytest.mark.parametrize(("key", "values", "expected"), [
    (SINKS, (2.0, 2.5, 9.0, 20.0), "Attention sinks appear by step 20: from then on, more heads are"
     " sinks on random tokens than the 2 ± 1% at step 0. At step 30, 20 ± 1% are."),
    (SINKS, (2.0, 9.0, 3.0, 20.0), "Attention sinks appear by step 30"),
    (SINKS, (2.0, 2.5, 5.0, 6.0), "On random tokens, no more heads are attention sinks at any of 4"
     " steps than at step 0, where 2 ± 1% of heads are."),
    (SINKS, (2.0, 9.0, 9.0, 3.0), ""), (SINKS, (None, 2.0, 9.0, 9.0), ""),
    (SHARE, (10.0, 40.0, 41.0, 20.0), "The highest share of a layer's variance that is by position"
     " reaches its height, 41 ± 1%, by step 10; at step 0, it is 10 ± 1%, and at step 30,"
     " 20 ± 1%."),
    (SHARE, (10.0, 20.0, 39.0, 41.0), "The highest share of a layer's variance that is by position"
     " reaches its height, 41 ± 1%, by step 20; at step 0, it is 10 ± 1%."),
    (SHARE, (50.0, 51.0, 9.0, 2.0), "The highest share of a layer's variance that is by position"
     " never exceeds that of step 0, 50 ± 1%, and falls to 2 ± 1% by step 30."),
    (SHARE, (50.0, 51.0, 52.0, 50.0), ""),
    (RANK, (11.0, 9.0, 5.0, 2.0), "After the last layer, the stable rank of the positions' means"
     " falls from 11 ± 1 at step 0 to 2 ± 1 at step 30."),
    (RANK, (11.0, 2.0, 2.0, 8.0), ""),
])  # fmt: skip
def test_what_a_model_does_over_the_steps_is_beyond_its_errors(
    key: str, values: Row, expected: str
) -> None:
    found = course(key, *values)
    assert [text[: len(expected)] for text in found] == ([expected] if expected else [])
    assert course(key, *values, error=None) == []
    assert course(key, *values, first=1) == []  # Step 0 is missing.


def test_each_measure_of_a_model_has_a_figure_beside_that_of_another_run() -> None:
    run, _ = run_with((1.0, 2.0, 3.0, 4.0))
    metrics = [
        RunMetric(f"{key}{end}", key, "%", values)
        for key in (SINKS, SHARE)
        for end, values in (("", (0.0, 1.0, 9.0, 20.0)), ("_error", (0.0, 0.1, 0.1, 0.1)))
    ]
    use = RunUse("decoder", tuple(metrics))
    lower = replace(use, metrics=tuple(
        replace(one, values=(0.0, 1.0, 2.0, 19.8 if one.key == SINKS else 0.1)) for one in metrics
    ))  # fmt: skip
    runs = (replace(run, uses=(use,)), replace(run, slug="other", title="Other", uses=(lower,)))
    beside = side_by_side(runs, set(), all_measures())
    assert [figure.spec.key for figure in beside.figures] == ["use-probe", "use-heads"]
    assert beside.sentences == (f"{SHARE} at the last step: 0.1% (Other) and 20% (A run).",)
    text = text_of(*runs[:1])
    for part in (
        "### Position in hidden states",
        "figures/runs/run/use-decoder-heads",
        "by step 10",
    ):
        assert part in text, part


def test_a_long_run_of_many_encodings_stays_small() -> None:
    values = tuple(None if step % 2 else float(step) for step in range(256))
    known = tuple(float(distance) / 7.0 for distance in range(65))
    run, _ = run_with(*[values] * 300, kernel=((known, ()) * 128))
    members = tuple(
        RunMember(step, f"step{step}", "failed", "x" * 300)
        if step % 2
        else RunMember(step, f"step{step}", "ok")
        for step in range(256)
    )
    encodings = tuple(replace(run.encodings[0], key=f"part-{index}") for index in range(40))
    text = text_of(replace(run, members=members, encodings=encodings))
    assert "This page shows 3 of 40 encodings" in text
    assert "The first 40 measures" in text


def test_a_run_of_one_checkpoint_has_its_page() -> None:
    run, _ = run_with((1.0, None, None, None), kernel=((1.0, 0.5, 0.2), (), (), ()))
    encoding = replace(run.encodings[0], kernel=((1.0, 0.5, 0.2),), metrics=())
    text = text_of(replace(run, members=run.members[:1], encodings=(encoding,)))
    assert "1 checkpoint of one model" in flowing(text)


def test_a_reason_is_said_once_for_all_steps_that_have_it() -> None:
    run, _ = run_with((1.0, 2.0, 3.0, 4.0))
    told = ("runs/a/step0/x.bin: broken", "runs/a/step10/x.bin: broken", "runs/a/step20: gone")
    failed = tuple(
        replace(member, status="failed", reason=reason)
        for member, reason in zip(run.members, told, strict=False)
    )
    run = replace(run, members=(*failed, run.members[-1]))
    assert run_findings.reasons(run) == [("steps 0, 10", "x.bin: broken"), ("step 20", "gone")]
    text = flowing(unescape(text_of(run)))
    assert (
        "The figures have gaps at these steps. Steps 0, 10: x.bin: broken. Step 20: gone." in text
    )


def test_several_runs_have_a_list_on_which_they_are_compared() -> None:
    run, _ = run_with((1.0, 2.0, 3.0, 4.0), kernel=((1.0, 0.5),) * 4)
    atlas = atlas_of(runs=(run, replace(run, slug="other", title="Other")))
    pages = training_run.pages(atlas)
    assert [page.path for page in pages] == ["runs/index.md", "runs/run.md", "runs/other.md"]
    text = render.render(atlas, pages[:1])["runs/index.md"].decode()
    for part in ("other.html", "## Side by side", "figures/runs/all-kernels"):
        assert part in text, part


def beside(*values: float, main: str = "kernel.m0") -> SideBySide:
    """Runs that end with these values, each at every second step of the one before it."""
    runs = []
    for number, value in enumerate(values):
        run, _ = run_with(
            (0.0, 1.0, 2.0, value), kernel=((1.0, 0.0), (1.0, 0.1), (1.0, 0.2), (1.0, value / 100))
        )
        members = tuple(replace(one, step=one.step * 2**number) for one in run.members)
        runs.append(replace(run, slug=f"run-{number}", title=f"Run {number}", members=members))
    return side_by_side(runs, {main})


def test_runs_stand_side_by_side_with_the_ends_that_differ() -> None:
    found = beside(4.0, 8.0, 6.0)
    assert found.sentences == ("Measure 0 at the last step: 4% (Run 0) and 8% (Run 1).",)
    kernels, measures = (figure.spec.draw({}) for figure in found.figures)
    lines = measures.axes[0].lines
    ends = [np.asarray(line.get_xydata())[-1].tolist() for line in lines]
    assert ends == [[30, 4], [60, 8], [120, 6]]
    # Steps of the run with the fewest checkpoints; the others at their nearest.
    assert [ax.get_title() for ax in kernels.axes] == ["step 0", "step 10", "step 20", "step 30"]
    last = kernels.axes[3].lines[1:]  # After the line at zero.
    assert [float(np.asarray(line.get_ydata())[1]) for line in last] == [0.04, 0.1, 0.1]


@pytest.mark.parametrize("values", [(8.0, 8.0), (8.0, 7.5)])
def test_runs_that_end_alike_get_no_sentence(values: tuple[float, ...]) -> None:
    assert beside(*values).sentences == ()


def test_what_one_run_alone_has_is_not_compared() -> None:
    assert [figure.spec.key for figure in beside(4.0, 8.0, main="kernel.m1").figures] == ["kernels"]
    assert beside(4.0).figures == ()


def test_more_runs_than_there_are_colours_are_counted() -> None:
    found = beside(*range(1, 11))
    assert found.n_left_out == 2
    assert len(found.figures[1].spec.draw({}).axes[0].lines) == 8
