"""Stored frequencies that are not those of the settings."""

from collections.abc import Iterator

from generator.checkpoints.model.stored_rotation import stored_rotation
from generator.contracts import Examined, Json, Rule
from generator.encodings import Rotation


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """The first and the last of both, where no rotation of the settings has those of the tensor."""
    forms = [
        one.form
        for one in examined.encodings
        if isinstance(one.form, Rotation) and one.modality == "text"
    ]
    stored = stored_rotation(examined.files) if forms and examined.files.config.settings else None
    if stored is not None and not any(stored.equals(form.frequencies) for form in forms):
        ends = [each[[0, -1]].tolist() for each in (stored.frequencies, forms[0].frequencies)]
        yield "differ", {"tensor": stored.name, "stored": ends[0], "configured": ends[1]}


RULE = Rule(
    key="stored-frequencies-differ",
    levels={"differ": "warning"},
    find=find,
    about=("rope_theta",),
)
