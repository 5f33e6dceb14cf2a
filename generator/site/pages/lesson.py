"""A lesson in five steps, with numbers of the checkpoints of this atlas."""

from generator.contracts import Atlas, Page, PageKind
from generator.site.data import lesson as lesson_data
from generator.site.in_use import story

SHOWN = "probe"  # The measure of use that the last step shows.

STEPS = (
    ("index", "Order", "Attention alone sees a bag of words"),
    ("tables", "Tables", "A table gives each place a vector"),
    ("rotations", "Waves and rotations", "A rotation makes only the offset count"),
    ("biases", "Biases", "A bias says how far to look"),
    ("training", "What models learn", "Training finds its own way to count"),
)


def pages(atlas: Atlas) -> list[Page]:
    """One page for each step."""
    lesson = lesson_data.of(atlas)
    in_use = next((one for one in story(atlas) if one.use.key == SHOWN and one.figure), None)
    return [
        Page(
            f"learn/{name}.md",
            f"lesson_{name}.md.jinja",
            {
                "steps": STEPS,
                "number": number,
                "title": title,
                "lesson": lesson,
                "runs": atlas.runs[:1],
                "in_use": in_use,
            },
            (in_use.figure,) if in_use and in_use.figure and name == STEPS[-1][0] else (),
        )
        for number, (name, _, title) in enumerate(STEPS)
    ]


PAGE = PageKind("lesson", pages)
