"""The two linear probes, against scikit-learn, theory and values by other code."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_predict, cross_val_score

from generator.analyses import order_probe, position_probe
from generator.contracts import Result
from generator.encodings import sinusoid
from generator.errors import NotApplicableError
from generator.numerics.arrays import Floats
from generator.numerics.linear_probes import (
    PairClassifier,
    PositionProbe,
    compact,
    order_errors,
    predict_positions,
    probed_rows,
    ridge_predictions,
    sample_pairs,
)
from tests.analyses.on import result_of, texts_of
from tests.support import close

rng = np.random.default_rng(0)
SMOOTH = np.cumsum(rng.normal(size=(60, 40)), axis=0)
ROWS = {"more positions than dimensions": SMOOTH[:, :7], "as many as are fitted": SMOOTH[:49],
        "more dimensions than positions": np.cumsum(rng.normal(size=(40, 60)), axis=0),
        "a third of the rows zero": SMOOTH * (np.arange(60) % 3 > 0)[:, None],
        "two groups of equal rows": np.repeat(rng.normal(size=(2, 8)), 20, axis=0),
        "a common offset": SMOOTH + 100.0, "huge": SMOOTH * 1e250}  # fmt: skip
each_table = pytest.mark.parametrize("name", ROWS)


def value(result: Result, key: str) -> float:
    number = result.value(key)
    assert number is not None
    return number


def noise(seed: int) -> Floats:
    return np.random.default_rng(seed).normal(0.0, 0.02, (512, 768))


@each_table
def test_predictions_equal_those_of_linear_regression_in_scikit_learn(name: str) -> None:
    """As in Wang and Chen's code: rows shuffled once, five folds, predictions unrounded."""
    rows = ROWS[name] / np.abs(ROWS[name]).max()  # scikit-learn's would overflow.
    order = np.random.default_rng(3).permutation(len(rows))
    theirs = np.empty(len(rows))
    theirs[order] = cross_val_predict(LinearRegression(), rows[order], order, cv=5)
    predicted, error = predict_positions(PositionProbe.of(ROWS[name]), seed=3)
    close(predicted, theirs)
    folds = [np.mean(np.abs(np.round(theirs[held]) - held)) for held in np.array_split(order, 5)]
    assert error == pytest.approx(np.mean(folds))


def error_by_scikit_learn(rows: Floats, n_pairs: int, seed: int) -> float:
    """Cross-validated share of misordered pairs for a table (n_positions, d_model)."""
    pairs = sample_pairs(len(rows), n_pairs, seed)
    features = np.hstack([rows[pairs[:, 0]], rows[pairs[:, 1]]])
    model = LogisticRegression(max_iter=1000)
    return 1.0 - float(cross_val_score(model, features, pairs[:, 1] > pairs[:, 0], cv=5).mean())


@pytest.mark.parametrize("n_pairs", [512, 2048])
@pytest.mark.parametrize(
    "rows",
    [SMOOTH, sinusoid(60, 16), rng.normal(0, 0.02, (60, 80))],
    ids=["walk", "sinusoid", "noise"],
)
def test_order_errors_equal_those_of_scikit_learn(rows: Floats, n_pairs: int) -> None:
    """Its optimiser stops at another tolerance, so single pairs near the boundary may differ."""
    (classifier,) = PairClassifier.of(rows, n_pairs)
    for seed in range(3):
        folds = [
            wrong.mean() for _, wrong in order_errors(classifier, sample_pairs(60, n_pairs, seed))
        ]
        assert np.mean(folds) == pytest.approx(
            error_by_scikit_learn(rows, n_pairs, seed), abs=0.006
        )


def test_the_fit_is_the_minimum_of_the_penalised_loss() -> None:
    """scikit-learn's coefficients, fitted to a far narrower tolerance, give the same scores."""
    pairs = sample_pairs(60, 400, seed=0)
    after = pairs[:, 1] > pairs[:, 0]
    rows = sinusoid(60, 16)
    (classifier,) = PairClassifier.of(rows, 400)
    scores, intercept = classifier.scores(pairs, np.where(after, 1.0, -1.0))
    theirs = LogisticRegression(max_iter=100_000, tol=1e-9).fit(
        np.hstack([rows[pairs[:, 0]], rows[pairs[:, 1]]]), after
    )
    close(scores, np.stack([rows @ theirs.coef_[0, :16], rows @ theirs.coef_[0, 16:]], axis=1), 0.1)
    assert intercept == pytest.approx(theirs.intercept_[0], abs=0.1)


def test_the_sinusoid_is_predicted_without_error() -> None:
    pairs = sample_pairs(30, 900, seed=1)
    assert len({(int(first), int(second)) for first, second in pairs}) == 900
    # 0.0000 for 512 × 768, computed by other code.
    result = result_of(position_probe, sinusoid(512, 768))
    assert (value(result, "error"), value(result, "exact")) == (0.0, 100.0)


def test_the_error_on_noise_agrees_with_theory() -> None:
    """Least-norm regression on m rows of d independent normal values adds a prediction of variance
    m / (d − m − 1) times that of y to y's own (Hastie et al. 2022, arXiv 1903.08560, section 3,
    with no signal); one row is lost to the mean. The mean size of the sum of a uniform and a normal
    value then follows by integration.
    """
    m, d = 511 * 0.8, 768
    prediction = np.sqrt(m / (d - m - 1)) * 512 / np.sqrt(12)
    expected = np.mean(
        np.abs(
            np.linspace(-256, 256, 513)[:, None]
            + np.random.default_rng(0).normal(0, prediction, (513, 4000))
        )
    )
    errors = [value(result_of(position_probe, noise(seed)), "error") for seed in range(4)]
    assert np.mean(errors) == pytest.approx(expected, rel=0.03)


def test_errors_of_a_guess_on_noise_and_by_distance() -> None:
    result = result_of(position_probe, np.ones((512, 4)))
    assert value(result, "middle") == 128.0
    assert value(result, "error") == pytest.approx(128.0, abs=1.5)
    # 34 to 43%, computed by other code.
    assert 34.0 < value(result_of(order_probe, noise(0)), "error") < 43.0
    pairs = np.array([[0, 0], [3, 4], [5, 4], [1, 4], [4, 1], [0, 2], [0, 4]])
    starts, wrong = order_probe._by_distance(pairs, np.array([1, 1, 0, 1, 0, 0, 0], dtype=bool), 6)
    assert starts.tolist() == [1, 2, 4]
    assert_allclose(wrong, [50.0, 100 / 3, 0.0])


def test_only_the_first_512_positions_are_probed() -> None:
    first = np.cumsum(np.random.default_rng(1).normal(size=(600, 8)), axis=0)
    other = np.vstack([first[:512], -first[512:]])
    results = [result_of(position_probe, rows) for rows in (first, other, first[:512])]
    assert len({result.metrics for result in results}) == 1
    assert value(results[0], "probed") == 512.0


@pytest.mark.parametrize(
    ("rows", "grid"),
    [(np.ones((9, 4)), None), (np.ones((12, 4)), (3, 4)), (np.full((20, 4), np.nan), None)],
)
def test_grids_few_positions_and_nan_have_no_probe(rows: Floats, grid: Any) -> None:
    with pytest.raises(NotApplicableError):
        probed_rows(rows, grid)
    assert len(probed_rows(np.ones((12, 4)), grid=(1, 12))) == 12  # One row is a line.


@pytest.mark.parametrize(("module", "rows", "opening"), [
    (position_probe, sinusoid(64, 64), "A linear probe recovers every held-out position exactly,"),
    (position_probe, np.ones((40, 4)), None),
    (position_probe, np.random.default_rng(0).normal(size=(64, 16)), None),
    (position_probe, np.where(np.arange(80) < 48, 0, np.arange(80))[:, None],
     "A linear probe recovers the position only roughly:"),
    (order_probe, np.arange(64.0)[:, None], "A linear probe finds which"),
    (order_probe, np.ones((40, 4)), None),
    (order_probe, np.maximum(np.arange(80.0) - 40.0, 0.0)[:, None],
     "A linear probe usually finds which"),
    (order_probe, np.maximum(np.arange(80.0) - 60.0, 0.0)[:, None],
     "A linear probe finds which of two positions comes earlier only somewhat better than with"
     " shuffled positions: it errs on 29% of held-out pairs, against 46% from the same"),
])  # fmt: skip
def test_the_finding_follows_the_error(module: Any, rows: Floats, opening: str | None) -> None:
    texts = texts_of(result_of(module, rows))
    assert [text[: len(opening or "")] for text in texts] == ([opening] if opening else [])


@pytest.mark.parametrize("shape", [(60, 90), (60, 20)])
def test_the_ridge_equals_that_of_scikit_learn(shape: tuple[int, int]) -> None:
    """The penalty is that of scikit-learn's RidgeCV, by generalised cross-validation."""
    from sklearn.linear_model import Ridge

    draws = np.random.default_rng(3)
    rows = draws.normal(size=shape) + np.linspace(0.0, 2.0, shape[0])[:, None]
    positions = np.arange(shape[0])
    order = np.random.default_rng(7).permutation(shape[0])
    expected = np.empty(shape[0])
    for held in np.array_split(order, 5):
        trained = np.setdiff1d(order, held)
        centred = rows[trained] - rows[trained].mean(axis=0)
        targets = trained - trained.mean()
        n_values = min(centred.shape)
        candidates = 10.0 ** np.arange(-6.0, 3.0, 0.5) * np.sum(centred**2) / n_values
        errors = []
        for penalty in candidates:
            hat = centred @ np.linalg.solve(
                centred.T @ centred + penalty * np.eye(shape[1]), centred.T
            )
            residual = targets - hat @ targets
            errors.append(residual @ residual / max(len(trained) - 1.4 * np.trace(hat), 1e-9) ** 2)
        fit = Ridge(candidates[int(np.argmin(errors))]).fit(rows[trained], trained)
        expected[held] = fit.predict(rows[held])
    assert_allclose(ridge_predictions(compact(rows), positions, 7), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("width", [32, 128, 384, 410, 768])
def test_noise_of_any_width_is_predicted_as_by_guessing_the_middle(width: int) -> None:
    """Where least squares explode: 1,756 positions at width 410."""
    result = result_of(position_probe, np.random.default_rng(1).normal(size=(512, width)))
    assert 120.0 < value(result, "ridge") < 145.0
    assert result.findings == ()


def test_an_outlier_does_not_bend_the_probe() -> None:
    rows = sinusoid(64, 64).copy()
    rows[9] *= 1000.0
    result = result_of(position_probe, rows)
    assert value(result, "ridge") < 0.5
    assert np.flatnonzero(np.isnan(result.arrays["read"])).tolist() == [9]


@pytest.mark.parametrize("shape", [(20, 256), (64, 32), (512, 64)])
def test_no_order_is_claimed_of_noise(shape: tuple[int, int]) -> None:
    """A probe remembers rows of a small table: 14% errors on noise of 20 × 256."""
    for seed in range(3):
        rows = np.random.default_rng(seed).normal(0.0, 0.02, shape)
        assert result_of(order_probe, rows).findings == ()
