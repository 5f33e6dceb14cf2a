"""A lesson in five steps, with numbers of the checkpoints of this atlas."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Figure, Page, PageContext, PageKind, Run
from generator.contracts.wording import Wording
from generator.site.data import lesson_numbers as lesson_data
from generator.site.pictures import scheme_pictures
from generator.site.use import Across, story

WORDING = Wording("wording/lesson.jinja")
SHOWN = "probe"  # The measure of use that the last step shows.
# The picture of a scheme that a step shows, by its key.
WAVES, OF_WAVES = "waves", "rotations"

STEPS = (
    ("index", "Order"),
    ("tables", "Tables"),
    ("rotations", "Waves and rotations"),
    ("biases", "Biases"),
    ("training", "What models learn"),
)


@dataclass(frozen=True)
class LessonContext(PageContext, template="lesson.md.jinja"):
    """steps: name, short title and title of each; number: of this step, from 0
    waves: how a wave becomes a rotation; None without such a scheme
    runs: one, where the atlas has any; shown: a measure of all models, if one has a figure
    """

    steps: Sequence[tuple[str, str, str]]
    number: int
    lesson: lesson_data.Lesson
    waves: Figure | None
    runs: Sequence[Run]
    shown: Across | None


def pages(atlas: Atlas) -> list[Page]:
    """One page for each step."""
    lesson = lesson_data.of(atlas)
    shown = next((one for one in story(atlas) if one.use.key == SHOWN and one.figure), None)
    steps = [(name, short, WORDING(name)) for name, short in STEPS]
    pictures = [scheme_pictures.further(scheme) for scheme in atlas.schemes]
    waves = next((each[WAVES] for each in pictures if WAVES in each), None)
    figures = {STEPS[-1][0]: shown.figure if shown else None, OF_WAVES: waves}
    return [
        Page(
            f"learn/{name}.md",
            LessonContext(steps, number, lesson, waves, atlas.runs[:1], shown),
            (figure,) if (figure := figures.get(name)) else (),
        )
        for number, (name, *_) in enumerate(steps)
    ]


PAGE = PageKind("lesson", pages, tuple(f"learn/{name}.md" for name, _ in STEPS))
