"""A model of transformers with the weights of a row."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.resolved import (
    MOST_SHOWN,
    given,
    is_known,
    quietly,
)
from generator.contracts import Resolved
from generator.errors import NotApplicableError, RowError
from generator.libraries import import_transformers, refusal
from generator.numerics.arrays import Floats
from generator.text import enumerated, short

MOST_NAMED = 3  # Tensors that a refusal names.
# Lists of transformers in which a class with a head is looked for, before that without one.
WITH_HEADS = (
    "MODEL_FOR_CAUSAL_LM_MAPPING",
    "MODEL_FOR_MASKED_LM_MAPPING",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING",
)
# Parameters that no measure reads: of masked patches, and of a summary of the last layer.
UNUSED = re.compile(r"(^|\.)(mask_token|pooler\..*)$")
LAYER = re.compile(r"\.(\d+)\.")
# Names of numbers of layers in config objects.
DEPTHS = ("num_hidden_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
BUFFERS = re.compile(r"(^|\.)(position_ids|inv_freq|masked_bias|attn\.bias|token_type_ids)$")
# Names in OpenAI's files of Whisper, and in transformers.
WHISPER = (
    (r"\bblocks\b", "layers"),
    (r"\bmlp\.0\b", "fc1"),
    (r"\bmlp\.2\b", "fc2"),
    (r"\bmlp_ln\b", "final_layer_norm"),
    (r"\bcross_attn_ln\b", "encoder_attn_layer_norm"),
    (r"\bcross_attn\b", "encoder_attn"),
    (r"\battn_ln\b", "self_attn_layer_norm"),
    (r"\battn\b", "self_attn"),
    (r"\bquery\b", "q_proj"),
    (r"\bkey\b", "k_proj"),
    (r"\bvalue\b", "v_proj"),
    (r"\bout\b", "out_proj"),
    (r"\bln_post\b", "layer_norm"),
    (r"^decoder\.ln\b", "decoder.layer_norm"),
    (r"\btoken_embedding\b", "embed_tokens"),
    (r"\bpositional_embedding$", "embed_positions.weight"),
)
OF_WHISPER = re.compile(r"(en|de)coder\.blocks\.0\.mlp\.0\.weight")


def load(files: FolderFiles, most_parameters: int) -> Any:
    """The model that transformers makes for ``files``, in float32, with attention computed step by
    step, ready to be run.

    errors: RowError where transformers makes none, or where a tensor that matters is missing or
        left over, which it names
    """
    settings = _settings(files.resolved)
    if not files.tensors:
        raise RowError(f"{files.where}: there are no weights; expected those of a trained model")
    _check_size(files, files.tensors, most_parameters)
    refusal = ""
    for model_class in _classes(files, settings):
        outline = _outline(files.where, model_class, settings, most_parameters)
        state = _in_model(_stored(files, files.tensors), files, outline)
        settings.tie_word_embeddings = _ties_words(outline, state)
        model, problem = _filled(model_class, settings, state)
        if not problem:
            return model
        refusal = refusal or f"{problem}; expected those of {model_class.__name__}"
    raise RowError(f"{files.where}: {refusal}")


def load_first_layer(
    files: FolderFiles, words: str, ids: Sequence[int], most_parameters: int
) -> Any:
    """The model with its first layer alone, in float64, and the words ``ids`` alone as its
    vocabulary, so that a few tensors are read.

    words: name of the tensor of all words
    errors: RowError as ``load``
    """
    settings = _settings(files.resolved)
    model_class = import_transformers().MODEL_MAPPING[type(settings)]
    _shorten(settings)
    for section in _sections(settings):
        section.vocab_size = len(ids)
        if section.pad_token_id is not None and section.pad_token_id >= len(ids):
            section.pad_token_id = None  # It would lie beyond the words.
    outline = _outline(files.where, model_class, settings, most_parameters)
    chosen = [
        name
        for name in files.tensors
        if name != words and ((found := LAYER.search(name)) is None or found[1] == "0")
    ]
    _check_size(files, chosen, most_parameters)
    stored = _stored(files, chosen)
    state = _in_model({**stored, words: files.rows(words, ids)}, files, outline)
    model, problem = _filled(model_class, settings, state, is_whole=False)
    if problem:
        raise RowError(f"{files.where}: {problem}; expected those of {model_class.__name__}")
    return model.double()


def _shorten(settings: Any) -> None:
    """Leave one layer of each stack of a config object, and of all lists by layer.

    errors: NotApplicableError for a config without a number of layers
    """
    for section in _sections(settings):
        depth = getattr(section, "num_hidden_layers", None)
        if depth is None:
            raise NotApplicableError("its config has no number of layers")
        for name, value in list(vars(section).items()):
            if isinstance(value, list) and len(value) == depth:
                setattr(section, name, value[:1])
        for name in DEPTHS:
            if hasattr(section, name):
                setattr(section, name, 1)


def _sections(settings: Any) -> list[Any]:
    """A config object, and that of its text model where it is another."""
    return list({id(part): part for part in (settings, settings.get_text_config())}.values())


def untrained(model: Any, seed: int) -> Any:
    """A model of the same class and config with random weights, as training would begin with."""
    import torch

    with quietly():
        torch.manual_seed(seed)
        fresh = type(model)._from_config(model.config, attn_implementation="eager")
    return fresh.to(model.dtype).eval()


def _settings(resolved: Resolved) -> Any:
    """The config object of a family.

    errors: RowError
    """
    config = resolved.given
    if resolved.refused:
        raise RowError(f"{config.where}: transformers refuses its config ({resolved.refused})")
    if not is_known(config.family):
        kind = "class" if config.claimed else "type"
        raise RowError(
            f"{config.where}: transformers has no model of the {kind}"
            f" {config.family!r:.60}, and"
            " remote code is never run"
        )
    with quietly():
        asked = given(resolved.readable.settings)
        settings = import_transformers().CONFIG_MAPPING[config.family](**asked)
    settings._attn_implementation = "eager"  # Other ways return no attention.
    return settings


def _check_size(files: FolderFiles, names: Iterable[str], most_parameters: int) -> None:
    """errors: RowError where tensors have more numbers than may be loaded"""
    size = sum(int(np.prod(files.tensors[name].shape)) for name in names)
    if size > most_parameters:
        raise RowError(
            f"{files.where}: {size:,} parameters; expected at most {most_parameters:,}"
            " (`most_parameters` of `use`)"
        )


def _outline(where: str, model_class: Any, settings: Any, most_parameters: int) -> Any:
    """A model without numbers, as large as may be loaded, whatever its weights have.

    errors: RowError
    """
    import torch

    try:
        with quietly(), torch.device("meta"):
            outline = model_class(settings)
    # Models check their configs in many ways, and raise exceptions of any class.
    except Exception as error:  # noqa: BLE001
        raise RowError(
            f"{where}: transformers makes no model of this config ({refusal(error, MOST_SHOWN)})"
        ) from None
    size = sum(tensor.numel() for tensor in (*outline.parameters(), *outline.buffers()))
    if size > most_parameters:
        raise RowError(
            f"{where}: its config asks for {size:,} parameters; expected at most"
            f" {most_parameters:,} (`most_parameters` of `use`)"
        )
    return outline


def _classes(files: FolderFiles, settings: Any) -> Iterator[Any]:
    """Classes of transformers for a config, those with a head that the files may fill first.

    Its ``architectures`` may name anything there is in transformers: models of its kind count.
    """
    models = import_transformers()
    named = files.config.listed("architectures")
    lists = [getattr(models, name, {}) for name in WITH_HEADS]
    candidates = [
        found
        for name in named
        if _is_model(found := getattr(models, str(name), None), type(settings))
    ]
    candidates += [found[type(settings)] for found in lists if type(settings) in found]
    if type(settings) in models.MODEL_MAPPING:
        candidates.append(models.MODEL_MAPPING[type(settings)])
    distinct = list(dict.fromkeys(filter(None, candidates)))
    if not distinct:
        raise RowError(f"{files.where}: transformers has no model of this config")
    yield from distinct


def _is_model(found: Any, of_config: type) -> bool:
    """Whether ``found`` is the class of a model that such a config makes."""
    base = import_transformers().PreTrainedModel
    return (
        isinstance(found, type)
        and issubclass(found, base)
        and getattr(found, "config_class", None) is of_config
        and getattr(found, "forward", None) is not base.forward
    )


def _stored(files: FolderFiles, names: Iterable[str]) -> dict[str, Floats]:
    """Tensors in single precision, as models run: double would take twice the memory."""
    return {
        name: np.asarray(files.tensor(name), dtype=np.float32)
        for name in names
        if not BUFFERS.search(name)
    }


def _in_model(stored: Mapping[str, Floats], files: FolderFiles, outline: Any) -> dict[str, Floats]:
    """Tensors under the names of ``outline``, as far as it has them.

    errors: RowError for values that are no numbers, of which a model makes more
    """
    if any(OF_WHISPER.fullmatch(name) for name in stored):
        state = {of_whisper(name): values for name, values in stored.items()}
    else:
        state = dict(files.of_model(stored, outline))
    with np.errstate(invalid="ignore"):
        odd = {name for name, values in state.items() if not np.isfinite(values.sum(dtype=float))}
    if odd:
        raise RowError(
            f"{files.where}: NaN or infinity in {_listed(odd)}; expected weights of finite numbers"
        )
    return state


def of_whisper(name: str) -> str:
    """The name in transformers of a tensor in OpenAI's files of Whisper."""
    for ours, theirs in WHISPER:
        name = re.sub(ours, theirs, name)
    return f"model.{name}"


def _ties_words(outline: Any, state: Mapping[str, Floats]) -> bool:
    """Whether the output has the matrix of the words: as the config says, or where no tensor is its
    own.
    """
    head = outline.get_output_embeddings()
    own = [name for name, module in outline.named_modules() if module is head]
    stored = any(name.endswith(f"{own[0]}.weight") for name in state) if own else True
    return bool(getattr(outline.config, "tie_word_embeddings", False)) or not stored


def _filled(
    model_class: Any, settings: Any, state: Mapping[str, Floats], *, is_whole: bool = True
) -> tuple[Any, str]:
    """The model, and which tensors are missing or left over, as the end of a sentence, "" where
    none matters.

    is_whole: whether none may be left over
    """
    import torch

    tensors = {
        name: torch.from_numpy(np.require(values, np.float32, ["C", "W"]))
        for name, values in state.items()
    }
    import_transformers().utils.logging.disable_progress_bar()
    with quietly():
        model, info = model_class.from_pretrained(
            None,
            config=settings,
            state_dict=tensors,
            output_loading_info=True,
            attn_implementation="eager",
            dtype=torch.float32,
            ignore_mismatched_sizes=True,
        )
    found = {
        "lack": {name for name in info["missing_keys"] if not UNUSED.search(name)},
        "also have": {
            name for name in info["unexpected_keys"] if is_whole and LAYER.search(f".{name}")
        },
        "have in another shape": {name for name, *_ in info["mismatched_keys"]},
    }
    problems = [
        f"its weights {verb} {_listed(tensors)}" for verb, tensors in found.items() if tensors
    ]
    return model.eval(), "; ".join(problems)


def _listed(tensors: set[str]) -> str:
    names = sorted(tensors)
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return enumerated([short(name) for name in names[:MOST_NAMED]]) + more
