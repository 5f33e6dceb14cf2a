"""A lesson in five steps, with numbers of the checkpoints of this atlas."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind, Run
from generator.contracts.wording import Wording
from generator.site.data import lesson_numbers as lesson_data
from generator.site.use import Across, story

WORDING = Wording("wording/lesson.jinja")
SHOWN = "probe"  # The measure of use that the last step shows.

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
    runs: one, where the atlas has any; shown: a measure of all models, if one has a figure
    """

    steps: Sequence[tuple[str, str, str]]
    number: int
    lesson: lesson_data.Lesson
    runs: Sequence[Run]
    shown: Across | None


def pages(atlas: Atlas) -> list[Page]:
    """One page for each step."""
    lesson = lesson_data.of(atlas)
    shown = next((one for one in story(atlas) if one.use.key == SHOWN and one.figure), None)
    steps = [(name, short, WORDING(name)) for name, short in STEPS]
    figures = (shown.figure,) if shown and shown.figure else ()
    return [
        Page(
            f"learn/{name}.md",
            LessonContext(steps, number, lesson, atlas.runs[:1], shown),
            figures if name == STEPS[-1][0] else (),
        )
        for number, (name, *_) in enumerate(steps)
    ]


PAGE = PageKind("lesson", pages, tuple(f"learn/{name}.md" for name, _ in STEPS))
