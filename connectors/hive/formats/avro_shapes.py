"""Values of an Avro file in the shape that a table's own schema gives them. Executor side.

Avro specification, "Schema Resolution" and "Aliases": fields of records are found by their names or by names that the
table's schema says they had, what the file lacks has the default, a symbol that an enum lacks is the enum's default,
and a type that is now one of a union is that one. Columns follow ``avro_resolution``; this is what lies inside of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.avro_defaults import default_array
from connectors.hive.formats.avro_types import PLACE, union_place
from connectors.toolkit.avro_schema import FULL_NAME, Json, is_wide_union, union_branch, union_branches
from connectors.toolkit.schema_adapter import map_nested
from connectors.toolkit.union_structs import UNION_TAG, is_union_struct
from connectors.toolkit.value_casts import ArrayFunction

__all__ = ["reader_names", "renamed", "repeated", "shape"]

Fields = Sequence[Mapping[str, Json]]
_WIDER = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def reader_names(written: Sequence[str], fields: Fields) -> dict[str, str]:
    """What a table's schema calls the fields of a file's record.

    An alias goes before a name (``Schema.applyAliases``), but where that would give two fields one name. Fields without
    a default, which would be missing, are also found by names of another case.

    Args:
        written: Names in the file.
        fields: The record's fields in the table's schema.

    Returns:
        The name for each of ``written``; that in the file where the table's schema has none for it.
    """
    names = {str(field["name"]) for field in fields}
    aliases = {alias: str(field["name"]) for field in fields for alias in cast("list[str]", field.get("aliases", []))}
    found = {name: aliases.get(name, name) for name in written}
    if len(set(found.values())) < len(found):
        found = {name: name if name in names else aliases.get(name, name) for name in written}
    if len(set(found.values())) < len(found):
        found = {name: name for name in written}
    missing = {str(field["name"]) for field in fields if "default" not in field} - set(found.values())
    lowered = {alias.lower(): name for alias, name in aliases.items() if name in missing}
    lowered |= {name.lower(): name for name in missing}
    for name in (name for name in written if found[name] not in names):
        found[name] = lowered.pop(name.lower(), name)
    return found


def renamed(node: Json, reader: Json) -> Json:
    """A file's type with the fields of its records named as the table's schema names them.

    Types that are one of a union of the table's schema say which.

    Args:
        node: The type in the file.
        reader: The type in the table's schema; another kind of type names nothing.
    """
    branches, readers = union_branches(node), union_branches(reader)
    pairs = _pairs(branches, readers)
    made = [
        branch if pair is None else _placed(_renamed(branch, readers[pair]), pair if is_wide_union(reader) else None)
        for branch, pair in zip(branches, pairs, strict=True)
    ]
    if not isinstance(node, list):
        return made[0]
    told = iter(made)
    return [one if one == "null" else next(told) for one in node]


def _pairs(branches: Sequence[Json], readers: Sequence[Json]) -> list[int | None]:
    """For each type of a file the place of the one that it becomes among those of the table's schema.

    By kind, of kinds with names by the full name, the name, else where there is one only; then the first type that is a
    wider one (``Resolver.ReaderUnion.firstMatchingBranch``).
    """
    return [_pair(branch, at, readers) for at, branch in enumerate(branches)]


def _renamed(node: Json, reader: Json) -> Json:
    if not isinstance(node, dict) or not isinstance(reader, dict):
        return node
    made = dict(node)
    made.update((key, renamed(node[key], reader[key])) for key in ("items", "values") if key in node)
    if "fields" in node:
        known, members = _members(reader), _members(node)
        names = reader_names([*members], [*known.values()])
        made["fields"] = [
            {"name": names[name], "type": renamed(member["type"], _type(known.get(names[name])))}
            for name, member in members.items()
        ]
    return made


def shape(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    """How values become what the table's schema has in their place.

    Args:
        natural: The Arrow type in which they are read.
        node: Their type in the file, as ``renamed`` gives it.
        reader: Their type in the table's schema; None where nothing is told.
        target: The type of the table's column.
        where: Names the column and the file for messages.

    Returns:
        The type that they get, and the function to it; ``None`` where they stay.

    Raises:
        NotSupportedError: A record lacks a field without a default.
    """
    if is_wide_union(node):
        return _shape_union(natural, node, reader, target, where)
    node = union_branch(node)
    if is_union_struct(target):
        return _into_union(natural, node, reader, target, where)
    [reader] = _told([node], reader)
    if not isinstance(node, dict) or not isinstance(reader, dict):
        return natural, None
    kind = node["type"]
    if kind == "record" and pa.types.is_struct(target):
        return _shape_record(natural, node, reader, target, where)
    if kind == "array" and pa.types.is_list(target):
        inner, function = shape(natural.value_type, node["items"], reader["items"], target.value_type, where)
        return _nested(natural, pa.list_(inner), [function])
    if kind == "map" and pa.types.is_map(target):
        inner, function = shape(natural.item_type, node["values"], reader["values"], target.item_type, where)
        return _nested(natural, pa.map_(natural.key_type, inner), [None, function])
    if kind == "enum" and "default" in reader:
        return natural, _symbols(cast("list[str]", reader["symbols"]), str(reader["default"]))
    return natural, None


def repeated(value: pa.Array, rows: int) -> pa.Array:
    """An array of one element so many times."""
    return value.take(pa.array(np.zeros(rows, dtype=np.int32)))


def _shape_record(
    natural: pa.DataType, node: Mapping[str, Json], reader: Mapping[str, Json], target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    known, members = _members(reader), _members(node)
    wanted = {field.name.lower(): field.type for field in target}
    fields: list[tuple[str, pa.DataType]] = []
    functions: list[ArrayFunction | None] = []
    for (name, member), child in zip(members.items(), natural, strict=True):
        inner: tuple[pa.DataType, ArrayFunction | None] = (child.type, None)
        if name.lower() in wanted:
            told = _type(known.get(name))
            inner = shape(child.type, member["type"], told, wanted[name.lower()], f"{name} in {where}")
        fields.append((name, inner[0]))
        functions.append(inner[1])
    defaults: list[pa.Array] = []
    for name in (name for name in known if name not in members and name.lower() in wanted):
        if "default" not in known[name]:
            raise NotSupportedError(f"{name} in {where} is not there, and the table's Avro schema gives it no default")
        value = default_array(known[name], wanted[name.lower()], f"{name} in {where}")
        fields.append((name, value.type))
        defaults.append(value)
    return _nested(natural, pa.struct(fields), functions, defaults)


def _shape_union(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    if not is_union_struct(target):
        return natural, None
    branches = union_branches(node)
    fields = [natural.field(0)]
    functions: list[ArrayFunction | None] = [None]
    for branch, told, child in zip(branches, _told(branches, reader), list(natural)[1:], strict=True):
        inner, function = shape(child.type, branch, told, target.field(child.name).type, f"{child.name} in {where}")
        fields.append(pa.field(child.name, inner))
        functions.append(function)
    return _nested(natural, pa.struct(fields), functions)


def _into_union(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    """A type that is one of a ``uniontype`` in the table."""
    place = union_place(node, target, where)
    branch = target.field(place + 1)
    inner, function = shape(natural, node, reader, branch.type, where)
    made = pa.struct([(UNION_TAG, pa.int8()), (branch.name, inner)])
    tag = pa.array([place], pa.int8())

    def convert(array: pa.Array) -> pa.Array:
        values = function(array) if function else array
        return pa.StructArray.from_arrays(
            [repeated(tag, len(array)), values], fields=list(made), mask=array.is_null() if array.null_count else None
        )

    return made, convert


def _nested(
    natural: pa.DataType,
    made: pa.DataType,
    functions: Sequence[ArrayFunction | None],
    added: Sequence[pa.Array] = (),
) -> tuple[pa.DataType, ArrayFunction | None]:
    """Each child by its function, and children that are the same for all."""
    if not added and not any(functions):
        return natural, None

    def convert(array: pa.Array) -> pa.Array:
        def children(found: Sequence[pa.Array]) -> list[pa.Array]:
            own = [function(one) if function else one for function, one in zip(functions, found, strict=True)]
            return own + [repeated(value, len(array)) for value in added]

        return map_nested(array, made, children)

    return made, convert


def _symbols(symbols: Sequence[str], default: str) -> ArrayFunction:
    known, value = pa.array(symbols, pa.string()), pa.scalar(default, pa.string())

    def convert(array: pa.Array) -> pa.Array:
        return pc.if_else(pc.or_(array.is_null(), pc.is_in(array, known)), array, value)

    return convert


def _told(branches: Sequence[Json], reader: Json) -> list[Json]:
    """What the table's schema has for each type, if anything."""
    readers = union_branches(reader)
    return [None if pair is None else readers[pair] for pair in _pairs(branches, readers)]


def _pair(branch: Json, at: int, readers: Sequence[Json]) -> int | None:
    kind = _kind(branch)
    same = [place for place, reader in enumerate(readers) if _kind(reader) == kind]
    for cut in ("", "."):
        named = [place for place in same if _name(branch, cut) and _name(readers[place], cut) == _name(branch, cut)]
        if named:
            return named[0]
    if same:
        return same[0] if len(same) == 1 else at if at in same else None
    return next((place for place, reader in enumerate(readers) if _kind(reader) in _WIDER.get(kind, ())), None)


def _name(node: Json, cut: str) -> str:
    """A type's full name; only what is behind the last point if that is asked."""
    full = str(node.get(FULL_NAME, "")) if isinstance(node, dict) else ""
    return full.rpartition(cut)[2] if cut else full


def _placed(node: Json, place: int | None) -> Json:
    if place is None:
        return node
    return {**(node if isinstance(node, dict) else {"type": node}), PLACE: place}


def _kind(node: Json) -> str:
    return str(node["type"] if isinstance(node, dict) else node)


def _members(record: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    return {str(field["name"]): field for field in cast("list[dict[str, Json]]", record["fields"])}


def _type(field: Mapping[str, Json] | None) -> Json:
    return None if field is None else field["type"]
