"""The figures of the notebooks in the notebooks' way: whole models by transformers, scikit-learn, pyplot. Run by cold.py."""

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
        tokenizer, model = PreTrainedTokenizerFast.from_pretrained(name), AutoModel.from_pretrained(name)
        words = (
            model.get_input_embeddings().weight.detach().numpy()[tokenizer("The cat sat on the mat because it was tired .")["input_ids"]]
        )
        table = _table(model)
        _figures(folder, name.replace("/", "--"), _sinusoid(512, 512) if table is None else table, words)


def _table(model: Any) -> Any:
    """BERT's or GPT-2's position table; the T5 notebook draws the sinusoid in the place of one."""
    named = {name: weight for name, weight in model.named_parameters() if name.endswith(("position_embeddings.weight", "wpe.weight"))}
    return next(iter(named.values())).detach().numpy() if named else None


def _sinusoid(n_positions: int, d_model: int) -> Any:
    angles = np.arange(n_positions)[:, None] / 10000 ** (2 * (np.arange(d_model) // 2) / d_model)
    return np.where(np.arange(d_model) % 2, np.cos(angles), np.sin(angles))


def _figures(folder: Path, name: str, table: Any, words: Any) -> None:
    from sklearn.metrics.pairwise import cosine_similarity

    _heat_map(folder / f"{name}-table.png", table)
    _heat_map(folder / f"{name}-positions.png", cosine_similarity(table))
    _heat_map(folder / f"{name}-dimensions.png", cosine_similarity(table.T))
    _lines(folder / f"{name}-vectors.png", [*table[[row for row in SHOWN if row < len(table)]], words[0]])
    _lines(folder / f"{name}-curves.png", list(table[:, np.random.default_rng(0).choice(table.shape[1], N_CURVES)].T))
    _lines(folder / f"{name}-sum.png", list(words + table[: len(words)]) if words.shape[1] == table.shape[1] else list(words))


def _heat_map(path: Path, matrix: Any) -> None:
    from matplotlib import pyplot as plt

    plt.figure(figsize=(15, 9))
    plt.pcolormesh(matrix, cmap="viridis")
    plt.colorbar()
    plt.savefig(path)
    plt.close()


def _lines(path: Path, lines: list[Any]) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(len(lines), figsize=(12, 1.5 * len(lines)))
    for panel, line in zip(axes, lines, strict=True):
        panel.plot(line)
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
