"""What stays open about a checkpoint: a config that its family refuses, weights that were not read,
a scheme that was named and not found, tensors that may tell position.
"""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from generator.checkpoints.model import table_names
from generator.checkpoints.model.families import UNREAD
from generator.checkpoints.model.family_formats import flat_text
from generator.checkpoints.model.halves import class_name
from generator.checkpoints.model.position_tables import table_questions, unread_tables
from generator.contracts import Claimed, Encoding, Files, Scheme
from generator.contracts.model_config import UNKNOWN
from generator.contracts.wording import Wording
from generator.encodings import Form
from generator.text import tensor_in_words

# Classes of modeling_perceiver.py of transformers.
WITH_FOURIER = re.compile(
    r"PerceiverFor(ImageClassification(Fourier|ConvProcessing)|OpticalFlow"
    r"|MultimodalAutoencoding)$"
)
TEXTS = Wording("wording/questions.jinja")
CONFIG = "config.json"
MOST = 3  # sentences
OF_POSITION = frozenset(
    {"pos", "position", "positions", "positional", "posemb", "posembed", "posenc", "pe", "wpe"}
)
# What has such a word in its name and tells no position.
NO_ENCODING = re.compile(r"position_ids|gaussian_matrix|pos_weight|_index$|_mask$|(^|\.)bias$")
WORD_TABLE = re.compile(r"(^|[._])(\w*emb\w*|wte)(\.emb)?\.weight$", re.IGNORECASE)
NARROWEST = 8  # dimensions of a table
TYPE = ("position_embedding_type", "position_embeddings_type")


def _unread(files: Files, is_claimed: Claimed) -> Iterator[str]:
    """A sentence for each tensor that has the name of a table, or for some that may tell position
    by name or shape, and how many more there are. ``guessed_tables`` has to come first.
    """
    yield from (sentences := list(dict.fromkeys(unread_tables(files))))
    known = [name for name in files.tensors if table_names.question(name)]
    if sentences or known:
        yield from _known(files, known)
        return
    likely = list(_likely(files, is_claimed))
    for name, how in likely[:MOST]:
        tensor = tensor_in_words(name, files.tensors[name].shape)
        yield TEXTS("likely", tensor=tensor, by=how)
    yield from _more(likely)


def _known(files: Files, names: Sequence[str]) -> Iterator[str]:
    for name in names[:MOST]:
        tensor = tensor_in_words(name, files.tensors[name].shape)
        yield TEXTS(f"named_{table_names.question(name)}", tensor=tensor)
    yield from _more(names)


def _more(names: Sequence[object]) -> Iterator[str]:
    if more := len(names[MOST:]):
        yield TEXTS("more", count=more)


def _likely(files: Files, is_claimed: Claimed) -> Iterator[tuple[str, str]]:
    """Tensors that may be a table or a bias, with what tells so, first those that it is their
    name.
    """
    names = [name for name in files.tensors if not NO_ENCODING.search(name)]
    by_name = [name for name in names if _is_named(files, name) or is_claimed(name)]
    yield from ((name, "name") for name in by_name)
    yield from (
        (name, "shape") for name in names if _is_shaped(files, name) and name not in by_name
    )


def _is_named(files: Files, name: str) -> bool:
    return _n_axes(files, name) > 1 and not OF_POSITION.isdisjoint(
        re.split(r"[._]|\d+", name.lower())
    )


def _is_shaped(files: Files, name: str) -> bool:
    """Whether a tensor has the shape of the positions and dimensions in the config, that of a
    parameter of one row of vectors for all inputs, or of a further table beside that of the words.
    """
    shape = files.tensors[name].shape
    if _n_axes(files, name) != 2 or shape[-1] < NARROWEST or math.prod(shape) == 0:
        return False
    configured = files.config.size("n_positions"), files.config.size("d_model")
    if configured == shape:
        return True
    if not name.endswith(".weight"):
        return len(shape) == 3 and shape[0] == 1
    larger = (
        other
        for other, info in files.tensors.items()
        if WORD_TABLE.search(other) and len(info.shape) == 2
        if info.shape[0] > shape[0] and info.shape[1:] == shape[1:]
    )
    return WORD_TABLE.search(name) is not None and shape[0] >= NARROWEST and any(larger)


def _n_axes(files: Files, name: str) -> int:
    """Number of axes of a tensor that are longer than 1."""
    return sum(size > 1 for size in files.tensors[name].shape)


def rejections(files: Files) -> Iterator[str]:
    """What config classes reject."""
    reasons = dict.fromkeys(stack.refused for stack in files.resolved.stacks if stack.refused)
    yield from (TEXTS("refused", source=files.config.source, reason=reason) for reason in reasons)


def _of_classes(files: Files) -> Iterator[str]:
    """What config classes take for another type, and a text model that they have in a section that
    is missing.
    """
    resolved, source = files.resolved, files.config.source
    stacks, is_alone = resolved.stacks, resolved.readable.section("text_config") is None
    for name in dict.fromkeys(name for stack in stacks for name in stack.mended):
        yield TEXTS("mended", source=source, name=name)
    if not files.tensors and is_alone and flat_text(files.config) is not None:
        yield TEXTS("flat_text", source=source)


def _of_no_config(files: Files) -> Iterator[str]:
    """That there are no settings, or of no model type and without keys of a known program."""
    config = files.config
    is_unread = config.source != CONFIG and config.family == UNKNOWN and not config.keys_of_file
    if is_unread or not config.settings:
        yield TEXTS("no_config")


def open_questions(
    files: Files, encodings: Sequence[Encoding[Form]], schemes: Sequence[Scheme]
) -> Iterator[str]:
    """One sentence for each; none where the encodings that were found are all that config and
    weights speak of.
    """
    yield from chain(_of_no_config(files), rejections(files), _of_classes(files))
    families = dict.fromkeys(stack.config.family for stack in files.resolved.stacks)
    yield from (TEXTS(f"unread_{family}") for family in families if family in UNREAD)
    if WITH_FOURIER.search(class_name(files.config)):
        yield TEXTS("fourier_features")
    if not (files.tensors or encodings or any(any(scheme.asks(files)) for scheme in schemes)):
        yield TEXTS("no_weights")
    yield from table_questions(files)
    if any(encoding.form.tells_position for encoding in encodings):
        further = [] if files.config.settings else filter(table_names.OTHER.search, files.tensors)
        yield from _known(files, list(further))
    else:
        if not files.config.settings:
            yield TEXTS("computed")
        claims = [scheme.claims for scheme in schemes if scheme.claims]
        yield from _unread(files, lambda name: any(claim.search(name) for claim in claims))
    for name in TYPE:
        word = files.config.anywhere.text(name)
        named = next((scheme for scheme in schemes if word in scheme.asked_by), None)
        if named is not None and not any(encoding.scheme == named.key for encoding in encodings):
            source = files.config.source
            yield TEXTS("not_found", source=source, key=name, value=word, scheme=named.title)
