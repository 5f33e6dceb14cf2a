"""A setting that is given twice, with different values."""

from collections.abc import Iterator, Mapping
from typing import Any

from generator.checkpoints.model import keys
from generator.contracts import Examined, Json, ModelConfig, Rule
from generator.contracts.model_config import ROPE, SIZES, TEXT

SETTINGS = frozenset(SIZES["n_positions"])
KINDS = ("rope_type", "type")
# Two words for one kind.
ALIKE = (["su", "longrope"], ["longrope", "su"], ["mrope", "default"], ["default", "mrope"])


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Both places with their values, and the one that counts."""
    config = examined.files.config
    if config.keys_of_file is not None:
        return  # The names are not those of the file.
    for one, other in _pairs(config):
        for names in _shared(one, other):
            named = list(zip((one, other), names, strict=True))
            values = [place[1][name] for place, name in named]
            if not _differ(*values):
                continue
            paths = [keys.dotted((*place[0], name)) for place, name in named]
            taken = [path in examined.followed for path in paths]
            followed = paths[taken.index(True)] if taken.count(True) == 1 else ""
            yield "given_twice", {"paths": paths, "values": values, "followed": followed}


Place = tuple[keys.Path, Mapping[str, Any]]


def _pairs(config: ModelConfig) -> Iterator[tuple[Place, Place]]:
    """Places in which the same setting may stand: a config and its section of a rotation, two such
    sections, and a config and that of its text model.
    """
    whole: Place = ((), config.settings)
    inner = [((name,), section.settings) for name in TEXT if (section := config.section(name))]
    for path, settings in (whole, *inner):
        sections: list[Place] = [
            ((*path, name), settings[name])
            for name in ROPE
            if isinstance(settings.get(name), Mapping)
        ]
        yield from (((path, settings), section) for section in sections)
        if len(sections) == 2:
            yield sections[0], sections[1]
    yield from ((whole, place) for place in inner)


def _shared(one: Place, other: Place) -> Iterator[tuple[str, str]]:
    """Names in both, and those of the kind of scaling where two sections have another each."""
    both = sorted(one[1].keys() & other[1].keys())
    yield from ((name, name) for name in both if _is_of_position(name))
    if not all(place[0] and place[0][-1] in ROPE for place in (one, other)):
        return
    given = [[name for name in KINDS if name in place[1]] for place in (one, other)]
    if sorted(given) == [[name] for name in KINDS]:
        [[mine], [theirs]] = given
        if [one[1][mine], other[1][theirs]] not in ALIKE:
            yield mine, theirs


def _is_of_position(name: str) -> bool:
    return name in SETTINGS or keys.concerns_position((name,))


def _differ(one: Any, other: Any) -> bool:
    """Whether both are plain values, and not equal."""
    plain = (str, int, float, bool)
    return isinstance(one, plain) and isinstance(other, plain) and one != other


RULE = Rule(key="two-places", levels={"given_twice": "warning"}, find=find)
