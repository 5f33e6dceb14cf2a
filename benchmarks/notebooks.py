"""The figures of the notebooks as the notebooks make them: whole models by transformers,
scikit-learn, pyplot. Run by cold.py.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

SHOWN = (0, 1, 2, 10, 100, 200, 300, 400, 500)
N_CURVES = 12


def main(folder: Path, names: list[str]) -> None:
    """Save every figure of these checkpoints in ``folder``."""
    import matplotlib

    matplotlib.use("Agg")
    from transformers import AutoModel, PreTrainedTokenizerFast

    for name in names:
        tokenizer, model = (
            PreTrainedTokenizerFast.from_pretrained(name),
            AutoModel.from_pretrained(name),
        )
        words = (
            model.get_input_embeddings()
            .weight.detach()
            .numpy()[tokenizer("The cat sat on the mat because it was tired .")["input_ids"]]
        )
        table, path = _table(model), folder / name.replace("/", "--")
        _figures(path, _sinusoid(512, 512) if table is None else table, words)
        if name.endswith("gpt2"):  # One of its two notebooks also draws the sinusoid.
            _of_table(path.with_name(f"{path.name}-sinusoid"), _sinusoid(*table.shape), [])


def _table(model: Any) -> Any:
    """The position table of BERT or GPT-2; None for T5, whose notebook draws the sinusoid
    instead.
    """
    tables = {
        name: weight
        for name, weight in model.named_parameters()
        if name.endswith(("position_embeddings.weight", "wpe.weight"))
    }
    return next(iter(tables.values())).detach().numpy() if tables else None


def _sinusoid(n_positions: int, d_model: int) -> Any:
    """The sinusoid (n_positions, d_model), interleaved."""
    angles = np.arange(n_positions)[:, None] / 10000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2, np.cos(angles), np.sin(angles))


def _figures(path: Path, table: Any, words: Any) -> None:
    from sklearn.metrics.pairwise import cosine_similarity

    _of_table(path, table, [words[0]])
    _heat_map(path, "dimensions", cosine_similarity(table.T))
    _lines(
        path,
        "sum",
        list(words + table[: len(words)]) if words.shape[1] == table.shape[1] else list(words),
    )


def _of_table(path: Path, table: Any, words: list[Any]) -> None:
    from sklearn.metrics.pairwise import cosine_similarity

    _heat_map(path, "table", table)
    _heat_map(path, "positions", cosine_similarity(table))
    _lines(path, "vectors", [*table[[row for row in SHOWN if row < len(table)]], *words])
    _lines(
        path, "curves", list(table[:, np.random.default_rng(0).choice(table.shape[1], N_CURVES)].T)
    )


def _heat_map(path: Path, name: str, matrix: Any) -> None:
    from matplotlib import pyplot as plt

    plt.figure()
    plt.imshow(matrix, cmap="viridis")
    plt.colorbar()
    plt.savefig(f"{path}-{name}.png")
    plt.close()


def _lines(path: Path, name: str, lines: list[Any]) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(len(lines), figsize=(12, 1.5 * len(lines)))
    for panel, line in zip(axes, lines, strict=True):
        panel.plot(line)
    figure.savefig(f"{path}-{name}.png")
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
