"""The records that travel between the rooms, and nothing else."""

from generator.contracts.outcomes import Atlas, Fact, Figure, Maker, Outcome, Page, PageKind, Reading, Status, Tree
from generator.contracts.published import Published
from generator.contracts.reading import (
    SENTENCE,
    Checkpoint,
    Encoding,
    Files,
    Json,
    LayoutRow,
    Numbers,
    Picture,
    Provenance,
    Scheme,
    Source,
    TensorInfo,
)
from generator.contracts.results import Analysis, FigureSpec, Finding, Label, Metric, Result, Results
from generator.contracts.subjects import InputLayer, LayerNorm, OwnLayer, Sentence, Subject

__all__ = [
    "SENTENCE",
    "Analysis",
    "Atlas",
    "Checkpoint",
    "Encoding",
    "Fact",
    "Figure",
    "FigureSpec",
    "Files",
    "Finding",
    "InputLayer",
    "Json",
    "Label",
    "LayerNorm",
    "LayoutRow",
    "Maker",
    "Metric",
    "Numbers",
    "Outcome",
    "OwnLayer",
    "Page",
    "PageKind",
    "Picture",
    "Provenance",
    "Published",
    "Reading",
    "Result",
    "Results",
    "Scheme",
    "Sentence",
    "Source",
    "Status",
    "Subject",
    "TensorInfo",
    "Tree",
]
