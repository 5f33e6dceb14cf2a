"""A lesson in five steps, with numbers of the checkpoints of this atlas."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.contracts import Atlas, Page, PageContext, PageKind, Run
from generator.contracts.words import Words
from generator.site.data import lesson as lesson_data
from generator.site.in_use import Across, story

WORDS = Words("words/lesson.jinja")
SHOWN = "probe"  # The measure of use that the last step shows.

STEPS = (
    ("index", "Order", WORDS("index")),
    ("tables", "Tables", WORDS("tables")),
    ("rotations", "Waves and rotations", WORDS("rotations")),
    ("biases", "Biases", WORDS("biases")),
    ("training", "What models learn", WORDS("training")),
)


@dataclass(frozen=True)
class LessonContext(PageContext, template="lesson.md.jinja"):
    """steps: name, short title and title of each; number: of this step, from 0
    runs: one, where the atlas has any; in_use: a measure of all models, if one has a figure
    """

    steps: Sequence[tuple[str, str, str]]
    number: int
    lesson: lesson_data.Lesson
    runs: Sequence[Run]
    in_use: Across | None


def pages(atlas: Atlas) -> list[Page]:
    """One page for each step."""
    lesson = lesson_data.of(atlas)
    in_use = next((one for one in story(atlas) if one.use.key == SHOWN and one.figure), None)
    figures = (in_use.figure,) if in_use and in_use.figure else ()
    return [
        Page(
            f"learn/{name}.md",
            LessonContext(STEPS, number, lesson, atlas.runs[:1], in_use),
            figures if name == STEPS[-1][0] else (),
        )
        for number, (name, *_) in enumerate(STEPS)
    ]


PAGE = PageKind("lesson", pages)
