"""What stays open about a checkpoint: a config that its family refuses, weights that were not read,
a scheme that was named and not found, tensors that may tell position.
"""

from collections.abc import Iterator, Sequence

from generator.checkpoints.model.families import UNREAD
from generator.checkpoints.model.position_tables import table_questions
from generator.checkpoints.model.stacks import stacks
from generator.checkpoints.model.unread_tensors import further_tensors, unread_tensors
from generator.contracts import Encoding, Files, Scheme
from generator.contracts.model_config import UNKNOWN
from generator.encodings import Form

COMPUTED = (
    "A rotation, ALiBi or a computed sinusoid may leave no tensor, so none of these is ruled out."
)
CONFIG = "config.json"
TYPE = ("position_embedding_type", "position_embeddings_type")


def open_questions(
    files: Files, encodings: Sequence[Encoding[Form]], schemes: Sequence[Scheme]
) -> Iterator[str]:
    """One sentence for each; none where the encodings that were found are all that config and
    weights speak of.
    """
    config = files.config
    if not config.settings or (config.family == UNKNOWN and config.source != CONFIG):
        yield (
            "There is no config.json, so the family is unknown; only names and shapes of tensors"
            " were used."
        )
    for refused in dict.fromkeys(stack.refused for stack in stacks(files.config) if stack.refused):
        yield (
            f"The config class of this family in transformers rejects {files.config.source}"
            f" ({refused}); it was read unchanged."
        )
    yield from dict.fromkeys(
        UNREAD[stack.config.family]
        for stack in stacks(files.config)
        if stack.config.family in UNREAD
    )
    if not files.tensors and not encodings:
        yield "No weights were read; a learned table or a learned bias would be stored there."
    yield from table_questions(files)
    if any(encoding.form.tells_position for encoding in encodings):
        yield from () if files.config.settings else further_tensors(files)
    else:
        if not files.config.settings:
            yield COMPUTED
        claims = [scheme.claims for scheme in schemes if scheme.claims]
        yield from unread_tensors(files, lambda name: any(claim.search(name) for claim in claims))
    for name in TYPE:
        word = files.config.anywhere.text(name)
        named = next((scheme for scheme in schemes if word in scheme.words), None)
        if named is not None and not any(encoding.scheme == named.key for encoding in encodings):
            yield (
                f"{files.config.source} names a scheme ({name}: “{word}”, {named.title}) that was"
                " not found."
            )
