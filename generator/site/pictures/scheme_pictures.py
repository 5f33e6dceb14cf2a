"""The pictures that explain schemes, as figures of pages."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from generator import schemes
from generator.contracts import Figure, FigureSpec, Numbers, Picture, Results, Scheme
from generator.contracts.wording import GivenTexts

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def picture_of(scheme: Scheme) -> Picture:
    """The picture of a scheme, from the module beside it."""
    picture: Picture = import_module(f"{schemes.__name__}.{scheme.key}.picture").PICTURE
    return picture


def figure(scheme: Scheme) -> Figure:
    """The picture of a scheme as a figure without results."""
    picture = picture_of(scheme)
    texts = [scheme.wording(f"picture_{name}") for name in ("caption", "how_to_read", "alt")]
    spec = FigureSpec(
        "picture",
        GivenTexts(*texts),
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
        texts[-1],
        f"data/schemes/{scheme.key}.npz",
        cache_key=(scheme.key,),
    )


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)
