"""The pictures that explain schemes, as figures of pages."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from generator import schemes
from generator.contracts import Figure, FigureSpec, Numbers, Picture, Results, Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def picture_of(scheme: Scheme) -> Picture:
    """The picture of a scheme, from the module beside it."""
    picture: Picture = import_module(f"{schemes.__name__}.{scheme.key}.picture").PICTURE
    return picture


def figure(scheme: Scheme) -> Figure:
    """The picture of a scheme as a figure without results."""
    picture, alt = picture_of(scheme), scheme.wording("picture_alt")
    spec = FigureSpec(
        "picture",
        scheme.wording("picture_caption"),
        scheme.wording("picture_how_to_read"),
        alt=lambda _: alt,
        draw=partial(_draw, picture.draw, picture.numbers()),
        python=(
            "for place, (name, values) in enumerate(arrays.items(), 1):\n"
            "    plt.subplot(1, len(arrays), place, title=name)\n"
            "    (plt.plot if values.ndim == 1 else plt.imshow)(values)"
        ),
    )
    return Figure(
        f"figures/schemes/{scheme.key}",
        spec,
        alt,
        f"data/schemes/{scheme.key}.npz",
        cache_key=(scheme.key,),
    )


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)
