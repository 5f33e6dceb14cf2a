"""How many real conversions `compare` judges rightly: `python -m benchmarks.conversions` prints a
line for each kind, of the conversions that the tests have.

Where ATLAS_PYTHON_WITH_OTHER_TRANSFORMERS has the path of a Python, its transformers saves configs
again, too.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from generator.reading import comparison, sides
from generator.reading.find import look
from tests.reading import judged, test_saved_again
from tests.reading import test_conversions as conversions
from tests.reading import test_families_converted as families

Kind = tuple[str, Iterable[judged.Judged]]


def kinds(folder: Path) -> Iterator[Kind]:
    """Each kind with its conversions, which are judged when they are asked for."""
    unpacked = families.unpack(folder / "families")
    yield "llama.cpp, with weights", families.by_llama_cpp(unpacked)
    yield "llama.cpp, with weights and one setting to break", conversions.by_llama_cpp()
    published = (
        conversions.judged_published(name, folder / "published") for name in conversions.PUBLISHED
    )
    yield "llama.cpp, settings of published configs", published
    yield "mlx-lm", families.by_others(unpacked, "mlx_lm")
    yield "peft", families.by_others(unpacked, "peft")
    yield "mlx-lm, peft, quantisers and ONNX", conversions.by_others(folder)
    pythons = {sys.executable: test_saved_again.LOSE_THEIR_BASE}
    if other := os.environ.get(test_saved_again.OTHER_PYTHON):
        pythons[other] = test_saved_again.HALVE_THEIR_WINDOW
    for number, (python, lose) in enumerate(pythons.items()):
        (again := folder / f"saved {number}").mkdir()
        yield f"saved again by {python}", test_saved_again.judged_again(python, lose, again)


def main() -> None:
    """Print the table, and what is wrong."""
    every: list[judged.Judged] = []
    # Origins decide nothing, and take longest.
    with (
        patch.object(sides, "look_closely", look),
        patch.object(comparison, "unread_keys", lambda *_: ()),
        TemporaryDirectory() as folder,
    ):
        (Path(folder) / "families").mkdir()
        for kind, conversions_of_kind in kinds(Path(folder)):
            of_kind = [*conversions_of_kind]
            every += of_kind
            sys.stdout.write(judged.line(kind, of_kind) + "\n")
            sys.stdout.flush()
    sys.stdout.write(judged.line("all", every) + "\n")
    sys.stdout.writelines(f"{one.wrong}\n" for one in every if one.wrong)


if __name__ == "__main__":
    main()
