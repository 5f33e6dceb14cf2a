"""python check.py NUMBERS.json compares an engine's cosines and sines with the files beside it."""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any


def wrong(expected: Any, numbers: Any) -> Iterator[str]:
    """A line on each value that is missing, or off by more than its precision loses."""
    exact = numbers.get("precision") == "double"
    for row, rotation in enumerate(expected["rotations"]):
        given = {at["position"]: at for at in numbers["rotations"][row]["values"]}
        for at, name in ((at, name) for at in rotation["values"] for name in ("cos", "sin")):
            own, right = given.get(at["position"], {}).get(name, []), at[name]
            for pair, frequency in enumerate(rotation["inverse_frequencies"]):
                loss = 1e-8 if exact else 3e-6 * (1 + at["position"] * frequency)
                if len(own) != len(right) or not abs(own[pair] - right[pair]) <= loss:
                    where = f"rotation {row}, position {at['position']}, {name} of pair {pair}"
                    yield f"{where}: {own[pair : pair + 1]}, expected {right[pair]}"


if __name__ == "__main__":
    numbers, beside = json.loads(Path(sys.argv[1]).read_bytes()), Path(__file__).with_name
    data = beside(name := numbers["id"].replace("/", "--") + ".json").read_bytes()
    same = json.loads(beside("index.json").read_bytes())["sha256"][name] == sha256(data).hexdigest()
    lines = wrong(json.loads(data), numbers) if same else [f"{name}: not as index.json lists it"]
    raise SystemExit("\n".join([*lines][:20]) or None)
