"""A list of kinds of layers whose length is not the number of layers."""

from collections.abc import Iterator

from generator.contracts import Examined, Json, Rule

RATIOS, FURTHER = "compress_ratios", "num_nextn_predict_layers"
LISTS = ("layer_types", "layers_block_type", "no_rope_layers", "sliding_window", RATIOS)


def find(examined: Examined) -> Iterator[tuple[str, Json]]:
    """Lists with an item for each layer that have more or fewer."""
    for section in examined.files.config.nested():
        n_layers = section.count("num_hidden_layers")
        for name in LISTS:
            listed = section.listed(name)
            further = section.count(FURTHER) or 0
            if name == RATIOS and n_layers and further and len(listed) == n_layers + further:
                bare = list(listed[n_layers:]).count(0)
                sizes = {"key": name, "length": len(listed), "n_layers": n_layers}
                yield "further", {**sizes, "further": further, "bare": bare}
            elif listed and n_layers and len(listed) != n_layers:
                yield "another_length", {"key": name, "length": len(listed), "n_layers": n_layers}


RULE = Rule(key="list-length", levels={"another_length": "error", "further": "note"}, find=find)
