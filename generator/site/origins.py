"""Where the settings of an encoding come from, in words."""

from generator.contracts import EncodingRecord
from generator.words import Words

WORDS = Words("words/origins.jinja")


def in_words(record: EncodingRecord) -> dict[str, str]:
    """For each parameter that follows from settings, by its title: the keys of the file that
    determine it, or whose default it is.
    """
    return {
        WORDS("parameter", name=name): WORDS(
            "origin",
            keys=list(origin.keys),
            default_of=origin.default_of,
            source=record.provenance.file,
        )
        for name, origin in record.origins.items()
    }
