"""The parts of a row's trained model that can be run."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from generator import ROOT
from generator.checkpoints.files.reader import FolderFiles
from generator.checkpoints.model.input_layer import word_tensor
from generator.checkpoints.model.running.loading import load, load_first_layer
from generator.checkpoints.model.running.stack import (
    SOUND,
    RunningStack,
    has_two_sides,
    most_positions,
)
from generator.checkpoints.model.running.vocabulary import Vocabulary, vocabulary
from generator.contracts import Checkpoint, UseOptions
from generator.contracts.checkpoints import MOST_PARAMETERS
from generator.errors import NotApplicableError, RowError

TEXT = ROOT / "references" / "persuasion" / "text.txt"
MOST_WORDS = 100  # of a first layer
MOST_PADDING = 1000  # Ids of padding beyond are those of models that count positions otherwise.
BYTES = 4  # of a parameter, in single precision
IMAGES = "pixel_values"  # Name of an input in transformers.


def stacks(files: FolderFiles, checkpoint: Checkpoint, options: UseOptions) -> list[RunningStack]:
    """The parts of the model of ``files``, on the device that ``options`` name.

    errors: RowError where it cannot be loaded; NotApplicableError for a model that reads what is
        not given here
    """
    device = _device(options.device, files.where)
    model = load(files, _most_parameters(options, device))
    return list(_parts(model.to(device), files, checkpoint, options, device))


def first_layers(
    files: FolderFiles, checkpoint: Checkpoint, options: UseOptions
) -> list[RunningStack]:
    """The parts of the model with their first layer alone, which needs few of its weights.

    errors: RowError where it cannot be loaded; NotApplicableError for a model that reads no words
    """
    name = word_tensor(files)
    if name is None or len(files.tensors[name].shape) != 2:
        raise NotApplicableError("there is no word table among the tensors")
    words = vocabulary(files, checkpoint, files.tensors[name].shape[0])
    ids = np.random.default_rng(options.seed).choice(
        words.ids, min(MOST_WORDS, len(words.ids)), replace=False
    )
    config, size = files.resolved.config, files.tensors[name].shape[0]
    start = config.integer("decoder_start_token_id")
    starts = [start] if start is not None and 0 <= start < size else []
    # Some families count positions from the id of padding, whose place stays before the words.
    padding = config.integer("pad_token_id")
    before = [0] * (padding + 1) if padding is not None and 0 <= padding < MOST_PADDING else []
    reserved = [*before, *words.before, *words.after, *starts]
    all_ids = [*reserved, *map(int, ids)]
    model = load_first_layer(files, name, all_ids, _most_parameters(options, "cpu"))
    model.config.decoder_start_token_id = len(reserved) - 1 if starts else None
    marks = range(len(before), len(reserved))
    few = Vocabulary(
        np.arange(len(reserved), len(all_ids)),
        tuple(marks[: len(words.before)]),
        tuple(marks[len(words.before) : words.n_reserved]),
        of_model=np.array(all_ids, dtype=np.int64),
    )
    return list(_of_words(model, few, ("", *_sizes(model, options), "cpu")))


def text_of(options: UseOptions) -> str:
    """What models read: the text of a row, or else English."""
    return options.text or TEXT.read_text(encoding="utf-8")


def _device(asked: str, where: str) -> str:
    """errors: RowError where a GPU is asked for, and there is none"""
    import torch

    has_gpu = torch.cuda.is_available()
    if asked == "cuda" and not has_gpu:
        raise RowError(f"{where}: device: cuda, and torch finds no GPU; expected one, or cpu")
    return "cuda" if has_gpu and asked != "cpu" else "cpu"


def _most_parameters(options: UseOptions, device: str) -> int:
    """How many a model may have; on a GPU, half of its free memory is left for what it computes."""
    import torch

    if options.most_parameters is not None:
        return options.most_parameters
    if device == "cpu":
        return MOST_PARAMETERS
    free, _ = torch.cuda.mem_get_info()
    return int(free) // (2 * BYTES)


def _parts(
    model: Any, files: FolderFiles, checkpoint: Checkpoint, options: UseOptions, device: str
) -> Iterator[RunningStack]:
    config = model.config
    common = (text_of(options), *_sizes(model, options), device)
    if model.main_input_name == IMAGES:
        yield RunningStack("vision", "encoder", model, None, _grid(config), *common)
        return
    words = vocabulary(files, checkpoint, model.get_input_embeddings().weight.shape[0])
    yield from _of_words(model, words, common)


def _of_words(
    model: Any, words: Vocabulary, common: tuple[str, int, int, int, str]
) -> Iterator[RunningStack]:
    if not has_two_sides(model):
        stack = RunningStack("encoder", "encoder", model, words, None, *common)
        yield replace(stack, part="decoder", kind="decoder") if stack.is_causal else stack
        return
    if model.main_input_name != SOUND:
        yield RunningStack("encoder", "encoder", model, words, None, *common)
    # A decoder reads what stands behind the token with which it begins, and nothing at the end.
    start = getattr(model.config, "decoder_start_token_id", None)
    decoded = replace(words, before=words.before if start is None else (start,), after=())
    yield RunningStack("decoder", "decoder", model, decoded, None, *common)


def _sizes(model: Any, options: UseOptions) -> tuple[int, int, int]:
    """Length and number of sequences, and the seed."""
    length = min(options.length, most_positions(model) or options.length)
    return length, options.sequences, options.seed


def _grid(config: Any) -> tuple[int, int]:
    """Rows and columns of patches. errors: NotApplicableError"""
    size, patch = getattr(config, "image_size", None), getattr(config, "patch_size", None)
    if not isinstance(size, int) or not isinstance(patch, int) or size % patch:
        raise NotApplicableError("its config gives no grid of patches")
    return size // patch, size // patch
