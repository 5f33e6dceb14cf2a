"""The input of the first layer by the code of transformers for a family, as a reference for the sum
of vectors.
"""

from collections.abc import Sequence
from typing import Any

from generator.checkpoints.model.code_files import NoOutlineError, outline
from generator.contracts import Files, OwnLayer
from generator.libraries import import_transformers
from generator.numerics.arrays import frozen

# Other children of an embedding layer, or of a stack, compute something that the anatomy does not
# show.
CHILDREN = frozenset(
    {"word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm", "dropout"}
)
OF_T5 = frozenset({"embed_tokens", "block", "final_layer_norm", "dropout"})
BUCKETS = "relative_attention_num_buckets"  # A setting of T5 and what is built like it.
WORD_TABLE = "word_embeddings.weight"
MOST_PADDING = 2**18  # The small vocabulary is larger than this id.
PASSED_ON = (
    "hidden_size", "embedding_size", "dim", "type_vocab_size", "max_position_embeddings",
    "pad_token_id",
    "layer_norm_eps", "num_attention_heads", "n_heads", "intermediate_size", "hidden_dim",
)  # fmt: skip


def own_layer(files: Files, word_tensor: str, ids: Sequence[int]) -> OwnLayer:
    """The input of the first layer (n_tokens, d_model) by transformers for the tokens ``ids``.

    Its module gets a vocabulary of these tokens alone, so that the word table is not read.
    returns: an empty record for a family with neither an embedding layer like BERT's nor a stack
        like T5's, or where that does not fit the tensors and tokens
    """
    if word_tensor.endswith("embeddings.word_embeddings.weight"):
        return _of_embeddings(files, word_tensor, ids)
    if word_tensor.endswith(("shared.weight", "embed_tokens.weight")) and BUCKETS in files.config:
        return _of_stack(files, word_tensor, ids)
    return OwnLayer()  # Saves the import of transformers: no other name belongs to such a module.


def embedding_modules(files: Files, word_tensor: str) -> str:
    """The embedding layer of the model that transformers makes of a config, or else its tables of
    vectors, as Python prints them; "" where it makes none, or one of another word table.
    """
    try:
        model = outline(files.resolved)
    except NoOutlineError:
        return ""
    if model is None:
        return ""
    words = model.get_input_embeddings()
    if tuple(words.weight.shape) != files.tensors[word_tensor].shape:
        return ""
    layer = getattr(model, "embeddings", None)
    if layer is not None:
        return str(layer)
    return "\n".join(
        f"({name}): {module}"
        for name, module in model.named_children()
        if isinstance(module, type(words))
    )


def _of_stack(files: Files, word_tensor: str, ids: Sequence[int]) -> OwnLayer:
    """What an encoder like T5's gives to its first layer.

    The layers are as small as can be, since they come after it.
    """
    import torch

    distinct = sorted(set(ids))
    words = torch.from_numpy(files.rows(word_tensor, distinct))
    sizes = {"d_model": words.shape[1], "vocab_size": len(distinct), "pad_token_id": None}
    least = dict.fromkeys(("num_layers", "num_decoder_layers", "num_heads", "d_kv", "d_ff"), 1)
    models = import_transformers()
    if files.config.family not in models.CONFIG_MAPPING:
        return OwnLayer()
    try:
        stack = (
            models.AutoModel.from_config(
                models.CONFIG_MAPPING[files.config.family](**sizes, **least)
            )
            .get_encoder()
            .double()
            .eval()
        )
    # Config classes and models raise exceptions of any class.
    except Exception:  # noqa: BLE001
        return OwnLayer()
    if {name for name, _ in stack.named_children()} != OF_T5:
        return OwnLayer()
    received: list[Any] = []
    stack.block[0].register_forward_pre_hook(lambda _, given: received.append(given[0]))
    stack.embed_tokens.load_state_dict({"weight": words})
    with torch.no_grad():
        stack(torch.tensor([[distinct.index(index) for index in ids]]))
    return OwnLayer(frozen(received[0][0].numpy()), type(stack).__name__)


def _of_embeddings(files: Files, word_tensor: str, ids: Sequence[int]) -> OwnLayer:
    """What an embedding layer like BERT's returns."""
    import torch

    prefix = word_tensor.removesuffix("word_embeddings.weight")
    model_type = files.config.family if "model_type" in files.config else prefix.split(".")[0]
    distinct = sorted(set(ids))
    padding = files.config.integer("pad_token_id") or 0
    first = (padding if 0 <= padding < MOST_PADDING else 0) + 1
    layer = _layer(model_type, files, prefix, first + len(distinct))
    table = getattr(layer, "position_embeddings", None)
    if (
        layer is None
        or (table is not None and len(ids) + first > table.num_embeddings)
        or layer.word_embeddings.embedding_dim != files.tensors[word_tensor].shape[1]
    ):
        return OwnLayer()
    state = {
        name: torch.from_numpy(files.tensor(_stored(files, prefix + name)).copy())
        for name in layer.state_dict()
        if name != WORD_TABLE
    }
    words = torch.zeros(
        first + len(distinct), layer.word_embeddings.weight.shape[1], dtype=torch.float64
    )
    words[first:] = torch.from_numpy(files.rows(word_tensor, distinct))
    layer.load_state_dict({**state, WORD_TABLE: words})
    with torch.no_grad():
        output = layer(torch.tensor([[first + distinct.index(index) for index in ids]]))
    return OwnLayer(frozen(output[0].numpy()), type(layer).__name__)


def _stored(files: Files, name: str) -> str:
    """The name of a tensor, or its former one in the first checkpoints of BERT."""
    former = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )
    return name if name in files.tensors else former


def _layer(model_type: str, files: Files, prefix: str, vocabulary: int) -> Any:
    """The layer with random weights; None unless its shapes, computed without memory first, are
    those of the tensors.
    """
    import torch

    models = import_transformers()
    if model_type not in models.CONFIG_MAPPING:
        return None
    passed = {key: files.config.value(key) for key in PASSED_ON if key in files.config}
    try:
        config = models.CONFIG_MAPPING[model_type](
            **passed, vocab_size=vocabulary, num_hidden_layers=1
        )
        with torch.device("meta"):
            outline = getattr(models.AutoModel.from_config(config), "embeddings", None)
    # Config classes and models raise exceptions of any class.
    except Exception:  # noqa: BLE001
        return None
    if outline is None or not CHILDREN.issuperset(name for name, _ in outline.named_children()):
        return None
    shapes = {
        _stored(files, prefix + name): tuple(tensor.shape)
        for name, tensor in outline.state_dict().items()
        if name != WORD_TABLE
    }
    stored = {name: files.tensors[name].shape for name in shapes if name in files.tensors}
    return type(outline)(config).double().eval() if stored == shapes else None
