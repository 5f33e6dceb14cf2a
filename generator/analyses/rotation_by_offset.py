"""Wavelengths of a rotation, and its kernel by offset."""

from collections.abc import Iterator

import numpy as np

from generator.contracts import (
    Analysis,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Oracle,
    Recomputed,
    Result,
    Results,
    Spot,
    Subject,
)
from generator.contracts.oracles import (
    ANGLES,
    FLOAT32,
    RESCALED,
    STRETCHED,
    cases,
    linear_by_4,
    llama_2,
    llama_3,
    llama_3_1,
    metrics,
    phi_3_mini,
    yarn_by_16,
)
from generator.contracts.wording import Wording
from generator.encodings import Rotation
from generator.encodings.rotations import frequencies_before
from generator.figures.charts import Curves, of_arrays
from generator.figures.scene import DOTTED, Dash, Line, StraightLine
from generator.figures.style import MUTED
from generator.numerics.arrays import Array, Floats, finite

WORDING = Wording("analyses/rotation_by_offset.md.jinja")
MOST_OFFSETS = 4096
SLOWED = 1.001  # Ratio of wavelengths from which a pair counts as slowed; less is rounding.


def wavelengths(frequencies: Floats) -> Floats:
    """Positions per full turn, 2π / frequency: (n_pairs,).

    frequencies: (n_pairs,), radians per position
    """
    return np.asarray(2.0 * np.pi / frequencies)


def compute(subject: Subject[Rotation]) -> Result:
    """Wavelengths before and after scaling, pairs with a full turn within the context or window,
    and the mean cosine by offset.

    Su et al. 2021 (arXiv 2104.09864), sections 3.3 and 3.4.3.
    arrays: wavelengths, unscaled (n_pairs,), in positions; profile (n_offsets,), within [−1, 1];
        context, within (), the visible part of it, in positions
    errors: NotApplicableError when the frequencies are not finite; RowError when transformers
        cannot compute them
    """
    form, of_patches = subject.encoding.form, subject.encoding.modality == "image"
    lengths = wavelengths(finite(form.frequencies, "the rotation"))
    plain = wavelengths(frequencies_before(form))
    turns = int(np.count_nonzero(lengths <= form.reach))
    changed = int(np.count_nonzero(lengths > plain * SLOWED))
    profile = form.by_offset(min(form.reach, MOST_OFFSETS))
    return Result(
        metrics=(
            Metric("pairs", "Rotation pairs", lengths.size),
            Metric("longest", "Longest wavelength", lengths.max(), "positions"),
            Metric("full_turns", "Pairs with a full turn within the context or window", turns),
            Metric(
                "full_share", "Share of pairs with a full turn", 100 * turns / lengths.size, "%"
            ),
            Metric(
                "context",
                "Context length",
                None if of_patches else form.n_positions,
                "positions",
                "it rotates patches along a side of an image, so the side counts",
            ),
            Metric(
                "sliding",
                "Attention window to one side, including the query",
                form.window,
                "positions",
                "the layers with this rotation do not share a window",
            ),
            Metric("slowed", "Pairs slowed by scaling", changed),
            Metric(
                "attention_factor", "Attention factor on sine and cosine", form.attention_factor
            ),
        ),
        arrays={
            "wavelengths": lengths,
            "unscaled": plain,
            "profile": profile,
            "context": np.array(form.n_positions),
            "within": np.array(form.reach),
        },
        findings=(_finding(turns, lengths, form, of_patches),),
    )


def _finding(turns: int, lengths: Floats, form: Rotation, of_patches: bool) -> Finding:
    limit = _limit(form, of_patches)
    in_order = turns > 0 and lengths[:turns].max() <= form.reach
    is_marked = in_order and turns < lengths.size
    spots = (Spot("wavelengths", turns - 1, float(lengths[turns - 1])),) if is_marked else ()
    text = WORDING("turn", turns=turns, n_pairs=lengths.size, limit=limit, reach=form.reach)
    weight = 0.4 if turns == lengths.size else 0.6
    metric = {"shown": ("context",), "context": (limit,), "sliding": (limit,)}.get(limit, ())
    return Finding(text, ("full_turns", "pairs", "full_share", *metric), weight, spots=spots)


def _limit(form: Rotation, of_patches: bool) -> str:
    """What limits the positions in which a pair may turn: context, window or side, texts, since
    longer ones have other frequencies, or what is shown of an unknown length.
    """
    if of_patches:
        return "side" if form.is_length_known else "shown_side"
    if form.reach == form.n_positions:
        return "context" if form.is_length_known else "shown"
    return "sliding" if form.reach == form.window else "texts"


def _before_scaling(label: Label, result: Result, _: int) -> Iterator[Line]:
    """Wavelengths before scaling, where it changes them."""
    if _is_scaled(result):
        name, unscaled = f"_{label.title}, before scaling", result.arrays["unscaled"]
        places = np.arange(unscaled.size)
        yield Line(places, unscaled, colour=label.colour, dash=DOTTED, name=name)


def _is_scaled(result: Result) -> bool:
    return not np.allclose(result.arrays["wavelengths"], result.arrays["unscaled"])


def _reach(label: Label, result: Result, _: Dash) -> tuple[StraightLine]:
    """Context length, window or side of the image."""
    return (StraightLine("y", float(result.arrays["within"]), colour=label.colour),)


def _explained(results: Results) -> Iterator[Line]:
    if any(_is_scaled(result) for result in results.values()):
        yield Line([], [], colour=MUTED, dash=DOTTED, name="before scaling")
    yield Line([], [], colour=MUTED, width=0.6, name=WORDING("wavelengths_limits"))


WAVELENGTHS = Curves(
    of_arrays("", "wavelengths"),
    x="rotation pair",
    y="wavelength (positions or patches)",
    log="y",
    height=3.4,
    dotted=True,
    below=_before_scaling,
    above=_reach,
    last=_explained,
)


def _profile(result: Result) -> tuple[Array, Array]:
    profile = result.arrays["profile"]
    return np.arange(1, profile.size), profile[1:]


ANALYSIS = Analysis(
    key="rotation_by_offset",
    stage="see",
    after="attention_from_the_bias_alone",
    headlines=(
        Headline("longest", WORDING),
        Headline("full_share", WORDING),
    ),
    forms=(Rotation,),
    compute=compute,
    figures=(
        FigureSpec(
            "wavelengths",
            WORDING.figure("wavelengths"),
            WAVELENGTHS,
            python=('plt.semilogy(arrays["rotation_by_offset.wavelengths"], "o")'),
            overlays=True,
        ),
        FigureSpec(
            "profile",
            WORDING.figure("profile"),
            Curves(
                _profile,
                x="offset (positions)",
                y="mean cosine of the angles",
                log="x",
                ylim=(-0.3, 1.02),
                style={"width": 1.0},
            ),
            python=('plt.semilogx(arrays["rotation_by_offset.profile"])'),
            overlays=True,
        ),
    ),
    per_figure=6,
    oracles=(
        *(
            Oracle(
                f"{name}: longest wavelength, pairs with a full turn, all pairs",
                printed,
                ANGLES,
                metrics(compute, "longest", "full_turns", "pairs"),
                given,
            )
            for name, given, printed in (
                ("Phi-3-mini", phi_3_mini, ("51,862", "31", "48")),
                ("Llama 2", llama_2, ("54,410", "46", "64")),
                ("Llama 3", llama_3, ("2,559,196", "35", "64")),
            )
        ),
        *cases(
            compute,
            RESCALED,
            llama_3_1,
            {"Llama 3.1: longest wavelength": {"longest": "20,473,564"}},
            unit="positions",
            margin=2.0,
            allowance=FLOAT32,
        ),
        *cases(
            compute,
            RESCALED,
            llama_3_1,
            {"Llama 3.1: pairs with a full turn": {"full_turns": "39"}},
        ),
        *cases(
            compute,
            Recomputed(
                "numpy",
                "four times the wavelength of Llama 2, the rule of Chen et al. 2023 (arXiv"
                " 2306.15595)",
            ),
            linear_by_4,
            {"Llama 2 with linear scaling by 4: longest wavelength": {"longest": "217,641"}},
            unit="positions",
        ),
        *cases(
            compute,
            STRETCHED,
            yarn_by_16,
            {"Llama 2 with YaRN scaling by 16: longest wavelength": {"longest": "870,562"}},
            unit="positions",
        ),
        *cases(
            compute,
            STRETCHED,
            yarn_by_16,
            {"Llama 2 with YaRN scaling by 16: attention factor": {"attention_factor": "1.277259"}},
        ),
    ),
    overlay=WAVELENGTHS.overlay("wavelength (positions)"),
)
