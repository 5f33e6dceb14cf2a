"""Outline of a checkpoint's pages: which page and section shows an analysis of an encoding."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from generator.contracts import Analysis, Atlas, Figure, Outcome, Reading

STAGES = {
    "see": "The encoding itself",
    "measure": "Measures",
    "place": "Compared with other encodings",
}
# With more encodings of one scheme, all but the first are side by side on a page of their own.
MOST_OF_A_SCHEME = 4


@dataclass(frozen=True)
class Outline:
    """Pages of the encodings of a checkpoint. beside: keys of those on the second page"""

    slug: str
    beside: frozenset[str]

    @classmethod
    def of(cls, outcome: Outcome) -> "Outline":
        """Outline in which no scheme fills the page of the checkpoint."""
        n_of_scheme = Counter(reading.encoding.scheme for reading in outcome.readings)
        seen, beside = set[str](), set[str]()
        for reading in outcome.readings:
            scheme = reading.encoding.scheme
            if n_of_scheme[scheme] > MOST_OF_A_SCHEME and scheme in seen:
                beside.add(reading.encoding.key)
            seen.add(scheme)
        return cls(outcome.checkpoint.slug, frozenset(beside))

    @property
    def page_beside(self) -> str:
        """Path, without suffix, of the page that has encodings side by side."""
        return f"checkpoints/{self.slug}/layers"

    def page(self, reading: Reading) -> str:
        """Path, without suffix, of the page that shows an encoding."""
        is_beside = reading.encoding.key in self.beside
        return self.page_beside if is_beside else f"checkpoints/{self.slug}"

    def encoding(self, reading: Reading) -> str:
        """Address in the site of the chapter about an encoding."""
        return f"{self.page(reading)}.html#{reading.encoding.key}"

    def address(self, reading: Reading, analysis: Analysis) -> str:
        """Address in the site of the section that shows an analysis of an encoding."""
        return f"{self.page(reading)}.html#{anchor(reading, analysis)}"


def chapter(outcome: Outcome, reading: Reading) -> str:
    """Address in the site of the chapter about an encoding: its page where it is the only one."""
    address = Outline.of(outcome).encoding(reading)
    return address.partition("#")[0] if len(outcome.readings) == 1 else address


def section(outcome: Outcome, reading: Reading, analysis: Analysis) -> str:
    """Address in the site of the section that shows an analysis of an encoding."""
    return Outline.of(outcome).address(reading, analysis)


def applicable(atlas: Atlas) -> list[Analysis]:
    """The analyses that apply to an encoding, which have a page."""
    readings = [reading for outcome in atlas.outcomes for reading in outcome.readings]
    return [
        analysis
        for analysis in atlas.analyses
        if any(reading.results[analysis.key].reason is None for reading in readings)
    ]


def anchor(reading: Reading, analysis: Analysis) -> str:
    """Anchor of an analysis's section on the page of an encoding."""
    return f"{reading.encoding.key}-{analysis.key}"


def figures_of(outcome: Outcome, reading: Reading, analysis: Analysis) -> Iterator[Figure]:
    """The figures of an analysis of an encoding that were drawn, in their order on the page."""
    for spec in analysis.figures:
        if f"{analysis.key}-{spec.key}" in reading.drawings:
            yield Figure.of(outcome, reading, analysis, spec)
