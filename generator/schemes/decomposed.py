"""A learned vector for each offset by rows and another for each by columns, multiplied with the query (MViTv2, ViTDet, SAM)."""

import re
from collections import Counter

import numpy as np

from generator.contracts import Encoding, Files, Provenance, Scheme
from generator.encodings import Form, RelativeTable
from generator.errors import RowError
from generator.numerics import frozen

NAME = re.compile(r"(^|\.)rel_pos_([hw])$")
NUMBER = re.compile(r"(?:^|\.)(\d+)(?=\.)")
ALONG = {"h": "rows", "w": "columns"}
TURNED = "It is stored by query minus key; it is turned round here, to key minus query."
STRETCHED = "For another number of patches than these the model stretches it in a straight line between its rows."


def find(files: Files) -> list[Encoding[Form]]:
    names = sorted((name for name in files.tensors if NAME.search(name)), key=_place)
    parts = {name: _part(name) for name in names}
    alike = Counter(parts.values())
    return [_encoding(files, name, part if alike[part] == 1 else f"{part} of {name}") for name, part in parts.items()]


def _place(name: str) -> tuple[str, list[int], str]:
    """Layers of one tower in order: 2 comes before 10."""
    return re.split(r"\d", name)[0], [int(number) for number in NUMBER.findall(name)], name


def _part(name: str) -> str:
    """Layer and direction; where there are several numbers, that next to the tensor is the layer's."""
    layer = "".join(f" layer {number}" for number in NUMBER.findall(name)[-1:])
    return f"vision{layer} {ALONG[name[-1]]}"


def _encoding(files: Files, name: str, part: str) -> Encoding[Form]:
    tensor = files.tensors[name]
    if len(tensor.shape) != 2 or tensor.shape[0] % 2 == 0 or tensor.shape[1] == 0:
        raise RowError(f"{files.where}: {name} has shape {tensor.shape}; expected (2 · patches − 1, width)")
    reach = tensor.shape[0] // 2
    form = RelativeTable(frozen(files.tensor(name)[::-1]), frozen(np.arange(-reach, reach + 1)))
    said = f"Its {tensor.shape[0]} vectors are for offsets along {ALONG[name[-1]]} among {reach + 1} patches. {TURNED}"
    provenance = Provenance(tensor.file, name, tensor.dtype, tensor.shape, files.sha256(name))
    return Encoding(part, SCHEME.key, form, provenance, (said, STRETCHED))


SCHEME = Scheme(
    key="decomposed",
    title="Offsets by rows and columns",
    summary="A learned vector for each offset down and another for each offset across; their products with the query are added to the attention logit.",
    looked_for="rel_pos_h and rel_pos_w among the tensors",
    order=64,
    find=find,
)
