"""The further pictures of rotary encodings: which components turn together, and which turn."""

import json
from pathlib import Path

import numpy as np

from generator.checkpoints.model.families import SECTIONS_OF_CODE
from generator.contracts import FurtherPicture, Numbers
from generator.encodings import BASE, Rotation
from generator.figures.canvas import Figure
from generator.figures.lines import hidden, legend_below
from generator.figures.panels import colour_bar, image, image_panels, panels
from generator.figures.scene import Line, Panel, Text, add
from generator.figures.style import PAPER, SEQUENTIAL, SERIES
from generator.numerics.arrays import Array, Floats

# Queries and keys of a head before the rotation, (n_tokens, head_dim), in halves: of SmolLM2, whose
# test writes the file.
FILE = Path(__file__).with_name("head.json")
HEAD = json.loads(FILE.read_text(encoding="utf-8"))
ORDERS = ("halves", "neighbours")
COMPONENTS = 8  # of the head in the drawing
PARTS = ("all, neighbours", "all, halves", "¼, neighbours", "¼, halves", "¼ proportional")
AXES = ("time", "height", "width")
# The family of each model, and whether its code puts time behind height and width.
SPLITS = {"Qwen2-VL": ("qwen2_vl_text", False), "Qwen3-VL": ("qwen3_vl_text", False),
          "ERNIE 4.5 VL": ("ernie4_5_vl_moe_text", True)}  # fmt: skip


def pair_of(order: str, n_components: int) -> Array:
    """The pair of each component: (n_components,), int."""
    places = np.arange(n_components)
    return places // 2 if order == "neighbours" else places % (n_components // 2)


def to_halves(n_components: int) -> Array:
    """Where each component of neighbours is in halves: (n_components,), int."""
    places = np.arange(n_components)
    return places // 2 + places % 2 * (n_components // 2)


def attention(queries: Floats, keys: Floats, base: float, order: str) -> Floats:
    """Weights of causal attention, NaN for what is not seen: (n_tokens, n_tokens).

    queries, keys: (n_tokens, head_dim), before the rotation
    """
    n_tokens, head_dim = queries.shape
    form = Rotation(base, head_dim, head_dim, n_tokens)
    turns = np.exp(1j * np.arange(n_tokens)[:, None] * form.frequencies)
    places = np.argsort(pair_of(order, head_dim), kind="stable").reshape(-1, 2)
    # Each pair is a complex number; the product of two vectors is the real part of this.
    turned = [(rows[:, places[:, 0]] + 1j * rows[:, places[:, 1]]) * turns
              for rows in (queries, keys)]  # fmt: skip
    logits = (turned[0] @ turned[1].conj().T).real / np.sqrt(head_dim)
    weights = np.tril(np.exp(logits - logits.max()))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return np.where(np.tri(n_tokens) > 0.0, shares, np.nan)


def axis_of(sections: tuple[int, int, int], takes_turns: bool, by_time_last: bool) -> Array:
    """The axis of each pair, an index into ``AXES``: (n_pairs,), int.

    sections: pairs by time, height and width; of a split whose last is time by height, width, time
    """
    if by_time_last:
        return np.array([*[1, 2] * sections[0], *[0] * sections[2]])
    if not takes_turns:
        return np.repeat(np.arange(3), sections)
    axes = np.zeros(sum(sections), dtype=np.int64)
    for axis in (1, 2):
        axes[axis : 3 * sections[axis] : 3] = axis
    return axes


def _orders() -> Numbers:
    """The pair of each component in both orders, and where each of neighbours is in halves."""
    pairs = {order: pair_of(order, COMPONENTS) for order in ORDERS}
    return {**pairs, "to_halves": to_halves(COMPONENTS)}


def _draw_orders(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, columns=1, height=2.0)
    for place, (pair, other) in enumerate(
        zip(numbers["neighbours"], numbers["to_halves"], strict=True)
    ):
        ends = ((place, 1.0), (int(other), 0.0))
        x, y = zip(*ends, strict=True)
        name = hidden(f"component {place} of neighbours")
        add(axes, Line(x, y, colour=SERIES[pair], name=name, marker="o", size=19.0, width=2.0))
        for at in ends:
            add(axes, Text(str(at[0]), at, justify="center", baseline="center", colour=PAPER))
    axes.set_yticks([1, 0], ["neighbours", "halves"])
    axes.set(xlim=(-0.6, COMPONENTS - 0.4), ylim=(-0.35, 1.35), xticks=[])
    return figure


def _readings() -> Numbers:
    """Attention of the head in both readings: (n_tokens, n_tokens) each."""
    queries, keys = (np.array(HEAD[name]) for name in ("queries", "keys"))
    return {order: attention(queries, keys, HEAD["base"], order) for order in ORDERS}


def _draw_readings(numbers: Numbers) -> Figure:
    titles = {"halves": "halves, as trained", "neighbours": "read as neighbours"}
    shown = [Panel(title, numbers[order]) for order, title in titles.items()]
    labels = ("key, in the same order", "query", "attention weight")
    figure = image_panels(shown, (0.0, 1.0), SEQUENTIAL, labels, square=True)
    for axes in figure.axes[:2]:
        axes.set_xticks([])
        axes.set_yticks(range(len(HEAD["tokens"])), HEAD["tokens"])
    return figure


def _parts() -> Numbers:
    """Logarithm of the positions of a turn of each component of a head of 64, NaN for what does not
    turn: (5, 64), in the order of ``PARTS``.
    """
    size, turned = 64, 16
    whole = Rotation(BASE, size, size, 2).frequencies
    part = Rotation(BASE, turned, size, 2).frequencies
    rows = np.full((len(PARTS), size), np.nan)
    for row, (order, frequencies) in enumerate(
        (order, frequencies) for frequencies in (whole, part) for order in ORDERS[::-1]
    ):
        n_components = 2 * len(frequencies)
        rows[row, :n_components] = frequencies[pair_of(order, n_components)]
    rows[-1, pair_of("halves", size) < turned // 2] = np.tile(whole[: turned // 2], 2)
    return {"log10_wavelengths": np.log10(2.0 * np.pi / rows)}


def _draw_parts(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, columns=1, height=2.3)
    shown = image(axes, numbers["log10_wavelengths"], (0.5, 5.0), SEQUENTIAL)
    axes.set_yticks(range(len(PARTS)), PARTS)
    axes.set(xlabel="component of the head")
    colour_bar(figure, shown, [axes], "log₁₀ of positions\nper turn")
    return figure


def _splits() -> Numbers:
    """The axis of each pair: (n_pairs,) of each model in ``SPLITS``."""
    return {
        name: axis_of(*SECTIONS_OF_CODE[family], by_time_last)
        for name, (family, by_time_last) in SPLITS.items()
    }


def _draw_splits(numbers: Numbers) -> Figure:
    figure, (axes,) = panels(1, columns=1, height=1.9)
    for axis, name in enumerate(AXES):
        found = [np.flatnonzero(pairs == axis) for pairs in numbers.values()]
        rows = np.repeat(np.arange(len(found)), [len(pairs) for pairs in found])
        x, colour = np.concatenate(found), SERIES[axis]
        add(axes, Line(x, rows, colour=colour, name=name, marker="s", size=5.0, is_joined=False))
    axes.set_yticks(range(len(numbers)), list(numbers))
    axes.set(xlabel="rotation pair, from fast to slow", ylim=(len(numbers) - 0.5, -0.5))
    legend_below(figure)
    return figure


FURTHER = {
    "pairs": FurtherPicture(_orders, _draw_orders),
    "misread": FurtherPicture(_readings, _draw_readings),
    "partial": FurtherPicture(_parts, _draw_parts),
    "axes": FurtherPicture(_splits, _draw_splits),
}
