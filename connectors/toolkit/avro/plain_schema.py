"""The wire form of an Avro schema, which the columnar readers understand. Executor side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from connectors.toolkit.avro.schema import AvroRecordSchema, Json, is_simple_union

__all__ = ["FRAME", "LENGTH", "PlainSchema", "plain_schema"]

LENGTH = "length of the record"
"""The field that holds the bytes before each record."""

FRAME = 4
"""How many bytes these are."""


@lru_cache(maxsize=64)
def plain_schema(schema: AvroRecordSchema) -> PlainSchema:
    """The wire form of a schema."""
    return PlainSchema(schema)


class PlainSchema:
    """What lies on the wire, as the readers understand it.

    Attributes:
        columnar: Whether polars reads it.
        text: The schema as JSON, the length of each record as its first field.
    """

    def __init__(self, schema: AvroRecordSchema) -> None:
        self.columnar = True
        self._names = 0
        fields: list[Json] = [{"name": LENGTH, "type": {"type": "fixed", "name": "frame", "size": FRAME}}]
        fields += [{"name": name, "type": self._plain(node)} for name, node in schema.fields.items()]
        self.text = json.dumps({"type": "record", "name": "framed", "fields": fields})

    def _plain(self, node: Json) -> Json:
        if isinstance(node, list):
            if is_simple_union(node):
                return [branch if branch == "null" else self._plain(branch) for branch in node]
            self.columnar = False
            return node
        if not isinstance(node, dict):
            self.columnar &= node != "null"
            return node
        kind = node["type"]
        if kind == "record":
            members = cast(list[dict[str, Json]], node["fields"])
            fields = [(str(field["name"]), self._plain(field["type"])) for field in members]
            # An Arrow struct without fields does not tell how many there are.
            self.columnar &= bool(fields)
            return self._record(fields)
        if kind == "array":
            return {"type": "array", "items": self._plain(node["items"])}
        if kind == "map":
            # On the wire a map is an array of pairs.
            return {"type": "array", "items": self._record([("key", "string"), ("value", self._plain(node["values"]))])}
        if kind == "enum":
            return "int"
        if kind == "fixed":
            self._names += 1
            return {"type": "fixed", "name": f"plain{self._names}", "size": node["size"]}
        return kind

    def _record(self, fields: Sequence[tuple[str, Json]]) -> Json:
        self._names += 1
        made: list[Json] = [{"name": name, "type": kind} for name, kind in fields]
        return {"type": "record", "name": f"plain{self._names}", "fields": made}
