"""Maps with NULL as a key, which Hive writes and Arrow cannot hold: it ends the process. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.toolkit.codecs.varints import message_fields
from connectors.toolkit.orc.footer import OrcFooter

__all__ = ["check_map_keys"]

_MAP = 11
"""``OrcProto.Type.Kind``."""
_HAS_NULL = 10
"""Field of ``OrcProto.ColumnStatistics``."""


def check_map_keys(footer: OrcFooter, schema: pa.Schema, names: Sequence[str] | None, path: str) -> None:
    """Refuses to read a map that has a NULL key somewhere in the file.

    Hive 4.0.1 writes ``{null: 0}`` where it copies a NULL map from Parquet. The statistics of the file say that there
    is such a key; very old writers do not.

    Args:
        footer: The file's.
        schema: The file's columns.
        names: What is read, dotted for fields of structs; ``None`` is all.
        path: The file.

    Raises:
        NotSupportedError: There is such a map in what is read.
    """
    if not any(_has_null_key(footer, number) for number in range(len(footer.types))):
        return
    for name in schema.names if names is None else names:
        parts = [name] if names is None else name.split(".")
        if any(_has_null_key(footer, number) for number in _inside(footer, _number(footer, schema, parts))):
            raise NotSupportedError(
                f"column '{name}' of {path} has a map with a NULL key, which cannot be read; leave the column out, or "
                "write the rows anew with maps that have none"
            )


def _has_null_key(footer: OrcFooter, number: int) -> bool:
    kind = footer.types[number]
    if kind.kind != _MAP or not kind.children or kind.children[0] >= len(footer.statistics):
        return False
    return dict(message_fields(footer.statistics[kind.children[0]])).get(_HAS_NULL) == 1


def _number(footer: OrcFooter, schema: pa.Schema, parts: Sequence[str]) -> int:
    """The number of a column's type, or of the nearest one above it that the footer has."""
    number, fields = 0, list(schema)
    for part in parts:
        at = next((at for at, field in enumerate(fields) if field.name == part), None)
        if at is None or at >= len(_children(footer, number)):
            return number
        number, found = footer.types[number].children[at], fields[at].type
        while pa.types.is_list(found) and _children(footer, number):
            number, found = footer.types[number].children[0], found.value_type
        fields = list(found) if pa.types.is_struct(found) else []
    return number


def _children(footer: OrcFooter, number: int) -> tuple[int, ...]:
    return footer.types[number].children if number < len(footer.types) else ()


def _inside(footer: OrcFooter, number: int) -> list[int]:
    numbers = [number]
    for one in numbers:
        # A damaged footer may name a type that is not there, or one inside of itself.
        if one < len(footer.types) and len(numbers) <= len(footer.types):
            numbers += footer.types[one].children
    return [one for one in numbers if one < len(footer.types)]
