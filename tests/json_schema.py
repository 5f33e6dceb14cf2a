"""Whether a value is as a JSON Schema says, by the words that the one of SARIF uses."""

from typing import Any

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def problems(value: Any, schema: Any, whole: Any, where: str = "") -> list[str]:
    """Where it is not. whole: the schema with the definitions to which ``schema`` refers"""
    if "$ref" in schema:
        schema = whole["definitions"][schema["$ref"].rpartition("/")[2]]
    choices = schema.get("anyOf", schema.get("oneOf", ()))
    if choices and all(problems(value, one, whole, where) for one in choices):
        return [f"{where}: no choice fits"]
    if not isinstance(value, KINDS.get(str(schema.get("type")), object)):
        return [f"{where}: no {schema['type']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: not in enum"]
    if isinstance(value, int) and value < schema.get("minimum", value):
        return [f"{where}: too small"]
    found: list[str] = []
    for name, inner, of_inner in _parts(value, schema):
        if of_inner is None:
            found.append(f"{where}.{name}: unknown")
        else:
            found += problems(inner, of_inner, whole, f"{where}.{name}")
    lacking = set(schema.get("required", ())) - value.keys() if isinstance(value, dict) else ()
    return found + [f"{where}.{name}: required" for name in sorted(lacking)]


def _parts(value: Any, schema: Any) -> list[tuple[str, Any, Any]]:
    """What a value has, with the schema of each, None where that has none."""
    if isinstance(value, list):
        items = schema.get("items", {})
        return [(str(index), inner, items) for index, inner in enumerate(value)]
    if not isinstance(value, dict):
        return []
    known, more = schema.get("properties", {}), schema.get("additionalProperties", {})
    others = more if isinstance(more, dict) else ({} if more else None)
    return [(name, inner, known.get(name, others)) for name, inner in value.items()]
