"""``preload`` for workers that evaluate checkpoints, too.

Shared, an import costs once what it would cost each process that needs it.
"""

from generator.pipeline.preload import share

TRANSFORMERS = ("transformers.models.auto.modeling_auto", "transformers.modeling_utils")

share(
    (
        "torch",
        *TRANSFORMERS,
        "sklearn.model_selection",
        "huggingface_hub.file_download",
        "tokenizers",
    )
)
