"""Linear probes of position vectors: the absolute position by regression, the order of two
positions by classification.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from generator.errors import NotApplicableError
from generator.numerics.arrays import FLAT, Array, Floats, finite, largest

MOST_POSITIONS = 512  # As in Wang and Chen 2020.
FEWEST_POSITIONS = 10
FOLDS = 5
DRAWS = 20  # random splits, or random samples of pairs
# Mean second derivative of the logistic loss in a good fit; it only sets how fast the fit
# converges.
CURVATURE = 0.02
PENALTIES = 10.0 ** np.arange(-6.0, 3.0, 0.5)  # of a ridge, in units of the mean eigenvalue
# times that generalised cross-validation counts each coefficient (Kim and Gu 2004), so that it
# chooses a fit with fewer
FEWER = 1.4
LARGEST = 1e300  # Larger values would overflow when multiplied by √(n · d).


def probed_rows(vectors: Floats, grid: tuple[int, int] | None) -> Floats:
    """The vectors that a probe uses, at most the first ``MOST_POSITIONS``: (n_probed, d_model).

    vectors: (n_positions, d_model); grid: rows and columns of patches, if positions are patches
    errors: NotApplicableError for a grid of several rows and columns, fewer than
        ``FEWEST_POSITIONS`` vectors, or values not finite
    """
    if grid is not None and min(grid) > 1:
        raise NotApplicableError(
            "its positions form a grid, where reading order measures no distance"
        )
    rows = finite(vectors, "the table")[:MOST_POSITIONS]
    if len(rows) < FEWEST_POSITIONS:
        raise NotApplicableError(
            f"{len(rows)} positions are too few; a probe needs at least {FEWEST_POSITIONS}"
        )
    return np.asarray(rows)


def _rounding(rows: Floats) -> float:
    """Singular values of ``rows`` (n_rows, n_columns) below this are rounding: numpy's rule for
    rank, with the Frobenius norm.
    """
    return float(np.linalg.norm(rows) * max(rows.shape) * np.finfo(np.float64).eps)


def _left(rows: Floats) -> tuple[Floats, Floats]:
    """Left singular vectors and singular values, (n_rows, k) and (k,), by way of a triangle where
    there are more columns than rows.

    rows: (n_rows, n_columns), k the smaller of the two
    """
    matrix = np.asarray(np.linalg.qr(rows.T, mode="r")).T if rows.shape[1] > len(rows) else rows
    left, values, _ = np.linalg.svd(matrix, full_matrices=False)
    return left, values


@dataclass(frozen=True, eq=False)
class PositionProbe:
    """Linear regression of the position on its vector, with intercept and least norm, for
    cross-validation from one decomposition.

    A fit without some rows equals the fit to all rows in which the positions of those rows are
    chosen to minimise the residual and, among equal residuals, the norm of the coefficients. The
    positions chosen are the predictions for these rows.

    residual: (n_positions − 1 − rank, n_positions); ‖residual @ y‖ is the residual norm of a fit to
        positions y
    effort: (rank, n_positions); ‖effort @ y‖ is the norm of its coefficients
    """

    residual: Floats
    effort: Floats

    @classmethod
    def of(cls, rows: Floats) -> "PositionProbe":
        """The probe of a table.

        rows: (n_positions, d_model)
        """
        from scipy.linalg import helmert

        n, d_model = rows.shape
        scaled = rows / (largest(rows) or 1.0)
        # (n − 1, n), orthonormal, without the mean, which the intercept absorbs
        contrasts = helmert(n)
        # As many left singular vectors as contrasts.
        square = np.pad(contrasts @ scaled, ((0, 0), (0, max(n - 1 - d_model, 0))))
        left, values = _left(square)
        above = values > _rounding(scaled)
        return cls(left[:, ~above].T @ contrasts, (left[:, above] / values[above]).T @ contrasts)

    def predict(self, held: Array) -> Floats:
        """Predicted positions of held-out rows, by a fit to all others: (n_held,), in positions,
        unrounded.

        held: (n_held,), int, indices of the held-out rows
        """
        y = np.arange(self.effort.shape[1], dtype=np.float64)
        y[held] = y.mean()  # Initial guess.
        shift, null = _least(self.residual[:, held], self.residual @ y)
        y[held] += shift
        coefficients, _ = _least(self.effort[:, held] @ null, self.effort @ y)
        return np.asarray(y[held] + null @ coefficients)


def _least(matrix: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Least-norm minimiser x of ‖matrix @ x + target‖, and an orthonormal basis of the directions
    that leave the residual unchanged.

    matrix: (n_rows, n_columns); target: (n_rows,)
    returns: (n_columns,) and (n_columns, n_free)
    """
    # Small, with the same norms for every x.
    triangle = np.asarray(np.linalg.qr(np.column_stack([matrix, target]), mode="r"))
    left, values, right = np.linalg.svd(triangle[:, :-1])
    rank = int(np.count_nonzero(values > FLAT * 0.1))
    return -right[:rank].T @ (left[:, :rank].T @ triangle[:, -1] / values[:rank]), right[rank:].T


def predict_positions(probe: PositionProbe, seed: int) -> tuple[Floats, float]:
    """Cross-validated predictions of a probe over ``FOLDS`` random folds, and their mean absolute
    error.

    seed: of the random folds
    returns: (n_positions,), in positions, unrounded; the mean over folds of |rounded prediction −
        position|, in positions
    """
    order = np.random.default_rng(seed).permutation(probe.effort.shape[1])
    predicted, errors = np.empty(order.size), []
    for held in np.array_split(order, FOLDS):
        predicted[held] = probe.predict(held)
        errors.append(float(np.mean(np.abs(np.round(predicted[held]) - held))))
    return predicted, float(np.mean(errors))


def compact(rows: Floats) -> Floats:
    """Rows of at most n_rows columns with the inner products of ``rows`` (n_rows, d_model) up to
    one factor, by which alone a ridge goes; ``rows`` where they are no wider.
    """
    n_rows, width = rows.shape
    if width <= n_rows:
        return rows
    unit = largest(rows) or 1.0
    parts = (rows[:, start : start + n_rows] / unit for start in range(0, width, n_rows))
    return _root(n_rows, parts)


def compact_noise(n_rows: int, width: int) -> Floats:
    """``compact``, up to one factor, of random numbers: the transpose of numpy's
    ``default_rng(0).normal(size=(width, n_rows))``.
    """
    draws = np.random.default_rng(0)
    if width <= n_rows:
        return draws.normal(size=(width, n_rows)).T
    starts = range(0, width, n_rows)
    parts = (draws.normal(size=(min(n_rows, width - start), n_rows)).T for start in starts)
    return _root(n_rows, parts)


def _root(n_rows: int, parts: Iterable[Floats]) -> Floats:
    """A square root of the sum of ``part @ part.T``: (n_rows, n_rows)."""
    gram = np.zeros((n_rows, n_rows))
    for part in parts:
        gram += part @ part.T
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def ridge_predictions(rows: Floats, positions: Array, seed: int) -> Floats:
    """Cross-validated predictions of ridge regression of ``positions`` on ``rows`` over ``FOLDS``
    random folds.

    With an intercept; the penalty is that of ``PENALTIES``, times the mean eigenvalue of the
    training rows, with the least generalised cross-validation error of the training rows (Golub,
    Heath and Wahba 1979, Technometrics 21), each coefficient counted ``FEWER`` times (Kim and Gu
    2004, J. R. Stat. Soc. B 66), without which it may choose a fit to noise.
    rows: (n_rows, d_model); positions: (n_rows,); seed: of the random folds
    returns: (n_rows,), in positions, unrounded
    """
    scaled = rows / (largest(rows) or 1.0)
    order = np.random.default_rng(seed).permutation(len(rows))
    predicted = np.empty(len(rows))
    for held in np.array_split(order, FOLDS):
        trained = np.setdiff1d(order, held)
        mean, middle = scaled[trained].mean(axis=0), float(positions[trained].mean())
        centred = scaled[trained] - mean
        coefficients = _ridge(centred, positions[trained] - middle)
        predicted[held] = (scaled[held] - mean) @ coefficients + middle
    return predicted


def _ridge(centred: Floats, targets: Floats) -> Floats:
    """Coefficients (d_model,) for ``targets`` (n_rows,), whose mean is zero as that of ``centred``
    (n_rows, d_model).
    """
    is_wide = centred.shape[1] > len(centred)
    gram = centred @ centred.T if is_wide else centred.T @ centred
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    along = vectors.T @ (targets if is_wide else centred.T @ targets)
    is_real = values > FLAT * values.max()  # Others are rounding.
    roots = np.sqrt(np.where(is_real, values, 1.0))
    explained = along if is_wide else np.where(is_real, along / roots, 0.0)
    beside = max(float(targets @ targets - explained @ explained), 0.0)  # Beyond their span.
    penalties = PENALTIES * (float(values.mean()) or 1.0)
    shrunk = penalties[:, None] / (values + penalties[:, None])  # (n_penalties, n_values)
    used = values.size - shrunk.sum(axis=1)  # Effective number of coefficients.
    free = np.maximum(len(centred) - FEWER * used, FLAT)
    errors = (((shrunk * explained) ** 2).sum(axis=1) + beside) / free**2
    solved = vectors @ (along / (values + penalties[int(errors.argmin())]))
    return np.asarray(centred.T @ solved if is_wide else solved)


@dataclass(frozen=True, eq=False)
class PairClassifier:
    """Logistic regression on pairs [P_i, P_j] with an intercept and penalty ‖w‖²/2, as
    scikit-learn's with C = 1.

    The logit of a pair is a score of its first position plus one of its second, so that a step of
    the fit needs two products with the table and none with the pairs. Rotations change nothing, so
    the vectors are expressed in their singular directions, each scaled such that the curvature of
    the loss is similar along all of them and the fit converges fast; the penalty undoes the
    scaling.

    features: (n_positions, rank); penalty: (rank,)
    """

    features: Floats
    penalty: Floats

    @classmethod
    def of(cls, rows: Floats, *n_pairs: int) -> "Iterator[PairClassifier]":
        """One classifier per training size.

        rows: (n_positions, d_model); n_pairs: sizes of the training sets
        """
        unit = largest(rows) or 1.0
        scaled = rows / unit
        left, values = _left(scaled)
        above = values > _rounding(scaled)
        left, values = left[:, above], values[above] * min(unit, LARGEST)
        for count in n_pairs:
            stretch = np.hypot(1.0, values * np.sqrt(CURVATURE * count / len(rows)))
            yield cls(left * (values / stretch), stretch**-2.0)

    def scores(self, pairs: Array, signs: Floats) -> tuple[Floats, float]:
        """Scores of every position as the first and as the second of a pair, (n_positions, 2), and
        the intercept, in logits.

        pairs: (n_pairs, 2), int, positions; signs: (n_pairs,), 1 where the second comes after the
            first, else −1
        """
        from scipy.optimize import minimize
        from scipy.special import expit

        n, width = self.features.shape
        penalty = np.tile(self.penalty, 2) / len(pairs)

        def loss(weights: Floats) -> tuple[float, Floats]:
            """Mean logistic loss with penalty, and its gradient: (2 · rank + 1,), as ``weights``,
            the intercept last.
            """
            scores = self.features @ weights[:-1].reshape(2, width).T  # (n_positions, 2)
            margins = signs * (scores[pairs[:, 0], 0] + scores[pairs[:, 1], 1] + weights[-1])
            slopes = -signs * expit(-margins) / len(pairs)
            # (2, n_positions)
            by_position = np.stack([np.bincount(pairs[:, side], slopes, n) for side in (0, 1)])
            shrinkage = penalty * weights[:-1]
            gradient = np.append((by_position @ self.features).ravel() + shrinkage, slopes.sum())
            # log(1 + exp(−margin)), which must not overflow
            losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
            return float(losses.mean() + shrinkage @ weights[:-1] / 2.0), gradient

        fit = minimize(
            loss,
            np.zeros(2 * width + 1),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 1000, "gtol": 1e-5},
        )
        return self.features @ fit.x[:-1].reshape(2, width).T, float(fit.x[-1])


def sample_pairs(n_positions: int, n_pairs: int, seed: int) -> Array:
    """Random pairs of positions without repetition: (n_pairs, 2), int; the two positions of a pair
    may be equal.
    """
    indices = np.random.default_rng(seed).choice(n_positions**2, n_pairs, replace=False)
    return np.stack(np.divmod(indices, n_positions), axis=1)


def order_errors(
    classifier: PairClassifier, pairs: Array, order: Array | None = None
) -> list[tuple[Array, Array]]:
    """Indices of the held-out pairs of each of ``FOLDS`` folds, (n_held,), int, and whether the fit
    to the others misorders them, (n_held,), bool.

    pairs: (n_pairs, 2), int, rows; order: (n_rows,), int, the position of each; that of the row for
        None
    """
    # Its threads can only be limited once it is loaded, and cost twenty times what they save here.
    import scipy.optimize  # noqa: F401
    from sklearn.model_selection import StratifiedKFold

    placed = pairs if order is None else order[pairs]
    after = placed[:, 1] > placed[:, 0]
    folds = []
    with threadpool_limits(1):
        for train, held in StratifiedKFold(FOLDS).split(pairs, after):
            scores, intercept = classifier.scores(pairs[train], np.where(after[train], 1.0, -1.0))
            predicted = scores[pairs[held, 0], 0] + scores[pairs[held, 1], 1] + intercept > 0.0
            folds.append((held, predicted != after[held]))
    return folds
