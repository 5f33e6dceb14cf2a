"""Records that packages exchange, records that define an extension, and the discovery of extensions."""

from generator.contracts.checkpoints import (
    SENTENCE,
    TIMES,
    Checkpoint,
    Encoding,
    EncodingRecord,
    Files,
    LayoutRow,
    Numbers,
    Picture,
    Provenance,
    Scheme,
    Source,
    TensorInfo,
)
from generator.contracts.file_formats import FileFormat, Storage, StoredTensor, WeightsFile
from generator.contracts.model_config import Json, ModelConfig
from generator.contracts.outcomes import STATUSES, Atlas, Fact, Figure, Maker, Outcome, Page, PageKind, Reading, Status, Tree
from generator.contracts.published_record import Published
from generator.contracts.results import Analysis, FigureSpec, Finding, Label, Metric, Result, Results
from generator.contracts.subjects import InputLayer, LayerNorm, OwnLayer, Sentence, Subject

__all__ = [
    "SENTENCE",
    "STATUSES",
    "TIMES",
    "Analysis",
    "Atlas",
    "Checkpoint",
    "Encoding",
    "EncodingRecord",
    "Fact",
    "Figure",
    "FigureSpec",
    "FileFormat",
    "Files",
    "Finding",
    "InputLayer",
    "Json",
    "Label",
    "LayerNorm",
    "LayoutRow",
    "Maker",
    "Metric",
    "ModelConfig",
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
    "Storage",
    "StoredTensor",
    "Subject",
    "TensorInfo",
    "Tree",
    "WeightsFile",
]
