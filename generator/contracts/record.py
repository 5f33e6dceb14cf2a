"""What all records of data files have in common."""

from typing import Any, ClassVar


class Record:
    """A record of a data file: its keys are the fields, which the text below each describes.

    pydantic makes the JSON Schema of these, and the guide its tables.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "use_attribute_docstrings": True,
        "strict": True,
    }
