"""Columns of an open ORC file, at the top or inside of one struct of it, stripe by stripe. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyorc
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.map_keys import check_map_keys
from connectors.toolkit.orc.rows import read_stripe_rows
from connectors.toolkit.orc.types import mark_chars, repair_times
from connectors.toolkit.orc.union_tags import UnionSlots, asked_unions, read_union_slots
from connectors.toolkit.orc.unions import orc_nodes, union_struct_type, unions_to_structs
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.file_types import FileTypes
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.storage.decoding_errors import library_limits

__all__ = ["OrcColumns", "Stripe"]

_OUT_OF_RANGE = "out of range for nanosecond"
_SECONDS_RIGHT = (2, 3)
"""The version of ORC since which pyorc reads seconds before 1970 as Java does."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """Columns of a stripe.

    Attributes:
        extra: The columns asked besides, in their order.
        columns: Those of the file that the table's columns are made of, by the names of the latter.
    """

    extra: list[pa.Array]
    columns: dict[str, pa.Array]


class OrcColumns:
    """Some of the table's columns in an open file.

    Args:
        source: The file.
        footer: Its footer.
        read: What is asked of the file.
        columns: The columns; nested types may be narrowed.
        root: Name of the top-level struct that the columns are in; empty where they are at the top themselves.
        on_read: Called with the index of each stripe that is read.

    Attributes:
        types: The file's columns, those of ``root`` where it is given.
        names: What is asked of the file, dotted for fields of structs; empty where no column has to be read.
        adapter: Brings the columns into the table's types.
    """

    def __init__(
        self,
        source: pa.NativeFile,
        footer: OrcFooter,
        read: FileRead,
        columns: tuple[ColumnHandle, ...],
        root: str,
        on_read: Callable[[int], None],
    ) -> None:
        self._source = source
        self._footer = footer
        with library_limits(read.path, "ORC"):
            self._file = orc.ORCFile(source)
            schema = self._file.schema
        self._root = root
        self._path = read.path
        self._on_read = on_read
        schema = mark_chars(schema, footer.types, self._path)
        inner = pa.schema(list(schema.field(root).type)) if root else schema
        hybrid = footer.hybrid_calendar
        conventions = TimeConventions(hybrid, hybrid, hybrid, read.zone)
        self.types = FileTypes(inner, read.sources_in(inner), conventions)
        narrowed, names = _narrow_schema(self.types, columns)
        unclear = len(set(inner.names)) < len(inner.names) or any("." in name for name in inner.names)
        self._whole = bool(names) and unclear
        if root and names:
            names = [root] if unclear else [f"{root}.{name}" for name in names]
        self.names = names
        if names:
            check_map_keys(footer, schema, None if self._whole and not root else names, self._path)
        self._unions = self._asked_unions(schema)
        structs = pa.schema([field.with_type(union_struct_type(field.type)) for field in narrowed])
        self.adapter = read.adapter(structs, columns, self.types.sources, conventions)
        known = {column.name: at for column, at in zip(columns, self.adapter.positions, strict=True) if at is not None}
        self._positions = sorted(set(known.values()))
        self._offsets = {name: self._positions.index(at) for name, at in known.items()}

    @property
    def is_read(self) -> bool:
        return bool(self.names)

    @property
    def separable(self) -> bool:
        """Not where all are read, since names are not clear, or where two are made of one."""
        return not self._whole and len(self._positions) == len(self._offsets)

    def decode(self, part: FileRows) -> Iterator[FileRows]:
        yield part.with_arrays(self.read(part.part).columns) if self.names else part

    def read(self, index: int, extra: Sequence[str] = ()) -> Stripe:
        """Reads a stripe whole: pyarrow has no smaller step.

        Args:
            index: Which.
            extra: With ``root``: names of top-level columns to read besides, as they are.
        """
        if not extra and not self.names:
            return Stripe([], {})
        self._on_read(index)
        everything = self._whole and not self._root
        names = [*extra, *self.names]
        slots = read_union_slots(self._source, self._footer, index, self._unions, self._path)
        batch, by_pyorc = self._read_stripe(index, None if everything else names, slots)
        right = by_pyorc and pyorc.orc_version_info[:2] >= _SECONDS_RIGHT
        batch = repair_times(batch, self._source, self._footer, index, self._path, seconds_right=right)
        if not self._root:
            return Stripe([], self._by_name(batch.columns))
        inner = batch.column(self._root).flatten() if self.names else []
        return Stripe([batch.column(name) for name in extra], self._by_name(inner))

    def _read_stripe(
        self, index: int, names: list[str] | None, slots: Mapping[int, UnionSlots]
    ) -> tuple[pa.RecordBatch, bool]:
        """The stripe, and whether pyorc read it."""
        schema = self._file.schema
        try:
            with library_limits(self._path, "ORC"):
                batch = self._file.read_stripe(index, columns=names)
        except pa.ArrowInvalid as error:
            if _OUT_OF_RANGE not in str(error):
                raise
            rows = read_stripe_rows(
                source=self._source,
                footer=self._footer,
                schema=schema,
                index=index,
                names=names,
                slots=slots,
                where=self._path,
            )
            return rows, True
        if not slots:
            return batch, False
        nodes = orc_nodes(batch.schema, schema, self._footer.types, self._path)
        columns = [unions_to_structs(column, node, slots) for column, node in zip(batch.columns, nodes, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names), False

    def _asked_unions(self, schema: pa.Schema) -> dict[int, int]:
        asked = {name.partition(".")[0] for name in self.names}
        columns = (at for at, name in enumerate(schema.names) if self._whole or name in asked)
        return asked_unions(self._footer, columns)

    def _by_name(self, columns: list[pa.Array]) -> dict[str, pa.Array]:
        taken = [columns[position] for position in self._positions] if self._whole else columns
        return {name: taken[at] for name, at in self._offsets.items()} if taken else {}


def _narrow_schema(types: FileTypes, columns: Sequence[ColumnHandle]) -> tuple[pa.Schema, list[str]]:
    """The schema with types narrowed to what is read, and the names to read, dotted for fields of structs."""
    schema = types.schema
    fields = list(schema)
    names: dict[int, list[str]] = {}
    plain = len(set(schema.names)) == len(schema.names) and not any("." in name for name in schema.names)
    for column in columns:
        position = types.position(column.name)
        if position is None:
            continue
        field = schema.field(position)
        narrowed, paths = field.type, [field.name]
        if plain and position not in names:
            narrowed, paths = _narrow(field.type, column.type, field.name)
        fields[position] = field.with_type(narrowed)
        names[position] = paths
    return pa.schema(fields), [path for paths in names.values() for path in paths]


def _narrow(source: pa.DataType, target: pa.DataType, path: str) -> tuple[pa.DataType, list[str]]:
    if pa.types.is_list(source) and pa.types.is_list(target):
        values, paths = _narrow(source.value_type, target.value_type, path)
        return pa.list_(source.value_field.with_type(values)), paths
    if not (pa.types.is_struct(source) and pa.types.is_struct(target)) or any("." in one.name for one in source):
        return source, [path]
    schema = pa.schema(list(source))
    chosen: dict[int, tuple[pa.Field, list[str]]] = {}
    for field in target:
        position = find_column(schema, field.name)
        if position is not None:
            narrowed, paths = _narrow(source[position].type, field.type, f"{path}.{source[position].name}")
            chosen[position] = (source[position].with_type(narrowed), paths)
    if not chosen or len(set(schema.names)) < len(schema.names):
        return source, [path]
    parts = [chosen[position] for position in sorted(chosen)]
    return pa.struct([field for field, _ in parts]), [one for _, paths in parts for one in paths]
