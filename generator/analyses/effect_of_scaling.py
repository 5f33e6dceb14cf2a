"""Effect of a scaling on the wavelengths of a rotation."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Metric,
    Oracle,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.oracles import RESCALED, STRETCHED, array, cases, llama_3_1, yarn_by_16
from generator.contracts.wording import Wording
from generator.encodings import Rotation
from generator.encodings.rotations import OF_WHOLE_HEAD, frequencies_before
from generator.errors import NotApplicableError
from generator.figures.charts import Curves, of_arrays
from generator.figures.scene import DOTTED, StraightLine
from generator.numerics.arrays import Floats, finite

WORDING = Wording("analyses/effect_of_scaling.md.jinja")
# Ratios closer than this are equal: the initialisers of transformers work in float32.
ROUNDING = 1e-3


def compute(subject: Subject[Rotation]) -> Result:
    """Ratio of wavelengths after and before scaling, and the pairs left unchanged, slowed fully, or
    in between.

    arrays: ratios (n_pairs,); before (n_pairs,), wavelengths before scaling, in positions;
        unchanged, full (n_pairs,), bool
    errors: NotApplicableError without a scaling, for one that stops pairs and slows none, or when
        the frequencies are not finite; RowError when transformers cannot compute them
    """
    form = subject.encoding.form
    if form.rope_type == "default":
        raise NotApplicableError("it has no scaling, so frequencies follow from the base alone")
    after = finite(form.frequencies, "the rotation")
    before = frequencies_before(form)
    ratios = before / after  # (n_pairs,)
    unchanged, slowed = _kinds(ratios)
    if unchanged.all() and form.rope_type == OF_WHOLE_HEAD:
        raise NotApplicableError(
            f"“{form.rope_type}” scaling turns {after.size} of {form.head_dim // 2} pairs and slows"
            " none"
        )
    n_between = ratios.size - int(np.count_nonzero(unchanged | slowed))
    return Result(
        metrics=(
            Metric("unchanged", "Pairs unchanged", unchanged.sum()),
            Metric("full", "Pairs slowed fully", slowed.sum()),
            Metric("between", "Pairs in between", n_between),
            Metric("largest", "Largest ratio of wavelengths (after ÷ before)", ratios.max()),
            Metric(
                "largest_long",
                "Largest ratio in the longest texts",
                max(form.long_factors, default=float(ratios.max())),
            ),
            Metric(
                "smallest_long",
                "Smallest ratio in the longest texts",
                min(form.long_factors, default=float(ratios.min())),
            ),
            Metric(
                "attention_factor", "Attention factor on sine and cosine", form.attention_factor
            ),
        ),
        arrays={
            "ratios": ratios,
            "before": 2.0 * np.pi / before,
            "unchanged": unchanged,
            "full": slowed,
        },
        findings=(_finding(form, ratios, unchanged, slowed), *_of_long_texts(form)),
    )


def _kinds(ratios: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are unchanged, and pairs slowed by the largest ratio: (n_pairs,), bool, disjoint.

    ratios: (n_pairs,)
    """
    unchanged = np.abs(ratios - 1.0) <= ROUNDING
    return unchanged, ~unchanged & (ratios > 1.0) & (ratios >= ratios.max() * (1.0 - ROUNDING))


def _finding(form: Rotation, ratios: Floats, unchanged: np.ndarray, slowed: np.ndarray) -> Finding:
    scaling, n_pairs, factor = form.rope_type, unchanged.size, float(ratios.max())
    if unchanged.all():
        text = WORDING("unchanged", scaling=scaling, n_pairs=n_pairs)
        return Finding(text, ("unchanged",), 0.5)
    if slowed.all():
        text = WORDING("stretched", scaling=scaling, n_pairs=n_pairs, factor=factor)
        return Finding(text, ("full", "largest"), 0.4)
    text = WORDING(
        "uneven",
        scaling=scaling,
        n_pairs=n_pairs,
        n_unchanged=int(np.count_nonzero(unchanged)),
        are_fastest=_are_first(unchanged),
        n_slowed=int(np.count_nonzero(slowed)),
        are_slowest=_are_first(slowed[::-1]),
        n_between=n_pairs - int(np.count_nonzero(unchanged | slowed)),
        factor=factor,
        only_slows=bool(ratios.min() >= 1.0 - ROUNDING),
    )
    ends = [np.flatnonzero(unchanged)[-1:], np.flatnonzero(slowed)[:1]]
    spots = tuple(Spot("pairs", float(pair), float(ratios[pair])) for pair in np.concatenate(ends))
    return Finding(text, ("unchanged", "full", "between", "largest"), 0.6, spots=spots)


def _of_long_texts(form: Rotation) -> Iterator[Finding]:
    """A finding on the factors of long texts, where these have their own."""
    if form.long_factors:
        low, high = min(form.long_factors), max(form.long_factors)
        text = WORDING("long_texts", short=form.short, low=low, high=high)
        yield Finding(text, ("largest_long", "smallest_long"), 0.6)


def _are_first(which: np.ndarray) -> bool:
    """Whether no pair before one of ``which`` (n_pairs,), bool, is left out."""
    return bool(which[: np.count_nonzero(which)].all())


def _upto_highest(results: Results) -> tuple[float, float]:
    return 0.0, 1.08 * max(float(result.arrays["ratios"].max()) for result in results.values())


RATIOS = Curves(
    of_arrays("", "ratios"),
    x="rotation pair",
    y="wavelength, after ÷ before",
    ylim=_upto_highest,
    rules=(StraightLine("y", 1.0, width=0.8, dash=DOTTED),),
    dotted=True,
)


def _varies(result: Result) -> bool:
    """Whether pairs differ: of one ratio for all, a sentence says everything."""
    return not result.arrays["unchanged"].all() and not result.arrays["full"].all()


ANALYSIS = Analysis(
    key="effect_of_scaling",
    also=("YaRN", "NTK", "LongRoPE"),
    stage="measure",
    after="rotation_by_offset",
    answer=Headline("largest_long", WORDING),
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            "pairs",
            WORDING.figure("pairs"),
            RATIOS,
            python=('plt.plot(arrays["effect_of_scaling.ratios"])'),
            overlays=True,
            varies=_varies,
        ),
        FigureSpec(
            "wavelengths",
            WORDING.figure("wavelengths"),
            replace(
                RATIOS,
                points=of_arrays("before", "ratios"),
                x="wavelength before scaling (positions)",
                log="x",
            ),
            python=(
                'plt.semilogx(arrays["effect_of_scaling.before"], '
                'arrays["effect_of_scaling.ratios"])'
            ),
            overlays=True,
            varies=_varies,
        ),
    ),
    oracles=(
        *cases(
            compute,
            RESCALED,
            llama_3_1,
            {
                "Llama 3.1: pairs unchanged, slowed eightfold, between": {
                    "unchanged": "29",
                    "full": "29",
                    "between": "6",
                }
            },
        ),
        Oracle(
            "Llama 3.1: ratio of wavelengths of the six between",
            ("1.2075", "1.5534", "2.0263", "2.6945", "3.6843", "5.2573"),
            RESCALED,
            array(compute, "ratios", *range(29, 35)),
            llama_3_1,
        ),
        *cases(
            compute,
            STRETCHED,
            yarn_by_16,
            {
                "Llama 2 with YaRN scaling by 16: pairs unchanged, slowed fully, between": {
                    "unchanged": "21",
                    "full": "18",
                    "between": "25",
                }
            },
        ),
    ),
)
