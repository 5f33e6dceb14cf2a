"""The input of the first layer for a sentence, step by step."""

from collections.abc import Iterator, Mapping

import numpy as np

from generator.contracts import (
    Analysis,
    Arrays,
    FigureSpec,
    Finding,
    Headline,
    InputLayer,
    LayerNorm,
    Metric,
    Result,
    Results,
    Sentence,
    Subject,
)
from generator.contracts.wording import Wording
from generator.encodings import Form, OffsetBias, PositionTable, Rotation
from generator.errors import NotApplicableError
from generator.figures.canvas import Figure
from generator.figures.panels import colour_bar, image, panels, wrapped
from generator.figures.style import DIVERGING
from generator.numerics.arrays import Array, Floats, finite, root_mean_square, row_norms
from generator.text import measured, visible

WORDING = Wording("analyses/anatomy_of_the_input.md.jinja")
ROUNDING = 1e-4  # Largest difference from the code of transformers that single precision may make.
LIMIT = 3.0  # in units of each step's own root mean square
LETTERS = 76  # of a line above a panel
STEPS = {
    "words": "word vectors",
    "positions": "position vectors",
    "types": "token type",
    "sum": "sum",
    "normed": "after LayerNorm",
}
NO_CODE = (
    "transformers has no embedding layer like BERT's, or stack like T5's, that fits this checkpoint"
    " and sentence"
)
LESSON = 16  # positions
# Steps at which one token at two places is compared, before the input of the first layer.
APART = ("words", "positions", "sum")


def layer_norm(rows: Floats, norm: LayerNorm) -> Floats:
    """Layer normalisation (Ba et al. 2016, arXiv 1607.06450): rows at mean 0 and variance 1, then
    scaled and shifted.

    rows: (n_tokens, d_model)
    returns: (n_tokens, d_model)
    """
    centred = rows - rows.mean(axis=1, keepdims=True)
    # Divided out, so that squares do not overflow.
    size = np.maximum(np.max(np.abs(centred), axis=1, keepdims=True), 1.0)
    variance = np.mean((centred / size) ** 2, axis=1, keepdims=True)
    return np.asarray(
        centred / size / np.sqrt(variance + norm.epsilon / size / size) * norm.weight + norm.bias
    )


def steps(layer: InputLayer, sentence: Sentence, form: Form) -> dict[str, Floats]:
    """The steps of ``sentence`` from word vectors to the input of the first layer, in order: arrays
    (n_tokens, d_model) by name.

    errors: NotApplicableError when position and word vectors do not fit, or their sum is not finite
    """
    word_vectors = sentence.word_vectors * layer.word_scale
    rows = {"words": word_vectors}
    if isinstance(form, PositionTable):
        if form.vectors.shape[1] != word_vectors.shape[1] or len(form.vectors) < len(word_vectors):
            raise NotApplicableError(
                f"position vectors {form.vectors.shape} cannot be added to word vectors"
                f" {word_vectors.shape}"
            )
        rows["positions"] = form.vectors[: len(word_vectors)]
    if layer.token_type is not None:
        rows["types"] = np.broadcast_to(layer.token_type, word_vectors.shape)
    if len(rows) > 1:
        rows["sum"] = finite(np.sum(list(rows.values()), axis=0), "the sum")
    if layer.norm is not None:
        rows["normed"] = layer_norm(rows.get("sum", word_vectors), layer.norm)
    return rows


def compute(subject: Subject[Form]) -> Result:
    """The steps of the input, their norms, the difference from the code of transformers, and one
    token at two places.

    arrays: words, types, normed (n_tokens, d_model), norms_… of every step (n_tokens,); tokens, ids
        (n_tokens,); modules (), the model's embedding modules as text; twice_…, apart_…
        (n_twice, …): tokens at two positions of the sentence, as in ``_twice``
    again_… (n_again, …): the tokens that also occur in the reversed sentence, as in ``_again``
    lexicon_… (n_words, …): inner products of everyday words, as in ``_lexicon``
    derived: positions and sum (n_tokens, d_model), without rows where there is no such step; table
        (n_positions, d_model), without rows where there is none
    errors: NotApplicableError when the checkpoint has no sentence, or vectors do not fit or are not
        finite
    """
    layer = subject.input
    if layer is None:
        raise NotApplicableError(subject.no_input)
    form = subject.encoding.form
    forward = {
        name: finite(rows, name) for name, rows in steps(layer, layer.sentence, form).items()
    }
    backward = steps(layer, layer.reversed, form)
    last, last_backward = list(forward.values())[-1], list(backward.values())[-1]
    norms = {f"norms_{name}": row_norms(rows) for name, rows in forward.items()}
    twice = _twice(layer, form)
    difference = (
        None if layer.own.values is None else float(np.max(np.abs(last - layer.own.values)))
    )
    return Result(
        metrics=(
            Metric("tokens", "Tokens in the sentence", len(last)),
            Metric(
                "module_difference",
                "Largest difference from transformers",
                difference,
                reason=NO_CODE,
            ),
            _moved(twice, last),
        ),
        arrays={
            **{name: rows for name, rows in forward.items() if name not in DERIVED},
            **norms,
            **twice,
            **_again(layer, last, last_backward),
            **_lexicon(subject, layer),
            "tokens": np.array(layer.sentence.tokens),
            "ids": np.array(layer.sentence.ids),
            **({"modules": np.array(layer.modules)} if layer.modules else {}),
        },
        findings=(*_findings(forward, layer, difference), *_of_twice(twice, forward)),
        derived={
            **{name: forward.get(name, last[:0]) for name in ("positions", "sum")},
            "table": _table(form, forward),
        },
    )


def _positions(form: Form, arrays: Arrays) -> Floats:
    """The position vectors of ``arrays["words"]`` (n_tokens, d_model): the same shape; no rows
    where the form adds none.
    """
    n_tokens, d_model = arrays["words"].shape
    return form.vectors[:n_tokens] if isinstance(form, PositionTable) else np.zeros((0, d_model))


def _sum(form: Form, arrays: Arrays) -> Floats:
    """Sum of ``arrays["words"]`` (n_tokens, d_model) and of what is added to them: the same shape;
    no rows where nothing is added.
    """
    if "norms_sum" not in arrays:
        return arrays["words"][:0]
    added = (arrays["words"], _positions(form, arrays), arrays.get("types", ()))
    return np.asarray(np.sum([rows for rows in added if len(rows)], axis=0))


def _table(form: Form, arrays: Arrays) -> Floats:
    """The whole table (n_positions, d_model); no rows where there is none."""
    return form.vectors if isinstance(form, PositionTable) else arrays["words"][:0]


DERIVED = {"positions": _positions, "sum": _sum, "table": _table}


def shown(result: Result) -> dict[str, Array]:
    """The steps of a result in order, arrays (n_tokens, d_model) by name."""
    rows = {**result.arrays, **result.derived}
    return {name: rows[name] for name in STEPS if len(rows.get(name, ()))}


def _twice(layer: InputLayer, form: Form) -> dict[str, Array]:
    """Tokens that occur twice in the sentence, reserved ones aside; where none does, those of the
    sentence put after itself.

    returns: twice_tokens (n_twice,), twice_positions (n_twice, 2), and apart_… (n_twice,), the
        norms of the differences of the two words, positions, sums, and inputs of the first layer;
        empty arrays where the encoding has too few positions for that
    """
    once = layer.sentence
    doubled = Sentence(
        once.tokens * 2,
        once.ids * 2,
        once.reserved * 2,
        np.concatenate([once.word_vectors, once.word_vectors]),
    )
    sentence = once if _pairs(once) else doubled
    pairs = np.array(_pairs(sentence), dtype=np.int64).reshape(-1, 2)
    try:
        rows = steps(layer, sentence, form)
    except NotApplicableError:  # More tokens than positions.
        pairs, rows = pairs[:0], steps(layer, once, form)
    shown = {
        **{name: rows[name] for name in APART if name in rows},
        "inputs": list(rows.values())[-1],
    }
    apart = {
        f"apart_{name}": row_norms(vectors[pairs[:, 0]] - vectors[pairs[:, 1]])
        for name, vectors in shown.items()
    }
    return {
        "twice_tokens": np.array([sentence.tokens[first] for first, _ in pairs]),
        "twice_positions": pairs,
        **apart,
    }


def _moved(twice: Mapping[str, Array], inputs: Floats) -> Metric:
    """The mean difference between the two inputs of tokens at two positions, as a percentage of the
    norm of the first.

    inputs: (n_tokens, d_model), which have the first of each
    """
    first = row_norms(inputs)[twice["twice_positions"][:, 0]]
    shares = twice["apart_inputs"] / np.where(first > 0.0, first, np.nan)
    value = float(100.0 * shares.mean()) if len(shares) and np.isfinite(shares).all() else None
    return Metric("moved", WORDING("moved_title"), value, "%", WORDING("not_moved"))


def _pairs(sentence: Sentence) -> list[tuple[int, int]]:
    """The first two positions of every token that occurs twice, reserved ones aside."""
    places = {
        index: [place for place, other in enumerate(sentence.ids) if other == index]
        for index in dict.fromkeys(sentence.ids)
    }
    return [
        (found[0], found[1])
        for found in places.values()
        if len(found) > 1 and not sentence.reserved[found[0]]
    ]


def _again(layer: InputLayer, last: Floats, last_backward: Floats) -> dict[str, Array]:
    """Tokens that also occur in the reversed sentence: their positions in both, and the norms of
    the differences of their vectors.

    last, last_backward: (n_tokens, d_model), the input of the first layer
    returns: arrays (n_again,), positions (n_again, 2)
    """
    first, second = layer.sentence, layer.reversed
    pairs = [
        (i, second.ids.index(index))
        for i, index in enumerate(first.ids)
        if index in second.ids and first.ids.index(index) == i
    ]
    width = first.word_vectors.shape[1]
    word_vectors = np.array(
        [first.word_vectors[i] - second.word_vectors[j] for i, j in pairs]
    ).reshape(-1, width)
    inputs = np.array([last[i] - last_backward[j] for i, j in pairs]).reshape(-1, width)
    return {
        "again_tokens": np.array([first.tokens[i] for i, _ in pairs]),
        "again_reserved": np.array([first.reserved[i] for i, _ in pairs]),
        "again_positions": np.array(pairs).reshape(-1, 2),
        "again_words": row_norms(word_vectors),
        "again_inputs": row_norms(inputs),
    }


def _lexicon(subject: Subject[Form], layer: InputLayer) -> dict[str, Array]:
    """Inner products of everyday words and of the first positions, of which the scores of all sums
    are made.

    (w + p) · (w′ + p′) = w · w′ + w · p′ + p · w′ + p · p′ (Ke et al. 2021, arXiv 2006.15595,
    section 3.1)
    returns: lexicon_tokens (n_words,), lexicon_words (n_words, n_words), lexicon_positions
        (n_words, n), lexicon_order (n, n); nothing where there is no table of positions in a line,
        or no lexicon
    """
    form = subject.encoding.form
    if (
        not isinstance(form, PositionTable)
        or form.grid is not None
        or subject.word_vectors is None
        or not layer.lexicon
    ):
        return {}
    word_vectors = subject.word_vectors[[index for _, index in layer.lexicon]] * layer.word_scale
    positions = form.vectors[:LESSON]
    if word_vectors.shape[1] != positions.shape[1]:
        return {}
    return {
        "lexicon_tokens": np.array([word for word, _ in layer.lexicon]),
        "lexicon_words": word_vectors @ word_vectors.T,
        "lexicon_positions": word_vectors @ positions.T,
        "lexicon_order": positions @ positions.T,
    }


def _findings(
    forward: dict[str, Floats], layer: InputLayer, difference: float | None
) -> Iterator[Finding]:
    """Whether the encoding enters here, whether the last step is what the code of transformers
    makes, and what is to be noted.
    """
    if "positions" not in forward:
        yield Finding(WORDING("inside_attention"))
    if difference is None:
        yield Finding(WORDING("unchecked"))
    else:
        differs = difference > ROUNDING
        text = WORDING("checked", code=layer.own.name, differs=differs, difference=difference)
        yield Finding(text, ("module_difference",), 0.2)
    yield from map(Finding, layer.notes)


def _of_twice(twice: dict[str, Array], forward: dict[str, Floats]) -> Iterator[Finding]:
    """How far apart the two inputs of the first token that occurs twice are."""
    if not len(twice["twice_tokens"]):
        return
    token, (first, second) = visible(str(twice["twice_tokens"][0])), twice["twice_positions"][0]
    inputs = list(forward.values())[-1]
    text = WORDING(
        "twice",
        token=token,
        first=first,
        second=second,
        is_repeated=second >= len(inputs),
        apart=twice["apart_inputs"][0] if "positions" in forward else None,
        length=row_norms(inputs)[first],
    )
    yield Finding(text)


def draw(results: Results) -> Figure:
    """Heat maps of the steps, tokens by dimensions, each step divided by its root mean square."""
    strips = [
        (label, result, name, rows)
        for label, result in results.items()
        for name, rows in shown(result).items()
    ]
    n_tokens = max(len(result.arrays["tokens"]) for result in results.values())
    figure, axes = panels(len(strips), columns=1, height=0.55 + 0.115 * n_tokens)
    for ax, (label, result, name, rows) in zip(axes, strips, strict=True):
        scale = root_mean_square(rows) or 1.0
        picture = image(ax, rows / scale, (-LIMIT, LIMIT), DIVERGING, n_images=len(strips))
        ax.set_yticks(
            range(len(rows)),
            [visible(f"{token:.14}") for token in result.arrays["tokens"]],
            fontsize=7,
        )
        title = STEPS[name] if len(results) == 1 else f"{label.title}: {STEPS[name]}"
        ax.set_title(wrapped(f"{title} · RMS {measured(scale)}", LETTERS))
    axes[-1].set_xlabel("dimension")
    colour_bar(
        figure, picture, axes, "value ÷ RMS of the step" if len(strips) > 1 else "value ÷ RMS"
    )
    return figure


def alt(results: Results) -> str:
    """Alternative text: number of tokens and mean norm of each step."""
    inputs = [
        (label.title, len(result.arrays["tokens"]), _mean_norms(result.arrays))
        for label, result in results.items()
    ]
    return WORDING("steps_alt", inputs=inputs)


def _mean_norms(arrays: Arrays) -> dict[str, float]:
    """By the titles of the steps, in order."""
    return {
        title: float(arrays[norms].mean())
        for name, title in STEPS.items()
        if (norms := f"norms_{name}") in arrays
    }


ANALYSIS = Analysis(
    key="anatomy_of_the_input",
    about="values",
    stage="see",
    forms=(PositionTable, OffsetBias, Rotation),
    compute=compute,
    answer=Headline("moved", WORDING),
    derived=DERIVED,
    figures=(
        FigureSpec(
            "steps",
            WORDING.figure("steps", alt=alt),
            draw,
            python=(
                'plt.imshow(arrays["anatomy_of_the_input.words"], aspect="auto", cmap="RdBu_r")'
            ),
        ),
    ),
    per_figure=1,
)
