"""Avro record schemas without names to resolve: cut to some columns, or to what lies on the wire."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from itertools import count
from typing import cast

from connectors.toolkit.avro.primitives import PRIMITIVES

__all__ = [
    "FULL_NAME",
    "AvroRecordSchema",
    "Json",
    "is_simple_union",
    "is_wide_union",
    "reader_fields",
    "union_branch",
    "union_branches",
]

FULL_NAME = "full name"
"""Where a type that had a name has it: its own name only tells it from others."""
Json = str | list["Json"] | dict[str, "Json"] | int | bool | float | None

_NAMED = frozenset({"record", "error", "enum", "fixed"})
_KINDS = _NAMED | {"array", "map"} | PRIMITIVES.keys()


class AvroRecordSchema:
    """The schema of a record, every reference to a named type replaced by its definition.

    Args:
        text: The schema as JSON.

    Attributes:
        fields: Types of the fields by name, in order.

    Raises:
        ValueError: It is no schema of a record, or a type holds itself.
    """

    def __init__(self, text: str) -> None:
        try:
            parsed: Json = json.loads(text)
            record = _Inliner().inline(parsed, "")
            fields = cast(list[dict[str, Json]], cast(dict[str, Json], record)["fields"])
            self.fields: Mapping[str, Json] = {str(field["name"]): field["type"] for field in fields}
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"no Avro schema of a record: {text[:120]!r} ({type(error).__name__})") from error

    def projected(self, columns: Collection[str]) -> str:
        """The schema of some of the fields, in the schema's order, as JSON; names of types repeat."""
        fields: list[Json] = [{"name": name, "type": kind} for name, kind in self.fields.items() if name in columns]
        return json.dumps({"type": "record", "name": "projected", "fields": fields})


def reader_fields(text: str) -> list[dict[str, Json]]:
    """The fields of a record that files of other schemas are read as, with what that wants.

    Args:
        text: The schema as JSON.

    Returns:
        For each field ``name``, ``type`` and, where there are such, ``default`` and ``aliases``; so are those of
        records inside of types, and enums have their ``default``. References to named types are replaced.

    Raises:
        ValueError: It is no schema of a record, or a type holds itself.
    """
    try:
        record = cast(dict[str, Json], _Inliner(evolving=True).inline(json.loads(text), ""))
        return cast(list[dict[str, Json]], record["fields"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no Avro schema of a record: {text[:120]!r} ({type(error).__name__})") from error


def is_simple_union(node: Json) -> bool:
    """Whether a type is a union of null and one other type."""
    return isinstance(node, list) and len(node) == 2 and node.count("null") == 1


def is_wide_union(node: Json) -> bool:
    """Whether a type is a union of several types, with null or without."""
    return isinstance(node, list) and not is_simple_union(node)


def union_branches(node: Json) -> list[Json]:
    """The types of a union but null, in order; of another type itself."""
    return [branch for branch in node if branch != "null"] if isinstance(node, list) else [node]


def union_branch(node: Json) -> Json:
    """The type that a union of null and one other has besides null; another type as it is."""
    if isinstance(node, list) and is_simple_union(node):
        return node[0] if node[1] == "null" else node[1]
    return node


class _Inliner:
    """Replaces names by definitions. Names must not repeat in a schema, so each copy gets names of its own."""

    def __init__(self, *, evolving: bool = False) -> None:
        self._evolving = evolving
        self._of_field = ("name", "default", "aliases") if evolving else ("name",)
        self._of_type = ("logicalType", "precision", "scale", "size", "symbols", *(["default"] if evolving else []))
        self._known: dict[str, tuple[dict[str, Json], str]] = {}
        self._open: list[str] = []
        self._numbers = count()

    def inline(self, node: Json, namespace: str) -> Json:
        if isinstance(node, list):
            return [self.inline(branch, namespace) for branch in node]
        if isinstance(node, str):
            return node if node in PRIMITIVES else self._by_name(node, namespace)
        definition = cast(dict[str, Json], node)
        kind = definition["type"]
        if not isinstance(kind, str) or kind not in _KINDS:
            return self.inline(kind, namespace)
        if kind in _NAMED:
            full, inner = _full_name(definition, namespace)
            self._known[full] = (definition, namespace)
            return self._definition(definition, full, inner)
        if kind == "array":
            return {"type": "array", "items": self.inline(definition["items"], namespace)}
        if kind == "map":
            return {"type": "map", "values": self.inline(definition["values"], namespace)}
        return _primitive(definition, kind)

    def _by_name(self, name: str, namespace: str) -> Json:
        for full in (name, f"{namespace}.{name}"):
            if full in self._known:
                definition, enclosing = self._known[full]
                return self._definition(definition, full, _full_name(definition, enclosing)[1])
        raise ValueError(f"no Avro schema: the type {name!r} is not defined before its use")

    def _definition(self, definition: dict[str, Json], full: str, inner: str) -> Json:
        if full in self._open:
            raise ValueError(f"the Avro type {full!r} holds itself")
        made: dict[str, Json] = {"type": definition["type"], "name": f"type{next(self._numbers)}", FULL_NAME: full}
        made.update((key, definition[key]) for key in self._of_type if key in definition)
        if self._evolving:
            _check_lists(definition)
        if "fields" in definition or definition["type"] in ("record", "error"):
            self._open.append(full)
            made["fields"] = [
                {key: field[key] for key in self._of_field if key in field}
                | {"type": self.inline(field["type"], inner)}
                for field in cast(list[dict[str, Json]], definition["fields"])
            ]
            self._open.pop()
        return made


def _check_lists(definition: dict[str, Json]) -> None:
    fields = definition.get("fields", [])
    if not isinstance(fields, list):
        raise TypeError(f"expected a list of fields, met {fields!r}")
    lists = [field["aliases"] for field in cast(list[dict[str, Json]], fields) if "aliases" in field]
    for texts in (*lists, *([definition["symbols"]] if definition["type"] == "enum" else [])):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise TypeError(f"expected a list of texts, met {texts!r}")


def _primitive(definition: dict[str, Json], kind: str) -> Json:
    made: dict[str, Json] = {"type": kind}
    made.update((key, definition[key]) for key in ("logicalType", "precision", "scale") if key in definition)
    return made if len(made) > 1 else kind


def _full_name(definition: dict[str, Json], enclosing: str) -> tuple[str, str]:
    """A named type's full name, and the namespace in which its own fields' names are looked up."""
    name = str(definition["name"])
    if "." in name:
        return name, name.rpartition(".")[0]
    namespace = str(definition.get("namespace") or enclosing)
    return (f"{namespace}.{name}" if namespace else name), namespace
