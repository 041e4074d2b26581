"""What a table's own Avro schema calls the types and fields of a file. Executor side.

Avro specification, "Schema Resolution" and "Aliases".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from connectors.hive.formats.avro.types import UNION_POSITION
from connectors.toolkit.avro.schema import FULL_NAME, Json, is_wide_union, union_branches

__all__ = ["field_type", "reader_names", "reader_types", "record_fields", "renamed"]

_WIDER = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def reader_names(written: Sequence[str], fields: Sequence[Mapping[str, Json]]) -> dict[str, str]:
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
        branch if pair is None else _numbered(_renamed(branch, readers[pair]), pair if is_wide_union(reader) else None)
        for branch, pair in zip(branches, pairs, strict=True)
    ]
    if not isinstance(node, list):
        return made[0]
    others = iter(made)
    return [one if one == "null" else next(others) for one in node]


def reader_types(branches: Sequence[Json], reader: Json) -> list[Json]:
    """What the table's schema has for each type, if anything."""
    readers = union_branches(reader)
    return [None if pair is None else readers[pair] for pair in _pairs(branches, readers)]


def record_fields(record: Mapping[str, Json]) -> dict[str, dict[str, Json]]:
    """The fields of a record by name, in order."""
    return {str(field["name"]): field for field in cast("list[dict[str, Json]]", record["fields"])}


def field_type(field: Mapping[str, Json] | None) -> Json:
    """The type of a field; None where there is no field."""
    return None if field is None else field["type"]


def _pairs(branches: Sequence[Json], readers: Sequence[Json]) -> list[int | None]:
    """For each type of a file the position of the one that it becomes among those of the table's schema.

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
        known, members = record_fields(reader), record_fields(node)
        names = reader_names([*members], [*known.values()])
        made["fields"] = [
            {"name": names[name], "type": renamed(member["type"], field_type(known.get(names[name])))}
            for name, member in members.items()
        ]
    return made


def _pair(branch: Json, at: int, readers: Sequence[Json]) -> int | None:
    kind = _kind(branch)
    same = [at for at, reader in enumerate(readers) if _kind(reader) == kind]
    for cut in ("", "."):
        named = [at for at in same if _name(branch, cut) and _name(readers[at], cut) == _name(branch, cut)]
        if named:
            return named[0]
    if same:
        return same[0] if len(same) == 1 else at if at in same else None
    return next((at for at, reader in enumerate(readers) if _kind(reader) in _WIDER.get(kind, ())), None)


def _name(node: Json, cut: str) -> str:
    """A type's full name; only what is behind the last point if that is asked."""
    full = str(node.get(FULL_NAME, "")) if isinstance(node, dict) else ""
    return full.rpartition(cut)[2] if cut else full


def _numbered(node: Json, position: int | None) -> Json:
    if position is None:
        return node
    return {**(node if isinstance(node, dict) else {"type": node}), UNION_POSITION: position}


def _kind(node: Json) -> str:
    return str(node["type"] if isinstance(node, dict) else node)
