"""Templates of pages read the fields of their contexts: no other variable, and each of these."""

from collections.abc import Iterator
from dataclasses import fields

import pytest
from jinja2 import meta, nodes

from generator.contracts import PageContext, PageKind, discovery
from generator.site import pages
from generator.site.materials import OURS
from generator.site.render import EveryPage, environment_of

ENVIRONMENT = environment_of(*OURS.templates)
OF_EVERY_PAGE = {field.name for field in fields(EveryPage)}
TEMPLATES = sorted(path.name for path in OURS.templates[-1].glob("pages/*.md.jinja"))


def derived(context: type[PageContext] = PageContext) -> Iterator[type[PageContext]]:
    for one in context.__subclasses__():
        yield one
        yield from derived(one)


def contexts() -> dict[str, type[PageContext]]:
    """The class of each template."""
    discovery.load(pages, PageKind)
    discovery.guests()
    every = [one for one in derived() if one.template]
    assert len({one.template for one in every}) == len(every)
    return {one.template: one for one in every}


def assigned(tree: nodes.Template, *statements: type[nodes.Node]) -> set[str]:
    """Names to which these statements of a template give values."""
    targets = (one for found in tree.find_all(statements) for one in found.find_all(nodes.Name))
    return {one.name for one in targets if one.ctx == "store"}


def read(name: str) -> set[str]:
    """Variables that a template needs, with those of the templates that it includes. An import has
    none, unless it is with context.
    """
    tree = ENVIRONMENT.parse((OURS.templates[-1] / name).read_text())
    # Jinja also finds names that are set in one branch alone.
    own = assigned(tree, nodes.Assign, nodes.AssignBlock)
    found = meta.find_undeclared_variables(tree) - set(ENVIRONMENT.globals) - own
    for other in tree.find_all((nodes.Include, nodes.Import, nodes.FromImport)):
        needed = read(vars(other)["template"].value) - own - assigned(tree, nodes.For)
        assert isinstance(other, nodes.Include) or not needed, f"{name} imports {needed}"
        found |= needed
    return found


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_reads_every_field_of_its_context_and_nothing_else(template: str) -> None:
    own = {field.name for field in fields(contexts()[template])}
    assert not own & OF_EVERY_PAGE
    assert read(f"pages/{template}") - OF_EVERY_PAGE == own
