"""YAML of plain values, from which no small file becomes large or slow to parse."""

from typing import Any

from ruamel.yaml.composer import Composer
from ruamel.yaml.events import AliasEvent, CollectionStartEvent
from ruamel.yaml.nodes import ScalarNode

from generator.text import short

MOST_DEPTH = 8  # Twice what a row can use; the parser's time grows with the square of the depth.


class UnsupportedYamlError(Exception):
    """YAML that makes a small file large or slow to parse; ``mark``: its line and column."""

    def __init__(self, found: str, expected: str, mark: Any) -> None:
        super().__init__(f"{found}; expected {expected}")
        self.problem_mark = mark


class PlainComposer(Composer):  # type: ignore[misc]  # The library's types are not read.
    """Composer without aliases and with limited nesting."""

    nesting = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node.

        errors: UnsupportedYamlError
        """
        event = self.parser.peek_event()
        found = (
            f"an alias (*{short(str(event.anchor))})"
            if isinstance(event, AliasEvent)
            else f"a tag ({short(str(event.tag))})"
            if getattr(event, "tag", None) is not None
            else ""
        )
        if found:
            raise UnsupportedYamlError(found, "values written out", event.start_mark)
        deeper = isinstance(event, CollectionStartEvent)
        if self.nesting + deeper > MOST_DEPTH:
            found = f"nested more than {MOST_DEPTH} deep"
            raise UnsupportedYamlError(found, "values that are less deep", event.start_mark)
        self.nesting += deeper
        node = super().compose_node(parent, index)
        # A pair of surrogates, as JSON escapes an emoji, is one character.
        if isinstance(node, ScalarNode):
            node.value = node.value.encode("utf-16", "surrogatepass").decode(
                "utf-16", "surrogatepass"
            )
        self.nesting -= deeper
        return node
