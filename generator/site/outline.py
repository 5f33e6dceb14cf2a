"""Where what is said of an encoding stands: on which page, and at which place of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import Analysis, Outcome, Reading

STAGES = {"see": "What it holds", "measure": "What the measures say", "place": "On one scale with all others"}
MOST_OF_A_KIND = 4  # More encodings of one scheme have pages of their own, but for the first.
MOST_SECTIONS = 7  # on one page, so that it stays below 60 kB


@dataclass(frozen=True)
class Story:
    """How a checkpoint's encodings are told.

    alone: for each encoding by key, the stage that has a page of its own: of many sections, the one that has the most
    apart: keys of the encodings that have pages of their own: many of a kind, and those for which there is no room beside the others
    """

    slug: str
    alone: Mapping[str, str | None]
    apart: frozenset[str]

    @classmethod
    def of(cls, outcome: Outcome, analyses: Sequence[Analysis]) -> "Story":
        sizes = {reading.encoding.key: Counter(_answered(reading, analyses)) for reading in outcome.readings}
        alone = {key: max(found, key=found.__getitem__) if found.total() > MOST_SECTIONS else None for key, found in sizes.items()}
        kinds = Counter(reading.encoding.scheme for reading in outcome.readings)
        seen, apart, room = set[str](), set[str](), MOST_SECTIONS
        for reading in outcome.readings:
            key, scheme = reading.encoding.key, reading.encoding.scheme
            n_here = sum(size for stage, size in sizes[key].items() if stage != alone[key])
            if (kinds[scheme] > MOST_OF_A_KIND and scheme in seen) or (seen and n_here > room):
                apart.add(key)
            else:
                room -= n_here
            seen.add(scheme)
        return cls(outcome.checkpoint.slug, alone, frozenset(apart))

    def folder(self, reading: Reading) -> str:
        """Where an encoding's own pages stand."""
        return f"checkpoints/{self.slug}/{reading.encoding.key}"

    def home(self, reading: Reading) -> str:
        """The page, without its ending, that shows an encoding."""
        return self.folder(reading) if reading.encoding.key in self.apart else f"checkpoints/{self.slug}"

    def address(self, reading: Reading, analysis: Analysis) -> str:
        """Where an analysis's figures of an encoding stand in the site."""
        if analysis.stage == self.alone[reading.encoding.key]:
            return f"{self.folder(reading)}/{analysis.stage}.html#{analysis.key}"
        return f"{self.home(reading)}.html#{place(reading, analysis)}"


def place(reading: Reading, analysis: Analysis) -> str:
    """The name of an analysis's section on the page that shows an encoding."""
    return f"{reading.encoding.key}-{analysis.key}"


def _answered(reading: Reading, analyses: Sequence[Analysis]) -> list[str]:
    """The stage of each analysis that answered, in the order of stages."""
    return sorted((each.stage for each in analyses if reading.results[each.key].reason is None), key=list(STAGES).index)
