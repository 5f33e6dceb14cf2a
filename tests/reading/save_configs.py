"""``python save_configs.py IN OUT``: every IN/*.json, loaded and saved by the transformers of that
Python in OUT/*/config.json; what it cannot load is left out.
"""

import json
import sys
from contextlib import suppress
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

from transformers import AutoConfig


def save(source: Path, target: Path) -> None:
    # Without a type, transformers takes that which the random name of the folder has in it.
    if "model_type" not in json.loads(source.read_text("utf-8")):
        return
    with TemporaryDirectory() as folder:
        copy(source, Path(folder) / "config.json")
        with suppress(Exception):  # Config classes refuse in many ways.
            AutoConfig.from_pretrained(folder).save_pretrained(target)


if __name__ == "__main__":
    for each in sorted(Path(sys.argv[1]).glob("*.json")):
        save(each, Path(sys.argv[2]) / each.stem)
