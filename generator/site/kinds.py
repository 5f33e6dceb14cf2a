"""Every kind of page that a site may have."""

from generator.contracts import PageKind, discovery
from generator.site import pages


def of_guests() -> tuple[PageKind, ...]:
    """The kinds of the guests of this program."""
    return tuple(kind for guest in discovery.guests() for kind in guest.kinds)


def every_kind() -> tuple[PageKind, ...]:
    """Every kind, those of guests last."""
    return (*discovery.load(pages, PageKind), *of_guests())
