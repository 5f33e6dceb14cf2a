"""The model's own embedding layer, as an oracle: what transformers' module returns for the same tokens."""

from collections.abc import Sequence
from typing import Any

from generator.contracts import Files
from generator.model_config import family
from generator.numerics import Floats, frozen

# A layer with other children than these does something that the anatomy does not show.
CHILDREN = frozenset({"word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm", "dropout"})
PASSED_ON = (
    "hidden_size", "embedding_size", "dim", "type_vocab_size", "max_position_embeddings", "pad_token_id",
    "layer_norm_eps", "num_attention_heads", "n_heads", "intermediate_size", "hidden_dim",
)  # fmt: skip


def module_output(files: Files, word_tensor: str, ids: Sequence[int]) -> tuple[Floats, str] | None:
    """Output (n_tokens, d_model) and class name of the embedding layer that transformers has for this family.

    The layer gets a small vocabulary that holds the sentence's tokens alone, so that the word table need not be read.
    returns: None where the family has no layer of BERT's kind
    """
    import torch

    if not word_tensor.endswith("embeddings.word_embeddings.weight"):
        return None
    prefix = word_tensor.removesuffix("word_embeddings.weight")
    model_type = family(files.config) if "model_type" in files.config else prefix.split(".")[0]
    distinct = sorted(set(ids))
    padding = files.config.get("pad_token_id", 0)
    first = (padding if isinstance(padding, int) else 0) + 1
    layer = _layer(model_type, files, first + len(distinct))
    if layer is None:
        return None
    state = {name: torch.from_numpy(_stored(files, prefix + name)) for name in layer.state_dict() if name != "word_embeddings.weight"}
    words = torch.zeros(first + len(distinct), layer.word_embeddings.weight.shape[1], dtype=torch.float64)
    words[first:] = torch.from_numpy(files.rows(word_tensor, distinct))
    layer.load_state_dict({**state, "word_embeddings.weight": words})
    with torch.no_grad():
        output = layer(torch.tensor([[first + distinct.index(index) for index in ids]]))
    return frozen(output[0].numpy()), type(layer).__name__


def _stored(files: Files, name: str) -> Floats:
    return files.tensor(name).copy()


def _layer(model_type: str, files: Files, vocabulary: int) -> Any:
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    if model_type not in CONFIG_MAPPING:
        return None
    passed = {key: files.config[key] for key in PASSED_ON if key in files.config}
    config = CONFIG_MAPPING[model_type](**passed, vocab_size=vocabulary, num_hidden_layers=1)
    with torch.device("meta"):
        outline = getattr(AutoModel.from_config(config), "embeddings", None)
    if outline is None or not CHILDREN.issuperset(name for name, _ in outline.named_children()):
        return None
    return type(outline)(config).double().eval()
