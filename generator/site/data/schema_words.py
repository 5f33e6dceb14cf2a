"""What a JSON Schema says of a value, in words."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from generator.site.html.escape import literal

Schema = Mapping[str, Any]
NAMES = {
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "null": "null",
    "object": "object",
    "array": "list",
}
ANYTHING = "any value"


def kind(schema: Schema) -> str:
    """The type of a value, such as “text, at most 120 characters”, or “list of whole numbers”."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema or "enum" in schema:
        return " or ".join(f"“{value}”" for value in schema.get("enum", [schema.get("const")]))
    if options := schema.get("anyOf"):
        return " or ".join(kind(option) for option in options)
    name = NAMES.get(schema.get("type", ""), ANYTHING)
    if name == "list" and "items" in schema:
        name = f"list of {_plural(kind(schema['items']))}"
    if isinstance(values := schema.get("additionalProperties"), Mapping):
        name = f"object: {kind(values)} by name"
    return name + _limits(schema)


def _plural(name: str) -> str:
    return (
        f"{name}s"
        if name in ("whole number", "number", "list", "object") or name[:1].isupper()
        else name
    )


def _limits(schema: Schema) -> str:
    limits = [f"at most {schema['maxLength']:,} characters"] if "maxLength" in schema else []
    limits += (
        [f"{schema['minItems']} to {schema['maxItems']} of them"]
        if "minItems" in schema and "maxItems" in schema
        else []
    )
    return "".join(f", {limit}" for limit in limits)


def described(schema: Schema) -> Markup:
    """The description of a value for a page, with what stands between backquotes as code."""
    return prose(str(schema.get("description", "")))


def prose(text: str) -> Markup:
    """``text`` for a page, with what stands between backquotes as code."""
    parts = text.split("`")
    marked = (
        f"<code>{literal(part)}</code>" if index % 2 else _spaced(part)
        for index, part in enumerate(parts)
    )
    return Markup("".join(marked))  # noqa: S704 (every part is escaped)


def _spaced(text: str) -> str:
    """``text`` escaped, with the spaces at its ends."""
    before, after = (" " if text[:1] == " " else ""), (" " if text[1:][-1:] == " " else "")
    return f"{before}{literal(text)}{after}"
