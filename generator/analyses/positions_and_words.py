"""Energy of the positions in the directions of word vectors, and the principal angles between the
two.
"""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from generator.contracts import (
    Analysis,
    Chance,
    FigureSpec,
    Finding,
    Headline,
    Label,
    Metric,
    Result,
    Spot,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import PositionTable
from generator.errors import NotApplicableError
from generator.figures.charts import Curves, diagonal
from generator.figures.scene import DOTTED, Dash, StraightLine
from generator.numerics.arrays import Array, Floats, finite, largest

WORDING = Wording("analyses/positions_and_words.md.jinja")
TENTH = 0.1
MARKED = 2.0  # times chance; from here on, positions prefer these directions
MAJORITY = 0.5  # Share of the energy that makes a finding weigh more.
MOST_VALUES = 2**28  # 2 GiB in float64
BLOCK = 8192  # words


def compute(subject: Subject[PositionTable]) -> Result:
    """Energy of the table along the singular directions of the word matrix, and principal angles
    between their main directions.

    Principal angles after Björck and Golub 1973.
    arrays: energy (d_model,), shares, by direction of the words, strongest first, equal shares for
        those that no word has; cosines (n_angles,), of the principal angles, largest first; chance
        (), share of a tenth of random directions
    errors: NotApplicableError without a word matrix, when widths differ, or a matrix is not finite,
        is zero, or is too large
    """
    if subject.word_vectors is None:
        raise NotApplicableError(subject.no_word_vectors)
    positions, word_vectors = (
        _normalised(subject.encoding.form.vectors, "the table"),
        _normalised(subject.word_vectors, "the word matrix"),
    )
    d_model = word_vectors.shape[1]
    if positions.shape[1] != d_model:
        raise NotApplicableError(
            f"word vectors have {d_model} dimensions, position vectors {positions.shape[1]}"
        )
    k = max(1, round(TENTH * d_model))
    of_words = singular_directions(word_vectors)
    energy = _energy(positions, of_words)
    cosines = principal_cosines(singular_directions(positions)[:k], of_words[:k])
    top, bottom, chance = float(energy[:k].sum()), float(energy[-k:].sum()), k / d_model
    return Result(
        metrics=(
            Metric(
                "top",
                "Energy in the tenth of directions that word vectors use most",
                100.0 * top,
                "%",
            ),
            Metric(
                "bottom",
                "Energy in the tenth of directions that word vectors use least",
                100.0 * bottom,
                "%",
            ),
            Metric(
                "overlap",
                "Directions shared with word vectors (mean squared cosine of the principal angles)",
                100.0 * float(np.mean(cosines**2)),
                "%",
            ),
            Metric("chance", "Share by chance (random directions)", 100.0 * chance, "%"),
            Metric(
                "chance_spread",
                "Standard deviation of that share by chance",
                100.0 * _spread_by_chance(k, d_model),
                "%",
            ),
            Metric(
                "smallest_angle",
                "Smallest principal angle",
                float(np.degrees(np.arccos(cosines[0]))),
                "°",
            ),
            Metric("tenth", "Directions in a tenth", k),
            Metric("vocabulary", "Rows of the word matrix", len(word_vectors)),
        ),
        arrays={"energy": energy, "cosines": cosines, "chance": np.array(chance)},
        findings=tuple(_findings(top, bottom, chance)),
    )


def _spread_by_chance(k: int, d_model: int) -> float:
    """Standard deviation of the mean squared cosine of the principal angles of two random spaces of
    ``k`` directions.
    """
    rest = d_model - k
    return sqrt(2.0 / ((d_model - 1) * (d_model + 2))) * rest / d_model if rest else 0.0


def _normalised(values: Floats, what: str) -> Floats:
    """``values`` (n_rows, n_columns) in units of the largest magnitude, a factor that drops out of
    every measure here.

    errors: NotApplicableError when they are not finite, are zero, or are too large
    """
    if values.size > MOST_VALUES:
        raise NotApplicableError(
            f"{what} has {values.size:,} values; at most {MOST_VALUES:,} are decomposed"
        )
    unit = largest(finite(values, what))
    if unit == 0.0:
        raise NotApplicableError(f"every value of {what} is zero")
    return np.asarray(values / unit)


def _energy(positions: Floats, of_words: Floats) -> Floats:
    """Shares of the energy of ``positions`` (n_positions, d_model) along ``of_words`` (n_used,
    d_model), then along all others: (d_model,).

    No basis of the others is better than another, so each has an equal share.
    """
    along, n_others = (
        np.sum((positions @ of_words.T) ** 2, axis=0),
        of_words.shape[1] - len(of_words),
    )
    beside = max(float(np.sum(positions**2) - along.sum()), 0.0)
    energy = np.append(along, np.full(n_others, beside / max(n_others, 1)))
    return np.asarray(energy / energy.sum())


def singular_directions(rows: Floats) -> Floats:
    """Right singular vectors of singular values above rounding, as rows, strongest first: (rank,
    d_model).

    Those of a triangular factor of the matrix, built block by block, so that a large matrix is
    never copied.
    rows: (n_rows, d_model)
    """
    triangle = rows[:0]
    for start in range(0, len(rows), BLOCK):
        triangle = np.asarray(
            np.linalg.qr(np.vstack([triangle, rows[start : start + BLOCK]]), mode="r")
        )
    _, values, directions = np.linalg.svd(triangle, full_matrices=False)
    return np.asarray(directions[values > values[0] * max(rows.shape) * np.finfo(float).eps])


def principal_cosines(first: Floats, second: Floats) -> Floats:
    """Cosines of the principal angles between two subspaces, σ(UᵀV), largest first: (min(k, m),),
    within [0, 1].

    first: (k, d_model), second: (m, d_model), orthonormal rows
    """
    return np.clip(np.linalg.svd(first @ second.T, compute_uv=False), 0.0, 1.0)


def _findings(top: float, bottom: float, chance: float) -> Iterator[Finding]:
    ends = (
        ("top", top, Spot("energy", 100.0 * chance, 100.0 * top)),
        ("bottom", bottom, Spot("energy", 100.0 * (1.0 - chance), 100.0 * (1.0 - bottom))),
    )
    for key, share, spot in ends:
        if share >= MARKED * chance:
            is_most = share >= MAJORITY
            text = WORDING(key, share=share, chance=chance, is_most=is_most)
            yield Finding(text, (key, "chance"), 0.75 if is_most else 0.45, spots=(spot,))


def _cumulative(result: Result) -> tuple[Array, Array]:
    cumulative = 100.0 * np.concatenate([[0.0], np.cumsum(result.arrays["energy"])])
    return np.linspace(0, 100, cumulative.size), cumulative


def _cosines(result: Result) -> tuple[Array, Array]:
    cosines = result.arrays["cosines"]
    return np.arange(1, cosines.size + 1), cosines


def _of_random(label: Label, result: Result, _: Dash) -> tuple[StraightLine]:
    return (StraightLine("y", _largest(result), colour=label.colour, width=0.8, dash=DOTTED),)


def largest_by_chance(first: float, second: float) -> float:
    """Largest cosine between two random subspaces of these shares of very many dimensions, within
    [0, 1].

    Wachter 1980, Annals of Statistics 8.
    """
    return (
        1.0
        if first + second >= 1.0
        else float(np.sqrt(first * (1.0 - second)) + np.sqrt(second * (1.0 - first)))
    )


def _largest(result: Result) -> float:
    """``largest_by_chance`` of as many directions of positions as there are angles, and of a tenth
    for words.
    """
    return largest_by_chance(
        result.arrays["cosines"].size / result.arrays["energy"].size, float(result.arrays["chance"])
    )


def _summary(result: Result) -> dict[str, Any]:
    return {"cosines": result.arrays["cosines"], "largest": _largest(result)}


ANALYSIS = Analysis(
    key="positions_and_words",
    about="values",
    stage="measure",
    after="order_probe",
    answer=Headline(
        "overlap", WORDING, chance=Chance("chance", 100.0, shuffles=("chance_spread", 1))
    ),
    forms=(PositionTable,),
    compute=compute,
    figures=(
        FigureSpec(
            "energy",
            WORDING.figure("energy"),
            Curves(
                _cumulative,
                x="directions, most used by word vectors first (%)",
                y="cumulative energy of positions (%)",
                xlim=(0, 100),
                ylim=(0, 101),
                height=3.6,
                rules=(diagonal(0.8),),
            ),
            python=('plt.plot(100 * np.cumsum(arrays["positions_and_words.energy"]))'),
            overlays=True,
        ),
        FigureSpec(
            "angles",
            WORDING.figure("angles", _summary),
            Curves(
                _cosines,
                x="principal angle, smallest first",
                y="cosine of the angle",
                ylim=(0.0, 1.03),
                style={"marker": "."},
                above=_of_random,
            ),
            python=('plt.plot(arrays["positions_and_words.cosines"], ".-")'),
            overlays=True,
        ),
    ),
)
