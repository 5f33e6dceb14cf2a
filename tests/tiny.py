"""Small models of transformers with random weights: oracles for what a checkpoint of that family
does.
"""

from typing import Any

import numpy as np

from generator.numerics.arrays import Array, Floats

WIDTH, POSITIONS, VOCABULARY = 16, 32, 40
# The same sizes under every name that a family has for them.
SIZES: dict[str, Any] = {
    **dict.fromkeys((
        "hidden_size", "d_model", "n_embd", "embedding_size", "dim", "emb_dim", "hidden_dim",
        "word_embed_proj_dim", "true_hidden_size", "intra_bottleneck_size", "entity_emb_size",
        "coordinate_size", "shape_size", "intermediate_size", "d_ff", "dff", "ffn_dim",
        "encoder_ffn_dim", "decoder_ffn_dim",
    ), WIDTH),
    **dict.fromkeys((
        "num_attention_heads", "n_heads", "n_head", "num_heads", "encoder_attention_heads",
        "decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads",
    ), 2),
    **dict.fromkeys((
        "encoder_layers", "decoder_layers", "num_encoder_layers", "num_decoder_layers",
    ), 1),
    **dict.fromkeys((
        "max_position_embeddings", "n_positions", "max_source_positions", "max_target_positions",
    ), POSITIONS),
    "vocab_size": VOCABULARY, "position_embedding_type": "absolute",
}  # fmt: skip
LAYERS = dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "num_layers"), 1)
IDS = (5, 6, 7, 8, 9)  # Tokens without a meaning of their own in any of these families.


def build(model_type: str, **options: Any) -> Any:
    """The bare model of this family, ready to run."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModel

    torch.manual_seed(0)
    return AutoModel.from_config(
        CONFIG_MAPPING[model_type](**{**SIZES, **LAYERS, **options})
    ).eval()


def run(model: Any, **options: Any) -> Any:
    """The model's output for IDS."""
    import torch

    ids = torch.tensor([IDS])
    inputs = {
        "input_ids": ids,
        **({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}),
        **options,
    }
    with torch.no_grad():
        return model(**inputs)


def arrays(model: Any) -> dict[str, Array]:
    """The state dict, as it would be stored."""
    return {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}


def heard(model: Any, ending: str) -> dict[str, Floats]:
    """What each module whose name ends so returns for IDS: (n_tokens, d_model), by the module's
    name.
    """
    outputs: dict[str, Floats] = {}

    def keep(name: str) -> Any:
        def hook(_module: Any, _inputs: Any, output: Any) -> None:
            output = output[0] if isinstance(output, tuple) else output
            outputs[name] = np.asarray(output.detach().double().numpy()).reshape(
                -1, output.shape[-1]
            )[: len(IDS)]

        return hook

    for name, module in model.named_modules():
        if name == ending or name.endswith("." + ending):
            module.register_forward_hook(keep(name))
    run(model)
    return outputs
