"""A page for each scheme: what it does, and the checkpoints that use it."""

from generator.contracts import Atlas, Outcome, Page, PageKind, Reading, Scheme


def pages(atlas: Atlas) -> list[Page]:
    users = {scheme.key: _users(atlas, scheme) for scheme in atlas.schemes}
    listed = Page("schemes/index.md", "schemes.md.jinja", {"schemes": atlas.schemes, "users": users})
    each = [Page(f"schemes/{scheme.key}.md", "scheme.md.jinja", {"scheme": scheme, "users": users[scheme.key]}) for scheme in atlas.schemes]
    return [listed, *each]


def _users(atlas: Atlas, scheme: Scheme) -> list[tuple[Outcome, Reading]]:
    return [(outcome, reading) for outcome in atlas.outcomes for reading in outcome.readings if reading.encoding.scheme == scheme.key]


PAGE = PageKind("scheme", pages)
