"""What is drawn on, for annotations; functions that draw import matplotlib themselves."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
else:
    Axes = AxesImage = Figure = Any

__all__ = ["Axes", "AxesImage", "Figure"]
