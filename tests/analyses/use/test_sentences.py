"""What is said of models is as sure as their numbers, and names them."""

from dataclasses import replace

import numpy as np
import pytest

from generator.analyses.use import heads, induction, kernel, order, pairs, position, probe
from generator.contracts import Label, Metric, Result
from generator.contracts.wording import Wording

SMOLLM2 = "SmolLM2, 135M Instruct (4-bit weights)"
LABEL, OTHER = Label(SMOLLM2, "#111111"), Label("GPT-2", "#222222")


def lost(share: float, error: float, n: int = 64) -> Result:
    """Text of which half is worth 1 ± 0.05 nats, and a share of that with this error (%) if its
    words are shuffled.
    """
    draws = np.random.default_rng(0).normal(size=(2, n))
    unit = (draws - draws.mean(axis=1, keepdims=True)) / draws.std(axis=1, ddof=1, keepdims=True)
    unit[1] -= unit[0] * (unit[0] @ unit[1]) / (unit[0] @ unit[0])
    unit[1] /= unit[1].std(ddof=1)
    foreign = 1.0 + 0.05 * np.sqrt(n) * unit[0]
    shuffled = share / 100.0 * foreign + error / 100.0 * np.sqrt(n) * unit[1]
    return order._result(np.zeros((n, 2), int), [1], np.stack([shuffled, foreign]))


def texts(*results: Result) -> list[str]:
    return [finding.text for finding in order.confirmed(*results)]


@pytest.mark.parametrize(("share", "error", "words"), [
    (124.0, 18.0, "destroys 124 ± 18% (± standard error) of their value for predicting what"
     " follows; at 100%, they"),
    (124.0, 11.0, "destroys 124 ± 11% (± standard error) of their value for predicting what"
     " follows, so that they help less than an unrelated passage."),
    (60.0, 5.0, "destroys 60 ± 5% (± standard error) of their value for predicting what"
     " follows; at 100%, they would"),
])  # fmt: skip
def test_more_than_all_is_lost_only_beyond_two_standard_errors(
    share: float, error: float, words: str
) -> None:
    result = lost(share, error)
    (text,) = texts(result, result)
    assert words in text
    assert words in order.sentence({LABEL: result}, 7)


def test_both_runs_must_show_what_is_lost() -> None:
    assert texts(lost(60.0, 5.0), lost(8.0, 5.0)) == []
    (text,) = texts(lost(124.0, 5.0), lost(103.0, 5.0))
    assert "less than an unrelated passage" not in text


def test_the_one_model_that_was_measured_is_named_with_what_it_is() -> None:
    only = f"In {SMOLLM2}, the only one of 7 models for which this could be measured,"
    assert order.sentence({LABEL: lost(90.0, 5.0)}, 7).startswith(f"{only} shuffling the preced")
    assert order.sentence({LABEL: lost(90.0, 5.0)}, 1).startswith(f"In {SMOLLM2} shuffling")
    both = order.sentence({LABEL: lost(90.0, 5.0), OTHER: lost(60.0, 5.0)}, 7)
    assert f"destroys 60 ± 5% (GPT-2) to 90 ± 5% ({SMOLLM2}) (± standard error) of" in both
    moved = Result(
        (Metric("as_is", "", 4.6),),
        {"rises": np.array([3.412] + [np.nan] * 5), "errors": np.array([0.1] + [np.nan] * 5)},
    )
    assert position.sentence({LABEL: moved}, 7) == (
        f"{only} giving every token the same position raises the loss from 4.60 by 3.4 ± 0.1"
        " nats per token (± standard error)."
    )
    known = replace(moved, metrics=(*moved.metrics, Metric("as_is_error", "", 0.1)))
    assert "raises the loss from 4.6 ± 0.1 by 3.4 ± 0.1 nats" in position.sentence(
        {LABEL: known}, 1
    )


def test_shares_and_their_errors_follow_from_the_published_rises() -> None:
    result = lost(124.0, 18.0)
    changed, foreign = result.arrays["by_sequence"]
    without = [np.delete(changed, i).mean() / np.delete(foreign, i).mean() for i in range(64)]
    error = np.sqrt(63 / 64 * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert result.value("share_1") == pytest.approx(100 * changed.mean() / foreign.mean())
    assert result.value("share_1_error") == pytest.approx(100 * error)


def probed(at_input: float, at_end: float, random: float, error: float = 0.0) -> Result:
    """R² of the position that runs straight from the input to the last layer, and ends elsewhere
    with random weights. error: standard error of the latter
    """
    values = {"r2_input": at_input, "r2_highest": max(at_input, at_end), "r2_last": at_end}
    values |= dict.fromkeys(("r2_highest_error", "r2_last_error"), 0.01)
    metrics = (Metric(key, "", value) for key, value in {**values, "layer_highest": 4.0}.items())
    ends = {"r2": at_end, "r2_random": random}
    arrays = {key: np.linspace(at_input, end, 5) for key, end in ends.items()}
    return Result(tuple(metrics), {**arrays, "r2_random_errors": np.full(5, error)})


@pytest.mark.parametrize(("built", "dropped", "words"), [
    ((0.8, 0.7), (0.4, 0.3), "layers build up position where the input has none, and lose p"),
    ((0.8, 0.7), (0.4, 0.3, 0.9), "layers build up position where the input has none, and mostly"),
    ((0.8, 0.7, 0.1), (0.4, 0.3), "layers mostly build up position where the input has none, and"),
    ((0.8, 0.7), (0.4, 0.9), "layers build up position where the input has none."),
    ((0.8, 0.1), (0.4, 0.3, 0.9), "layers mostly lose part of the position where the input"),
    ((0.8,), (0.4,), ""),
    ((), (), ""),
])  # fmt: skip
def test_a_headline_says_of_all_or_most_models_what_at_least_two_of_them_do(
    built: tuple[float, ...], dropped: tuple[float, ...], words: str
) -> None:
    results = {Label(f"A{at}", "#111111"): probed(0.0, at, 0.1) for at in built}
    results |= {Label(f"B{at}", "#222222"): probed(1.0, at, 0.95) for at in dropped}
    headline = probe.headline(results)
    assert headline.startswith(words and f"By a linear probe, {words}")
    assert bool(headline) == bool(words)
    assert probe.draw_across(results).axes if results else True


def test_a_share_within_two_errors_of_random_weights_is_no_finding() -> None:
    told, near = probed(0.0, 0.78, 0.60, 0.05), probed(0.0, 0.78, 0.60, 0.10)
    (finding,) = probe.confirmed(told, told)
    assert finding.text.endswith("with random weights, at most 60 ± 5%.")
    assert probe.confirmed(near, near) == ()
    assert probe.headline({LABEL: near, OTHER: near}) == ""
    (lost,) = probe.confirmed(*[probed(1.0, 0.55, 0.99)] * 2)
    assert lost.text.startswith("A linear probe recovers 100% of the position's variance from the")


def test_no_layer_is_a_fraction() -> None:
    few = probed(0.0, 0.8, 0.1)
    (axes,) = probe.draw({LABEL: few}).axes
    assert np.array_equal(axes.get_xticks(), np.round(axes.get_xticks()))


def test_ends_of_heads_that_several_parts_share_say_so() -> None:
    free = (100.0, 25.0, 100.0)
    results = {
        Label(name, "#111111"): Result((Metric("none", "", share, "%"),))
        for name, share in zip("ABC", free, strict=True)
    }
    assert heads.sentence(results, 3) == (
        "On random input, between 0% of the heads (A; C) and 75% (B) put over 30% of their"
        " attention on one place, such as the first or the previous token."
    )
    assert heads.sentence({key: results[key] for key in list(results)[::2]}, 2) == ""


def test_a_head_of_images_is_of_a_kind_if_it_is_on_plain_and_on_noisy_ones() -> None:
    first = np.zeros((12, 6))
    shares = {"own": 100 / 72, "first": 800 / 72}
    metrics = tuple(Metric(kind, "", share, "%") for kind, share in shares.items())
    arrays = {"first": first, "pictures": first, "own_random": np.array(0.0),
              "first_random": np.array(0.0), "own_on_each": np.array(0.0),
              "first_on_each": np.array(400 / 72)}  # fmt: skip
    result = Result((*metrics, *(Metric(key, "", None, "%") for key in heads.SINKS)), arrays)
    (finding,) = heads.confirmed(result, result)
    assert finding.text == (
        "On plain and on noisy images alike, 4 of 72 heads (5.6%) put on average over 30% of their"
        " attention on the first token, which is not a patch; by the mean over both kinds of"
        " images, as in the table, 8 (11%) do; with random weights, none does."
    )
    fewer = Result((metrics[0], replace(metrics[1], value=500 / 72), *result.metrics[2:]),
                   arrays)  # fmt: skip
    assert heads.confirmed(result, fewer)[0].text == finding.text  # The table is of the first run.


RULE = (
    " A head counts if, as a mean over texts, queries of the second half (of the middle half, where"
    " positions also see later ones) give that token over 30% of their attention."
)
SINKS = (
    " Attention sinks, which are counted in each text and over all queries, are another number, in"
    " the table."
)


def test_heads_of_a_kind_count_beside_those_of_random_weights() -> None:
    def result(share: float, random: float) -> Result:
        return Result((Metric("first", "", share, "%"),), {"first_random": np.array(random)})

    (first, previous) = heads.ANALYSIS.bars
    both = {LABEL: result(49.2, 1.0), OTHER: result(3.0, 3.0)}
    assert first.sentence(both, 2) == (
        f"1 of 2 parts has more of them than with random weights, up to 49% of heads in {SMOLLM2}."
        f"{RULE}{SINKS}"
    )
    assert first.sentence({LABEL: both[LABEL]}, 1) == (
        f"{SMOLLM2} has more of them than with random weights: 49% of heads.{RULE}{SINKS}"
    )
    assert first.sentence({OTHER: both[OTHER]}, 1) == ""
    assert first.sentence({**both, OTHER: result(60.0, 70.0)}, 2) == first.sentence(both, 2)
    assert previous.sentence(both, 2) == ""


def test_the_rule_by_which_heads_count_is_given_once() -> None:
    keys = ("first", "previous")
    metrics = tuple(Metric(key, "", 40.0, "%") for key in keys)
    result = Result(metrics, {f"{key}_random": np.array(0.0) for key in keys})
    (first, previous) = (bars.sentence({LABEL: result}, 1) for bars in heads.ANALYSIS.bars)
    assert RULE in first
    assert RULE not in previous
    assert "They are counted as those on the first token are." in previous


def seen(power: float, exponent: float, **more: float) -> Result:
    """Shares of 200 heads whose attention falls with distance, with this exponent, and so on."""
    values = {"first": 60.0, "power": power, "exponent": exponent, "exponent_r2": 0.91, **more}
    metrics = (Metric(key, "", value, "%") for key, value in values.items())
    arrays = {"first": np.zeros((20, 10)), "first_random": np.array(0), "power_random": np.array(0)}
    return Result(tuple(metrics), arrays)


def test_heads_that_differ_between_two_runs_are_given_for_both() -> None:
    (_, same), (_, other) = (
        heads.confirmed(seen(10.0, 0.98), again) for again in (seen(10.0, 0.98), seen(8.5, 0.86))
    )
    assert "of 20 of 200 heads (10%) falls as a power" in same.text
    assert "exponent of 0.98 and a median R² of 0.91; with random" in same.text
    assert (
        "in a second run, which reads other tokens, that of 17 heads does, with a median"
        in other.text
    )


def test_numbers_of_heads_have_their_errors() -> None:
    errors = {"power_error": 0.9, "exponent_error": 0.05, "exponent_r2_error": 0.005}
    (_, finding) = heads.confirmed(*[seen(10.0, 0.98, first_error=2.0, **errors)] * 2)
    assert "20 of 200 heads (10.0 ± 0.9%) falls as a power of the distance, with a median exp" in (
        finding.text
    )
    assert "exponent of 0.98 ± 0.05 and a median R² of 0.910 ± 0.005; with" in finding.text
    assert set(errors) < set(finding.rests_on)
    few = seen(10.0, 0.98, first_error=2.0)
    assert "120 of 200 heads (60 ± 2%) put on average" in heads.confirmed(few, few)[0].text


def found_twice(count: float, previous: float, n_heads: int = 200) -> Result:
    """Induction heads and previous-token heads, each number with an error of 1."""
    values = {"count": count, "highest": 0.84, "previous_count": previous, "previous_highest": 0.9}
    values |= {f"{key}_error": 1.0 if key.endswith("count") else 0.01 for key in values}
    metrics = (Metric(key, "", value) for key, value in {**values, "chance": 0.02}.items())
    return Result(tuple(metrics), dict.fromkeys(induction.KINDS, np.zeros((1, n_heads))))


def test_parts_with_heads_of_each_kind_are_counted_and_the_most_is_named() -> None:
    both = {LABEL: found_twice(8.0, 16.0), OTHER: found_twice(0.0, 24.0)}
    assert induction.sentence(both, 2) == (
        "Induction heads, which attend to what followed the same token before, are found in 1 of 2"
        f" parts: 4.0 ± 0.5% of the heads of {SMOLLM2}. Previous-token heads are found in 2 of 2"
        " parts, up to 12.0 ± 0.5% of the heads of GPT-2."
    )
    none = induction.sentence({OTHER: found_twice(0.0, 0.0)}, 1)
    assert none.endswith("Previous-token heads are found in no part.")
    (_, finding) = induction.confirmed(*[both[LABEL]] * 2)
    assert finding.text.startswith("16 ± 1 of 200 heads are previous-token heads, which give more")
    assert finding.text.endswith("“Attention by offset” counts heads on the previous token where"
                                 " nothing is repeated.")  # fmt: skip


def first_layer(share: float, random: float) -> Result:
    metrics = (Metric("by_offset", "", share, "%"), Metric("by_offset_error", "", 1.0, "%"))
    return Result(metrics, {"by_offset_random": np.array(random)})


def test_the_least_and_the_most_of_a_first_layer_that_is_position_are_named() -> None:
    """Ten points beyond random weights are a finding."""
    ends = {LABEL: first_layer(34.0, 1.0), OTHER: first_layer(5.0, 1.0)}
    assert kernel.sentence(ends, 2) == (
        f"In the first layer, the offset accounts for 5 ± 1% (GPT-2) to 34 ± 1% ({SMOLLM2}) of the"
        " variance of attention logits over random tokens and offsets; in 1 of 2 parts, that is at"
        " least 10 percentage points more than with random weights."
    )
    only = kernel.sentence({OTHER: ends[OTHER]}, 1)
    assert only.endswith("and offsets, less than 10 percentage points more than with random weigh"
                         "ts.")  # fmt: skip
    for result in ends.values():
        assert bool(kernel.confirmed(result, result)) == (result is ends[LABEL])


def quarters(slowest: float, fastest: float) -> Result:
    shares = {"share_slowest_quarter": slowest, "share_fastest_quarter": fastest}
    errors = {f"{key}_error": 0.1 for key in shares}
    return Result(tuple(Metric(key, "", each, "%") for key, each in {**shares, **errors}.items()))


def test_the_quarters_of_a_rotation_that_are_used_are_those_of_one_model_or_of_two() -> None:
    of_one = "the slowest quarter of the rotation pairs accounts for 41.8 ± 0.1% of |q||k|, the"
    only = pairs.sentence({LABEL: quarters(41.8, 9.1)}, 7)
    assert only == (
        f"In {SMOLLM2}, the only one of 7 models for which this could be measured, {of_one} product"
        " of query and key norms, and the fastest for 9.1 ± 0.1%, as means over heads; with equal"
        " shares, each would have about 25%."
    )
    both = pairs.sentence({LABEL: quarters(41.8, 9.1), OTHER: quarters(30.0, 20.0)}, 7)
    assert both.startswith("In GPT-2, the slowest quarter of the rotation pairs accounts for 30.0")
    assert f"; in {SMOLLM2}, for 41.8 ± 0.1% of |q||k|" in both


def test_a_part_with_a_single_head_has_no_panel() -> None:
    of = {LABEL: (1, 1), OTHER: (2, 4)}
    results = {label: Result((), {"to_one_place": np.zeros(shape)}) for label, shape in of.items()}
    titles = [axes.get_title() for axes in heads.draw_across(results).axes if axes.get_title()]
    assert titles == ["GPT-2"]
    assert heads.draw_across({LABEL: results[LABEL]}).axes


def test_heads_on_the_first_token_are_counted_once() -> None:
    """As attention sinks where these are known."""
    keys = ("sinks", "sinks_error", "sinks_text", "sinks_text_error")
    with_sinks = seen(0.0, 0.0, **dict.fromkeys(keys, 2.0), sinks_repeated=0.0)
    for result, is_sinks in ((seen(0.0, 0.0), False), (with_sinks, True)):
        (finding,) = heads.confirmed(result, result)
        assert ("attention sinks" in finding.text, "on average" in finding.text) == (
            is_sinks, not is_sinks,
        )  # fmt: skip


def test_both_shares_of_heads_on_the_first_token_say_how_they_are_counted() -> None:
    """74% are sinks in each text, over all queries; 61% by the mean over texts, of later ones."""
    values = {"first": 61.0, "sinks": 74.0, "sinks_error": 2.0, "sinks_text": 74.2}
    metrics = tuple(Metric(key, "", value, "%") for key, value in values.items())
    result = Result(
        (*metrics, Metric("sinks_repeated", "", 0.0, "%")),
        {"first": np.zeros((1, 100)), "first_random": np.array(0.0)},
    )
    (finding,) = heads._of_sinks(result, result)
    assert finding.text.startswith(
        "On random tokens, 74 ± 2% of heads, counted in each text over all queries, are attention"
        " sinks, which put over 30% of their attention on the first token (61% do so in the mean"
        " over texts, for later queries alone); on text, 74"
    )
    [bars] = [one for one in heads.ANALYSIS.bars if one.metric == "first"]
    # Under one heading, one of the two.
    assert bars.sentence({LABEL: result}, 1) == (
        f"{SMOLLM2} has more of them than with random weights: 61% of heads.{RULE}{SINKS}"
    )


def test_what_is_as_good_as_nothing_is_written_without_a_power_of_ten() -> None:
    rises = {"all equal": 1.05, "shifted by 64": -9.19e-8, "shifted farthest": -1.55e-6}
    text = Wording("analyses/position.md.jinja")("moved_summary", rises=rises)
    assert text == "all equal 1.05, shifted by 64 0.00, shifted farthest 0.00"
    values = {"r2_input": 8.87e-5, "r2_highest": 0.78, "layer_highest": 20.0, "r2_last": 0.63}
    text = Wording("analyses/probe.md.jinja")("depth_summary", **values)
    assert text == "0.00 at the input, at most 0.78 after 20 layers, 0.63 at the end"
