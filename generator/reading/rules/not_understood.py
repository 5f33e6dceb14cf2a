"""What stays open about a checkpoint."""

from collections.abc import Iterator

from generator.checkpoints.model.halves import class_name, own_type
from generator.checkpoints.model.resolved import GATE, WINDOW, defaults, is_known
from generator.contracts import Examined, Json, Rule
from generator.reading.reader_defaults import reader_defaults
from generator.reading.taken import OLDER, all_readers


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Each question; a window that the config class of a model type drops whose classes are not
    that which the file names; of a family that transformers lacks, also whether an older version
    has it, and the model type of the class that the file names.
    """
    config = examined.files.config
    family, named = config.family, class_name(config)
    yield from (("open", {"question": question}) for question in examined.questions)
    window, is_gated = config.integer(WINDOW), defaults(config.claimed).get(GATE) is False
    if config.claimed and window and is_gated and not config.flag(GATE):
        yield "window_of_type", {"family": config.claimed, "window": window, "named": named}
    if config.keys_of_file is not None or is_known(family):
        return
    if family in reader_defaults(OLDER):
        [version] = [one.version for one in all_readers() if one.key == OLDER]
        yield "retired", {"family": family, "version": version}
    is_open = not any(stack.has_code for stack in examined.files.resolved.stacks)
    if is_open and named and (other := own_type(named)):
        yield "of_class", {"family": family, "named": named, "other": other}


RULE = Rule(
    key="not-understood",
    levels=dict.fromkeys(("open", "retired", "of_class", "window_of_type"), "note"),
    find=find,
    about=("model_type", "architectures"),
)
