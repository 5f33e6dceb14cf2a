"""Outline of a checkpoint's pages: which page and section shows an analysis of an encoding."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generator.contracts import Analysis, Atlas, Figure, Outcome, Reading

STAGES = {
    "see": "The encoding itself",
    "measure": "Measures",
    "place": "Compared with other encodings",
}
# With more encodings of one scheme, all but the first have pages of their own.
MOST_OF_A_SCHEME = 4
MOST_SECTIONS = 6  # on one page, which then stays below 60 kB


@dataclass(frozen=True)
class Outline:
    """Pages of the encodings of a checkpoint.

    own_stage: by key of the encoding: the stage that has its own page, None where all sections fit
        on the encoding's page
    own_pages: keys of the encodings that have their own pages: their scheme has many, or they do
        not fit on the checkpoint's page
    """

    slug: str
    own_stage: Mapping[str, str | None]
    own_pages: frozenset[str]

    @classmethod
    def of(cls, outcome: Outcome, analyses: Sequence[Analysis]) -> "Outline":
        """Outline that limits pages to about MOST_SECTIONS sections."""
        sizes = {
            reading.encoding.key: Counter(_stages(reading, analyses))
            for reading in outcome.readings
        }
        own_stage = {
            key: max(stages, key=stages.__getitem__) if stages.total() > MOST_SECTIONS else None
            for key, stages in sizes.items()
        }
        n_of_scheme = Counter(reading.encoding.scheme for reading in outcome.readings)
        seen, own_pages, room = set[str](), set[str](), MOST_SECTIONS
        for reading in outcome.readings:
            key, scheme = reading.encoding.key, reading.encoding.scheme
            n_sections = sum(size for stage, size in sizes[key].items() if stage != own_stage[key])
            if (n_of_scheme[scheme] > MOST_OF_A_SCHEME and scheme in seen) or (
                seen and n_sections > room
            ):
                own_pages.add(key)
            else:
                room -= n_sections
            seen.add(scheme)
        return cls(outcome.checkpoint.slug, own_stage, frozenset(own_pages))

    def folder(self, reading: Reading) -> str:
        """Folder of the pages of an encoding."""
        return f"checkpoints/{self.slug}/{reading.encoding.key}"

    def page(self, reading: Reading) -> str:
        """Path, without suffix, of the page that shows an encoding."""
        return (
            self.folder(reading)
            if reading.encoding.key in self.own_pages
            else f"checkpoints/{self.slug}"
        )

    def encoding(self, reading: Reading) -> str:
        """Address in the site of the chapter about an encoding."""
        return f"{self.page(reading)}.html#{reading.encoding.key}"

    def address(self, reading: Reading, analysis: Analysis) -> str:
        """Address in the site of the section that shows an analysis of an encoding."""
        if analysis.stage == self.own_stage[reading.encoding.key]:
            return f"{self.folder(reading)}/{analysis.stage}.html#{analysis.key}"
        return f"{self.page(reading)}.html#{anchor(reading, analysis)}"


def addresses_of(atlas: Atlas) -> dict[str, str]:
    """Address of the chapter about each encoding, by ``Outcome.path_of``."""
    outlines = ((outcome, Outline.of(outcome, atlas.analyses)) for outcome in atlas.outcomes)
    return {
        outcome.path_of(reading): outline.encoding(reading)
        for outcome, outline in outlines
        for reading in outcome.readings
    }


def anchor(reading: Reading, analysis: Analysis) -> str:
    """Anchor of an analysis's section on the page of an encoding."""
    return f"{reading.encoding.key}-{analysis.key}"


def figures_of(outcome: Outcome, reading: Reading, analysis: Analysis) -> Iterator[Figure]:
    """The figures of an analysis of an encoding that were drawn, in their order on the page."""
    for spec in analysis.figures:
        if f"{analysis.key}-{spec.key}" in reading.drawings:
            yield Figure.of(outcome, reading, analysis, spec)


def _stages(reading: Reading, analyses: Sequence[Analysis]) -> list[str]:
    """Stage of each applicable analysis, in the order of STAGES."""
    return sorted(
        (analysis.stage for analysis in analyses if reading.results[analysis.key].reason is None),
        key=list(STAGES).index,
    )
