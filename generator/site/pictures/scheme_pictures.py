"""The pictures that explain schemes, as figures of pages."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from generator.contracts import Figure, FigureSpec, Numbers, Results, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def figure(scheme: Scheme) -> Figure:
    """The picture of a scheme as a figure without results."""
    picture, numbers = scheme.picture, scheme.picture.numbers()
    spec = FigureSpec(
        "picture",
        picture.caption,
        picture.how_to_read,
        alt=lambda _: picture.alt,
        draw=partial(_draw, picture.draw, numbers),
        python=(
            "for place, (name, values) in enumerate(arrays.items(), 1):\n"
            "    plt.subplot(1, len(arrays), place, title=name)\n"
            "    (plt.plot if values.ndim == 1 else plt.imshow)(values)"
        ),
    )
    return Figure(
        f"figures/schemes/{scheme.key}",
        spec,
        picture.alt,
        f"data/schemes/{scheme.key}.npz",
        cache_key=(scheme.key,),
    )


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)
