"""Keys of analyses as they were in data before schema 3, and as they are now."""

from collections.abc import Mapping

PRESENT: Mapping[str, str] = {
    "anatomy": "anatomy_of_the_input",
    "table": "whole_table",
    "vectors": "single_positions",
    "norms": "vector_norms",
    "dimensions": "single_dimensions",
    "cosine": "similarity_of_positions",
    "cosine_profile": "similarity_by_distance",
    "seam": "seams",
    "tiles": "similarity_of_patches",
    "dimension_cosine": "similarity_of_dimensions",
    "pca": "principal_components",
    "absolute_probe": "position_probe",
    "word_directions": "positions_and_words",
    "bias": "bias_by_offset",
    "window": "bias_by_patch_offset",
    "relative": "vectors_by_offset",
    "half_distance": "exponential_decay",
    "locality": "attention_from_the_bias_alone",
    "rotation": "rotation_by_offset",
    "scaling": "effect_of_scaling",
    "kernel": "decay_with_distance",
    "reach": "reach_of_the_convolution",
    "sink_share": "weight_of_the_sinks",
    "logit_factor": "temperature_by_position",
}


def present(metric: str) -> str:
    """The key that a metric has now, as "analysis.metric".

    metric: its key now, or before schema 3
    """
    analysis, _, name = metric.partition(".")
    return f"{PRESENT.get(analysis, analysis)}.{name}"
