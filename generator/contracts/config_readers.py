"""Programs that read config.json: what each takes from it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from generator.contracts.model_config import Json


@dataclass(frozen=True)
class ConfigReader:
    """A program, as its public code of one version is.

    key: the name of its module, with hyphens
    read_on: the day to which its code was read; source: where in that code
    is_run: whether tests hold what it takes against what the program itself took when it was run,
        on small configs of many families
    takes: returns the config.json that means to transformers 5 what the given one means to this
        program, None where that is not known; raises RowError for one that it refuses
    limit: returns the positions that it serves by default, from what its config class makes of
        such a config and the kinds of scaling in it; None for the length that the config gives
    has_limit: whether it has one at all
    limit_elsewhere: returns the other files in which its limit is, where they have one
    has_windows: returns whether its layers have the windows of a config.json; None: always
    pair_order: returns which components of a head it turns together where its own key of a
        config.json says so, "" where that does not; None for a program without such a key
    keys: keys of position that transformers 5 does not read, each with the model types whose code
        in this program does
    """

    key: str
    name: str
    version: str
    read_on: str
    source: str
    is_run: bool
    takes: Callable[[Json], Json | None]
    limit: Callable[[Json, Sequence[Json]], int] | None = None
    has_limit: bool = True
    limit_elsewhere: Callable[[Json], Sequence[str]] | None = None
    has_windows: Callable[[Json], bool] | None = None
    pair_order: Callable[[Json], str] | None = None
    keys: Mapping[str, Collection[str]] = field(default_factory=dict)
