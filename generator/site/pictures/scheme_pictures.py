"""The pictures that explain schemes, as figures of pages."""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from generator import PACKAGE, schemes
from generator.cache.fingerprint import of_contents, of_parts
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
    numbers = picture.numbers()
    spec = FigureSpec(
        key,
        GivenTexts(*texts),
        draw=partial(_draw, picture.draw, numbers),
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
        cache_key=(name, _drawn_by(picture.draw.__module__), _digest(numbers)),
    )


@cache
def _drawn_by(module: str) -> str:
    """Digest of the code that draws a picture: that of its module, and of all figures."""
    return of_contents((PACKAGE / "figures", Path(import_module(module).__file__ or "")))


def _digest(numbers: Numbers) -> str:
    """Digest of numbers, whose last digits differ between processors and change no picture."""
    single = {name: np.asarray(values, np.float32) for name, values in numbers.items()}
    return of_parts((name, each.shape, each.tobytes()) for name, each in single.items())


# No lambda: another process may draw it, and no lambda can be pickled.
def _draw(draw: "Callable[[Numbers], Drawing]", numbers: Numbers, _: Results) -> "Drawing":
    return draw(numbers)
