"""What transformers makes of a GGUF file: the names and the order of rows of its models, and their
tokenizers.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from generator.checkpoints.files.formats.gguf.architectures import AS_THEY_ARE, REORDERED
from generator.errors import RowError
from generator.libraries import import_transformers
from generator.numerics.arrays import Floats


def of_model(
    architecture: str, tensors: Mapping[str, Floats], model: Any, where: str
) -> dict[str, Floats]:
    """The tensors of a file under the names, and in the order of rows, of ``model``.

    where: the file, for messages
    errors: RowError for an architecture whose order is not known
    """
    if architecture not in REORDERED | AS_THEY_ARE:
        raise RowError(
            f"{where}: GGUF of the architecture {architecture!r:.60}, whose order of rows is not"
            f" known; expected one of {', '.join(sorted(REORDERED | AS_THEY_ARE))}"
        )
    import_transformers()
    from transformers import modeling_gguf_pytorch_utils as library

    processor = library.TENSOR_PROCESSORS.get(architecture, library.TensorProcessor)(
        config=model.config.to_dict()
    )
    theirs = library.get_gguf_hf_weights_map(model, processor)
    named = {
        theirs[name]: np.asarray(processor.process(values, name).weights)
        for name, values in tensors.items()
        if name in theirs
    }
    return {**{name: tensors[name] for name in tensors if name not in theirs}, **named}


def tokenizer(path: str) -> bytes | None:
    """The tokenizer.json of a file; None where transformers makes none."""
    import_transformers()
    try:
        from transformers.integrations.gguf import gguf_tokenizer_mapping as library
    except ImportError:  # In older versions it is elsewhere, and of another form.
        return None
    try:
        architecture, settings, _ = library.get_gguf_tokenizer(path)
        made, _ = library.convert_gguf_tokenizer(architecture, settings)
    # Settings of another program may fail anywhere.
    except Exception:  # noqa: BLE001
        return None
    return str(made.to_str()).encode()
