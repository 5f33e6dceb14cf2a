"""A lesson in five steps, with numbers of the checkpoints of this atlas."""

from generator.contracts import Atlas, Page, PageKind, untyped
from generator.contracts.words import Words
from generator.site.data import lesson as lesson_data
from generator.site.in_use import story

WORDS = Words("words/lesson.jinja")
SHOWN = "probe"  # The measure of use that the last step shows.

STEPS = (
    ("index", "Order"),
    ("tables", "Tables"),
    ("rotations", "Waves and rotations"),
    ("biases", "Biases"),
    ("training", "What models learn"),
)


def pages(atlas: Atlas) -> list[Page]:
    """One page for each step."""
    lesson = lesson_data.of(atlas)
    in_use = next((one for one in story(atlas) if one.use.key == SHOWN and one.figure), None)
    steps = [(name, short, WORDS(name)) for name, short in STEPS]
    return [
        Page(
            f"learn/{name}.md",
            untyped(
                f"lesson_{name}.md.jinja",
                {
                    "steps": steps,
                    "number": number,
                    "title": title,
                    "lesson": lesson,
                    "runs": atlas.runs[:1],
                    "in_use": in_use,
                },
            ),
            (in_use.figure,) if in_use and in_use.figure and name == STEPS[-1][0] else (),
        )
        for number, (name, _, title) in enumerate(steps)
    ]


PAGE = PageKind("lesson", pages)
