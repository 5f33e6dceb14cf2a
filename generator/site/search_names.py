"""By which other names search finds a page, and how far before others: in a page's front matter."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from generator.contracts import Analysis, Outcome, Scheme

# How often the score of another page is that of one with numbers, and of an explanation.
FIRST, EXPLAINED = 2, 8
# What a browser may show as it stands; the search splits it into words at hyphens and spaces.
NAME = re.compile(r"[A-Za-z0-9][\w. -]*", re.ASCII)
IN_BRACKETS = re.compile(r" *\(.*\)")
KINDS_OF_TENSOR = (".weight", ".bias")


@dataclass(frozen=True)
class SearchNames:
    """names: beside the words on a page; boost: by how much its score is multiplied"""

    names: tuple[str, ...] = ()
    boost: float = 1

    @property
    def tags(self) -> Markup:
        """The names as a list in YAML."""
        return Markup(json.dumps(self.names))  # noqa: S704 (NAME has no character of markup)


def of_checkpoint(outcome: Outcome, schemes: Iterable[Scheme], hub_id: str) -> SearchNames:
    """The family, the names of the modules that hold its encodings, and both parts of an id on the
    Hub.

    hub_id: "" without one
    """
    telling = {scheme.key for scheme in schemes if scheme.tells_position}
    records = [*(reading.encoding for reading in outcome.readings), *outcome.unmeasured]
    tensors = [record.provenance.tensor for record in records if record.scheme in telling]
    names = (outcome.family, *hub_id.split("/"), *(_module(tensor) for tensor in tensors if tensor))
    return SearchNames(_distinct(names), FIRST if outcome.readings else 1)


def of_scheme(scheme: Scheme) -> SearchNames:
    """Its other names of one word, such as RoPE, for words of longer ones stand for much else, too;
    and what readers search for.
    """
    names = (scheme.key, *(IN_BRACKETS.sub("", name) for name in scheme.also))
    words = (name for name in names if not re.search(r"[\s_'-]", name))
    return SearchNames(_distinct((*words, *scheme.sought)), EXPLAINED)


def of_analysis(analysis: Analysis) -> SearchNames:
    """Its other names."""
    return SearchNames(_distinct(analysis.also), EXPLAINED)


def _module(tensor: str) -> str:
    """The last module in the name of a tensor, such as wpe."""
    for kind in KINDS_OF_TENSOR:
        tensor = tensor.removesuffix(kind)
    return tensor.rpartition(".")[2]


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if NAME.fullmatch(name)))
