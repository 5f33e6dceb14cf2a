"""The pictures that explain schemes, as figures of pages."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from generator import schemes
from generator.contracts import (
    Figure,
    FigureSpec,
    FurtherPicture,
    Numbers,
    Picture,
    Results,
    Scheme,
)
from generator.contracts.wording import GivenTexts

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def picture_of(scheme: Scheme) -> Picture:
    """The picture of a scheme, from the module beside it."""
    picture: Picture = import_module(f"{schemes.__name__}.{scheme.key}.picture").PICTURE
    return picture


def numbers_of(scheme: Scheme) -> dict[str, Callable[[], Numbers]]:
    """Functions that return the numbers in each of its pictures, by the name of its files."""
    picture = picture_of(scheme)
    further = {f"{scheme.key}-{key}": one.numbers for key, one in picture.further.items()}
    return {scheme.key: picture.numbers, **further}


def figure(scheme: Scheme) -> Figure:
    """The picture of a scheme as a figure without results."""
    return _figure(scheme, picture_of(scheme), "picture", scheme.key)


def further(scheme: Scheme) -> dict[str, Figure]:
    """The figures of sections of its page, by key."""
    return {
        key: _figure(scheme, one, key, f"{scheme.key}-{key}")
        for key, one in picture_of(scheme).further.items()
    }


def _figure(scheme: Scheme, picture: Picture | FurtherPicture, key: str, name: str) -> Figure:
    texts = [scheme.wording(f"{key}_{text}") for text in ("caption", "how_to_read", "alt")]
    spec = FigureSpec(
        key,
        GivenTexts(*texts),
        draw=partial(_draw, picture.draw, picture.numbers()),
        python=(
            "for place, (name, values) in enumerate(arrays.items(), 1):\n"
            "    plt.subplot(1, len(arrays), place, title=name)\n"
            "    (plt.plot if values.ndim == 1 else plt.imshow)(values)"
        ),
    )
    return Figure(
        f"figures/schemes/{name}",
        spec,
        texts[-1],
        f"data/schemes/{name}.npz",
        cache_key=(name,),
    )


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)
