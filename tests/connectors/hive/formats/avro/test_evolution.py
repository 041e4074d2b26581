"""Avro files in tables whose schema has changed since, at any depth: the rows that fastavro reads with both schemas."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import cast

import fastavro
import pytest

from catalog.metastore.types import parse_hive_type
from tests.connectors.hive.formats.avro.tables import Row, make_table
from tests.connectors.hive.formats.test_hive_serdes import canonical
from tests.connectors.hive.reading import make_connector, read_table

Json = dict[str, object]
Node = object
_LEAVES = {
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "binary",
    "boolean": "boolean",
}
_WIDER = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}
_TABLES = 40


class Schemas:
    """Random schemas, what becomes of them, and values."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._names = 0

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def record(self, depth: int) -> Json:
        """A record of one to four fields."""
        fields = [{"name": self._name("f"), "type": self.node(depth)} for _ in range(self.chance.randint(1, 4))]
        return {"type": "record", "name": self._name("r"), "fields": fields}

    def node(self, depth: int) -> Node:
        """Any type."""
        kind = self.chance.choice(["leaf", "null", *(["record", "array", "map", "union"] if depth else [])])
        made: dict[str, Callable[[], Node]] = {
            "leaf": lambda: self.chance.choice([*_LEAVES]),
            "null": lambda: ["null", self.chance.choice([*_LEAVES]) if depth < 2 else self.record(depth - 1)],
            "record": lambda: self.record(depth - 1),
            "array": lambda: {"type": "array", "items": self.node(depth - 1)},
            "map": lambda: {"type": "map", "values": self.node(depth - 1)},
            "union": lambda: ["null", "int", "string", self.record(depth - 1)],
        }
        return made[kind]()

    def changed(self, node: Node) -> Node:
        """The type at a later time: fields gone, added, renamed and moved, types of unions moved, numbers wider."""
        if isinstance(node, list):
            branches = [node[0], *map(self.changed, node[1:])] if len(node) == 2 else [*map(self._inside, node)]
            self.chance.shuffle(branches)
            return branches
        if isinstance(node, str):
            return self.chance.choice([node, *_WIDER.get(node, [])])
        return self._inside(node)

    def _inside(self, node: Node) -> Node:
        if not isinstance(node, dict):
            return node
        if node["type"] != "record":
            key = "items" if node["type"] == "array" else "values"
            return {**node, key: self.changed(node[key])}
        fields: list[Json] = []
        for field in cast("list[Json]", node["fields"]):
            kept: Json = {"name": field["name"], "type": self.changed(field["type"])}
            fate = self.chance.choice(["kept", "kept", "renamed", "gone"])
            if fate == "renamed":
                kept = {**kept, "name": self._name("n"), "aliases": [self._name("none"), field["name"]]}
            if fate != "gone":
                fields.append(kept)
        fields += [self._added() for _ in range(self.chance.randint(0 if fields else 1, 2))]
        self.chance.shuffle(fields)
        return {**node, "fields": fields}

    def _added(self) -> Json:
        inner = {"type": "record", "name": self._name("r"), "fields": [{"name": "in", "type": "int"}]}
        kind, default = self.chance.choice(
            [
                ("int", 7),
                ("double", -0.5),
                ("string", "given"),
                (["null", "long"], None),
                (["int", "null"], 3),
                ({"type": "array", "items": "string"}, ["a", "b"]),
                ({"type": "map", "values": "int"}, {"k": 1}),
                (inner, {"in": 4}),
                ({"type": "array", "items": inner}, [{"in": 5}]),
            ]
        )
        return {"name": self._name("a"), "type": kind, "default": default}

    def value(self, node: Node) -> object:
        """A value of a type."""
        if isinstance(node, list):
            return self.value(self.chance.choice(node))
        if isinstance(node, dict):
            if node["type"] == "record":
                return {str(field["name"]): self.value(field["type"]) for field in cast("list[Json]", node["fields"])}
            values = [self.value(node["items" if node["type"] == "array" else "values"]) for _ in range(3)]
            values = values[: self.chance.randint(0, 3)]
            return values if node["type"] == "array" else {f"k{at}": value for at, value in enumerate(values)}
        simple = {
            "null": None,
            "int": self.chance.randint(-(2**20), 2**20),
            "long": self.chance.randint(-(2**50), 2**50),
            "float": self.chance.randint(-99, 99) / 4,
            "double": self.chance.random(),
            "string": self.chance.choice(["", "x", "Grüße"]),
            "bytes": self.chance.choice([b"", b"\xff\x00"]),
            "boolean": self.chance.random() < 0.5,
        }
        return simple[str(node)]


@pytest.mark.parametrize("seed", range(_TABLES))
def test_files_of_an_older_schema(tmp_path: Path, seed: int) -> None:
    schemas = Schemas(seed)
    writer = schemas.record(3)
    reader = cast(Json, schemas.changed(writer))
    rows = [cast(Row, schemas.value(writer)) for _ in range(30)]
    file = io.BytesIO()
    fastavro.writer(file, writer, rows)
    file.seek(0)
    expected = [_plain(row, reader) for row in fastavro.reader(file, reader)]
    fields = cast("list[Json]", reader["fields"])
    hive = make_connector(tmp_path)
    columns = {str(field["name"]): _hive_type(field["type"]) for field in fields}
    make_table(hive, tmp_path, columns, [(writer, rows)], {"avro.schema.literal": json.dumps(reader)})
    found = read_table(hive, "s", "t").to_pylist()
    hive.shutdown()
    for name, text in columns.items():
        kind = parse_hive_type(text)
        column = [canonical(row[name], kind) for row in found]
        assert column == [canonical(cast(Row, row)[name], kind) for row in expected], (name, writer, reader)


def _hive_type(node: Node) -> str:
    if isinstance(node, list):
        types = [_hive_type(branch) for branch in node if branch != "null"]
        return types[0] if len(types) == 1 else f"uniontype<{','.join(types)}>"
    if not isinstance(node, dict):
        return _LEAVES[str(node)]
    if node["type"] == "array":
        return f"array<{_hive_type(node['items'])}>"
    if node["type"] == "map":
        return f"map<string,{_hive_type(node['values'])}>"
    fields = [f"{field['name']}:{_hive_type(field['type'])}" for field in cast("list[Json]", node["fields"])]
    return f"struct<{','.join(fields)}>"


def _plain(value: object, node: Node) -> object:
    """A value of fastavro's, unions as structs of the number and the value."""
    if isinstance(node, list):
        branches = [branch for branch in node if branch != "null"]
        if value is None or len(branches) == 1:
            return None if value is None else _plain(value, branches[0])
        kind = {int: "int", str: "string", dict: "record"}[type(value)]
        kinds = [branch["type"] if isinstance(branch, dict) else branch for branch in branches]
        place = kinds.index(kind)
        return {"tag": place, f"field{place}": _plain(value, branches[place])}
    if isinstance(value, list):
        return [_plain(one, cast(Json, node)["items"]) for one in value]
    if isinstance(value, dict):
        record = cast(Json, node)
        if record["type"] == "map":
            return {key: _plain(one, record["values"]) for key, one in value.items()}
        fields = cast("list[Json]", record["fields"])
        return {str(field["name"]): _plain(value[str(field["name"])], field["type"]) for field in fields}
    return value
