from typing import Any

import numpy as np
import pytest
import torch

from benchmarks import without_encoding
from generator.checkpoints.model.engines_families import ENGINES
from generator.checkpoints.model.families import MIXED, RECURRENT, UNLESS
from generator.contracts import Scheme, discovery
from generator.encodings import NoEncoding
from generator.figures.svg import encode
from generator.schemes.none import SCHEME, find, trained
from generator.site.pictures import scheme_pictures
from generator.text import measured, uncertain
from tests.support import DictFiles, form_of

FAMILIES = sorted(RECURRENT | MIXED | set(UNLESS))
IN_TRANSFORMERS = [family for family in FAMILIES if family not in ENGINES]


def test_a_family_without_encoding_has_an_empty_one_and_nothing_with_weights() -> None:
    for family in FAMILIES:
        config = {"model_type": family}
        (encoding,) = find(DictFiles(config))
        assert form_of(encoding, NoEncoding).why in encoding.notes[0]
        assert "were not read because this entry has none" in encoding.notes[1]
        assert find(DictFiles(config, {"layers.0.A_log": np.zeros(2)})) == []


@pytest.mark.parametrize("family", IN_TRANSFORMERS)
def test_the_model_of_transformers_has_no_module_for_positions(family: str) -> None:
    from transformers import CONFIG_MAPPING, AutoModel

    config = CONFIG_MAPPING[family]()
    for key in ("num_hidden_layers", "num_blocks"):
        if isinstance(getattr(config, key, None), int) and family in RECURRENT:
            setattr(config, key, 1)
    with torch.device("meta"):
        model = AutoModel.from_config(config)
    kinds = {type(module).__name__ for module in model.modules()}
    assert not [
        kind
        for kind in kinds
        if any(word in kind for word in ("Rotary", "Position", "Rope", "Alibi"))
    ]
    assert not [name for name in model.state_dict() if "pos" in name.replace("post", "")]


def test_attention_in_jamba_ignores_the_order_of_earlier_tokens() -> None:
    """The output of the last query does not depend on the order of the keys."""
    from transformers import JambaConfig
    from transformers.models.jamba.modeling_jamba import JambaAttention

    torch.manual_seed(0)
    config = JambaConfig(
        hidden_size=16, num_attention_heads=2, num_key_value_heads=2, attn_implementation="eager"
    )
    attention, hidden = JambaAttention(config, 0).eval(), torch.randn(1, 6, 16)
    swapped = hidden[:, [3, 0, 4, 2, 1, 5]]
    last = [attention(inputs, attention_mask=None)[0][0, -1] for inputs in (hidden, swapped)]
    torch.testing.assert_close(last[0], last[1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("arrays", [{}, {"embed_tokens.weight": np.zeros((2, 2))}])
def test_a_hybrid_without_recurrent_layers_has_only_its_causal_mask(arrays: dict[str, Any]) -> None:
    (encoding,) = find(
        DictFiles(
            {"model_type": "granitemoehybrid", "layer_types": ["attention", "attention"]}, arrays
        )
    )
    assert "causal mask" in form_of(encoding, NoEncoding).why


@pytest.mark.parametrize(
    "layer_types", [["mamba", "attention"], ["linear_attention", "full_attention"]]
)
def test_a_hybrid_with_recurrent_layers_has_more_than_a_mask(layer_types: list[str]) -> None:
    (encoding,) = find(DictFiles({"model_type": "kimi_linear", "layer_types": layer_types}))
    assert "between attention layers, recurrent ones" in form_of(encoding, NoEncoding).why


@pytest.mark.parametrize("family", IN_TRANSFORMERS)
def test_no_other_scheme_recognises_a_family_without_encoding(family: str) -> None:
    from transformers import CONFIG_MAPPING

    import generator.schemes

    files = DictFiles(CONFIG_MAPPING[family]().to_dict())
    claimed = [
        encoding.scheme
        for scheme in discovery.load(generator.schemes, Scheme)
        for encoding in scheme.find(files)
    ]
    assert len(claimed) == 1


def test_without_a_mask_states_change_places_as_tokens_do_and_nothing_else() -> None:
    """An encoder without positions is equivariant to permutations (Zaheer et al. 2017)."""
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3, "vocab_size": 40}
    model = BertModel(BertConfig(**sizes, intermediate_size=32)).eval()
    model.embeddings.position_embeddings.weight.data.zero_()
    order, ids = [3, 0, 4, 2, 1, 5], torch.arange(7, 13)[None]
    with torch.no_grad():
        states, swapped = (model(input_ids=each)[0] for each in (ids, ids[:, order]))
    torch.testing.assert_close(swapped, states[:, order], rtol=0, atol=1e-5)


def rows_of(model: Any) -> Any:
    """The table of positions of a GPT-2: (n_positions, d_model)."""
    return model.transformer.wpe.weight.detach().numpy()


def test_a_model_is_trained_without_its_table_and_one_loses_it() -> None:
    data = np.random.default_rng(0).integers(256, size=500)
    before, trained = without_encoding.train(data, 0, 2, has_table=False)
    assert [rows_of(each).any() for each in (before, trained)] == [False, False]
    assert not torch.equal(before.transformer.wte.weight, trained.transformer.wte.weight)
    _, with_table = without_encoding.train(data, 0, 2, has_table=True)
    assert rows_of(with_table).any()
    without_encoding.without_table(with_table)
    assert not rows_of(with_table).any()
    # Of bytes that are all as frequent, log 256.
    every = np.tile(np.arange(256), 4)
    found = without_encoding.loss_of_frequencies(every, every)
    assert found == pytest.approx(np.log(256.0))


def test_numbers_of_the_page_are_those_of_the_models_that_were_trained() -> None:
    numbers, text = trained.PICTURE.numbers(), " ".join(SCHEME.wording.shown("explain").split())
    for title, losses in zip(
        ("a learned table", "none, in training and after it", "set to zero after training"),
        numbers["losses"],
        strict=True,
    ):
        error = losses.std(ddof=1) / np.sqrt(len(losses))
        assert f"{title} | {uncertain(losses.mean(), error)} |" in text
    assert f"each byte occurs | {measured(float(numbers['frequencies'][0]))} |" in text
    of_layers = numbers["trained"].mean(axis=0)
    assert int(of_layers.argmax()) == 3
    shares = 100.0 * numbers["trained"][:, 3]
    share = uncertain(shares.mean(), shares.std(ddof=1) / np.sqrt(len(shares)), "%")
    assert f"after three layers, a linear probe recovers {share}% of" in text
    assert f"at most {numbers['random'].max():.0%} in any layer with random weights" in text


def test_the_page_claims_what_every_seed_shows() -> None:
    numbers = trained.PICTURE.numbers()
    with_table, without, taken_away = numbers["losses"]
    assert with_table.max() < without.min() < without.max() < taken_away.min()
    assert taken_away.max() < numbers["frequencies"][0]
    assert numbers["trained"][:, 1:].min() > 4.0 * numbers["random"].max()
    assert np.abs(numbers["trained"][:, 0]).max() < 0.01


def test_the_picture_of_training_is_small_and_has_its_numbers() -> None:
    figure = scheme_pictures.further(SCHEME)["trained"]
    numbers, drawn = trained.PICTURE.numbers(), encode(figure.spec.draw, {})
    assert (len(drawn) < 40_000, drawn == encode(figure.spec.draw, {})) == (True, True)
    assert f"to {numbers['trained'].mean(axis=0).max():.2f} after three of four" in figure.alt
    assert (
        "losses of {:.2f} with a table, {:.2f} without any, and {:.2f} with one".format(
            *numbers["losses"].mean(axis=1)
        )
        in figure.alt
    )
