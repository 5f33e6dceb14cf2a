"""Tables without structure."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule
from generator.encodings import PositionTable


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Tables of numbers that were read, all of whose rows are equal or cannot be distinguished from
    random ones.
    """
    for one in examined.encodings:
        form = one.form
        if isinstance(form, PositionTable) and one.provenance.sha256:
            kind = form.structure.kind
            if kind in ("random", "constant"):
                yield kind, {"tensor": one.provenance.tensor, "n_positions": form.shape[0]}


RULE = Rule(
    key="table-looks-untrained", levels={"random": "warning", "constant": "warning"}, find=find
)
