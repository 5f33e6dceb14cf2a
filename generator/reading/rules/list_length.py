"""A list of kinds of layers whose length is not the number of layers."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule

LISTS = ("layer_types", "layers_block_type", "no_rope_layers", "sliding_window")


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Lists with an item for each layer that have more or fewer."""
    for section in examined.files.config.nested():
        n_layers = section.count("num_hidden_layers")
        for name in LISTS:
            listed = section.listed(name)
            if listed and n_layers and len(listed) != n_layers:
                yield "another_length", {"key": name, "length": len(listed), "n_layers": n_layers}


RULE = Rule(key="list-length", levels={"another_length": "error"}, find=find)
