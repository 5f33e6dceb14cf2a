"""Linear probes: what a straight line reads out of position vectors that it has not been fitted to."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from generator.errors import NotApplicableError
from generator.numerics.arrays import FLAT, Array, Floats, finite

MOST_POSITIONS = 512  # As in Wang and Chen 2020.
FEWEST_POSITIONS = 10
FOLDS = 5
DRAWS = 20
CURVATURE = 0.02  # Mean second derivative of the logistic loss in a good fit; it only sets how soon the search arrives.
LARGEST = 1e300  # Larger values would overflow when multiplied by √(n · d).


def probed(vectors: Floats, grid: tuple[int, int] | None) -> Floats:
    """The rows of ``vectors`` (n_positions, d_model) that are probed: at most the first 512.

    grid: rows and columns of patches, where positions are theirs
    errors: NotApplicableError where positions do not lie on a line, where there are too few, or where values are not finite
    """
    if grid is not None and min(grid) > 1:
        raise NotApplicableError("its positions lie on a grid, and the number of a patch in reading order measures no distance")
    rows = finite(vectors, "the table")[:MOST_POSITIONS]
    if len(rows) < FEWEST_POSITIONS:
        raise NotApplicableError(f"{len(rows)} positions are too few to fit and to test; expected {FEWEST_POSITIONS} at least")
    return np.asarray(rows)


def _rounding(rows: Floats) -> float:
    """The level below which singular values of ``rows`` are rounding; numpy's rank takes the largest of them in place of the norm."""
    return float(np.linalg.norm(rows) * max(rows.shape) * np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class LinearReader:
    """Linear regression of the position on its vector, with an intercept, and of least norm where many fit: its predictions at rows left out.

    Regression without some rows is regression on all, with such positions in place of theirs that the residual, and among equal residuals
    the norm of the coefficients, is least: these are its predictions. So all folds share one decomposition.

    residual: (n_positions − 1 − rank, n_positions), effort: (rank, n_positions): ‖residual @ y‖ and ‖effort @ y‖ are what regression of
    any positions y on all rows leaves over, and the norm of its coefficients
    """

    residual: Floats
    effort: Floats

    @classmethod
    def of(cls, rows: Floats) -> "LinearReader":
        """rows: (n_positions, d_model)."""
        from scipy.linalg import helmert

        n, d_model = rows.shape
        scaled = rows / (np.max(np.abs(rows)) or 1.0)
        contrasts = helmert(n)  # (n − 1, n), orthonormal, without the mean, which the intercept takes
        square = np.pad(contrasts @ scaled, ((0, 0), (0, max(n - 1 - d_model, 0))))  # As many left singular vectors as contrasts.
        left, values, _ = np.linalg.svd(square, full_matrices=False)
        above = values > _rounding(scaled)
        return cls(left[:, ~above].T @ contrasts, (left[:, above] / values[above]).T @ contrasts)

    def read(self, held: Array) -> Floats:
        """Positions of the rows ``held`` (n_held,), read by a fit to all others."""
        y = np.arange(self.effort.shape[1], dtype=np.float64)
        y[held] = y.mean()  # A first guess, to be moved.
        moved, still = _least(self.residual[:, held], self.residual @ y)
        y[held] += moved
        chosen, _ = _least(self.effort[:, held] @ still, self.effort @ y)
        return np.asarray(y[held] + still @ chosen)


def _least(matrix: Floats, target: Floats) -> tuple[Floats, Floats]:
    """x (n_columns,) of least norm that brings ‖matrix @ x + target‖ to its least, and the directions that do not change it.

    returns: x; orthonormal (n_columns, n_free)
    """
    triangle = np.asarray(np.linalg.qr(np.column_stack([matrix, target]), mode="r"))  # Small, and the same to any x.
    left, values, right = np.linalg.svd(triangle[:, :-1])
    rank = int(np.count_nonzero(values > FLAT * 0.1))
    return -right[:rank].T @ (left[:, :rank].T @ triangle[:, -1] / values[:rank]), right[rank:].T


def read_positions(reader: LinearReader, seed: int) -> tuple[Floats, float]:
    """Positions as read by fits that have not seen them, in five folds drawn by ``seed``, and the mean size of their error.

    returns: (n_positions,), unrounded; the mean over folds of |rounded prediction − position|, in positions
    """
    order = np.random.default_rng(seed).permutation(reader.effort.shape[1])
    read, errors = np.empty(order.size), []
    for held in np.array_split(order, FOLDS):
        read[held] = reader.read(held)
        errors.append(float(np.mean(np.abs(np.round(read[held]) - held))))
    return read, float(np.mean(errors))


@dataclass(frozen=True, eq=False)
class PairClassifier:
    """Logistic regression on pairs [P_i, P_j] with an intercept and penalty ‖w‖²/2, as scikit-learn's with C = 1.

    The logit of a pair is a score of its first position plus one of its second; so a fit costs two products with the table, however
    many pairs there are. Rotating the vectors changes nothing, so they are taken along their singular directions, each stretched such
    that the loss curves alike along all of them and the search is short; the penalty undoes the stretching.

    features: (n_positions, rank); penalty: (rank,)
    """

    features: Floats
    penalty: Floats

    @classmethod
    def of(cls, rows: Floats, *n_pairs: int) -> "Iterator[PairClassifier]":
        """rows: (n_positions, d_model); n_pairs: how many each will be fitted to."""
        largest = float(np.max(np.abs(rows))) or 1.0
        scaled = rows / largest
        left, values, _ = np.linalg.svd(scaled, full_matrices=False)
        above = values > _rounding(scaled)
        left, values = left[:, above], values[above] * min(largest, LARGEST)
        for count in n_pairs:
            stretch = np.hypot(1.0, values * np.sqrt(CURVATURE * count / len(rows)))
            yield cls(left * (values / stretch), stretch**-2.0)

    def scores(self, pairs: Array, signs: Floats) -> tuple[Floats, float]:
        """Scores of each position as the first and as the second of a pair (n_positions, 2), and the intercept.

        pairs: (n_pairs, 2); signs: (n_pairs,), 1 where the second comes after the first, else −1
        """
        from scipy.optimize import minimize
        from scipy.special import expit

        n, width = self.features.shape
        penalty = np.tile(self.penalty, 2) / len(pairs)

        def loss(weights: Floats) -> tuple[float, Floats]:
            each = self.features @ weights[:-1].reshape(2, width).T  # (n_positions, 2)
            margins = signs * (each[pairs[:, 0], 0] + each[pairs[:, 1], 1] + weights[-1])
            pulls = -signs * expit(-margins) / len(pairs)
            by_position = np.stack([np.bincount(pairs[:, side], pulls, n) for side in (0, 1)])  # (2, n_positions)
            shrunk = penalty * weights[:-1]
            gradient = np.append((by_position @ self.features).ravel() + shrunk, pulls.sum())
            losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)  # log(1 + exp(−margin)), which must not overflow
            return float(losses.mean() + shrunk @ weights[:-1] / 2.0), gradient

        found = minimize(loss, np.zeros(2 * width + 1), jac=True, method="L-BFGS-B", options={"maxiter": 1000, "gtol": 1e-5})
        return self.features @ found.x[:-1].reshape(2, width).T, float(found.x[-1])


def draw_pairs(n_positions: int, n_pairs: int, seed: int) -> Array:
    """Pairs of positions without repetition, drawn by ``seed``: (n_pairs, 2); a position may meet itself."""
    drawn = np.random.default_rng(seed).choice(n_positions**2, n_pairs, replace=False)
    return np.stack(np.divmod(drawn, n_positions), axis=1)


def wrong_orders(classifier: PairClassifier, pairs: Array) -> list[tuple[Array, Array]]:
    """For each of five folds: which ``pairs`` (n_pairs, 2) it holds, and whether their order is told wrongly by a fit to the others."""
    import scipy.optimize  # noqa: F401 (its threads can only be limited once it is loaded, and cost twenty times what they save here)
    from sklearn.model_selection import StratifiedKFold

    after = pairs[:, 1] > pairs[:, 0]
    found = []
    with threadpool_limits(1):
        for fitted, held in StratifiedKFold(FOLDS).split(pairs, after):
            each, intercept = classifier.scores(pairs[fitted], np.where(after[fitted], 1.0, -1.0))
            told = each[pairs[held, 0], 0] + each[pairs[held, 1], 1] + intercept > 0.0
            found.append((held, told != after[held]))
    return found
