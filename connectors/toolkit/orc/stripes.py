"""Reading the stripes of an open ORC file: columns at the top, or inside of one struct of it. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyorc
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connectors.toolkit.orc.footer import OrcFooter
from connectors.toolkit.orc.rows import read_stripe_rows
from connectors.toolkit.orc.statistics import matching_stripes
from connectors.toolkit.orc.types import mark_chars, repair_times
from connectors.toolkit.orc.union_tags import UnionSlots, asked_unions, read_union_slots
from connectors.toolkit.orc.unions import orc_nodes, union_struct_type, unions_to_structs
from connectors.toolkit.read.counted_parts import count_parts
from connectors.toolkit.read.file_page_source import SourceResolver, resolve_sources
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import CastRules

__all__ = ["OrcStripes", "Stripe", "StripeSlice"]

_OUT_OF_RANGE = "out of range for nanosecond"
_SECONDS_RIGHT = (2, 3)
"""The version of ORC since which pyorc reads seconds before 1970 as Java does."""


@dataclass(frozen=True, slots=True)
class Stripe:
    """A stripe as it was read.

    Attributes:
        rows: Number of rows.
        extra: The columns asked besides, in their order.
        columns: The columns of the file that the table's columns are made of.
    """

    rows: int
    extra: list[pa.Array]
    columns: list[pa.Array]


@dataclass(frozen=True, slots=True)
class StripeSlice:
    """Some rows of a stripe.

    Attributes:
        start: Place of the first row in the stripe.
        rows: Number of rows.
        arrays: One for each column asked, in the table's types.
    """

    start: int
    rows: int
    arrays: list[pa.Array]


class OrcStripes:
    """The stripes of one open file.

    Args:
        source: The file.
        footer: Its footer.
        columns: What to read, in output order; nested types may be narrowed.
        sources: Where a column is in the file; by its own name where nothing is said.
        root: Name of the top-level struct that the columns are in; empty where they are at the top themselves.
        zone: Zone to show instants in where the table's type is a wall-clock time.
        where: Names the file for messages.
        strict: Refuse casts that can lose a value.
        rules: Other rules for types, in place of ``strict``.
        batch_rows: Most rows of a slice.

    Attributes:
        names: What is asked of the file, dotted for fields of structs; empty where no column has to be read.
    """

    def __init__(
        self,
        source: pa.NativeFile,
        footer: OrcFooter,
        columns: Sequence[ColumnHandle],
        sources: Mapping[str, ColumnSource] | SourceResolver,
        *,
        root: str = "",
        zone: str,
        where: str,
        strict: bool,
        batch_rows: int,
        rules: CastRules | None = None,
    ) -> None:
        self._source = source
        self._footer = footer
        self._file = orc.ORCFile(source)
        self._root = root
        self._where = where
        self._batch_rows = batch_rows
        schema = mark_chars(self._file.schema, footer.types, where)
        self._inner = pa.schema(list(schema.field(root).type)) if root else schema
        self._sources = resolve_sources(sources, self._inner)
        narrowed, names = _narrow_schema(self._inner, columns, self._sources)
        unclear = len(set(self._inner.names)) < len(self._inner.names) or any("." in n for n in self._inner.names)
        self._whole = bool(names) and unclear
        if root and names:
            names = [root] if unclear else [f"{root}.{name}" for name in names]
        self.names = names
        self._unions = self._asked_unions(schema)
        hybrid = footer.hybrid_calendar
        self._adapter = SchemaAdapter(
            pa.schema([field.with_type(union_struct_type(field.type)) for field in narrowed]),
            columns,
            sources=self._sources,
            conventions=TimeConventions(hybrid, hybrid, hybrid, zone),
            where=where,
            strict=strict,
            rules=rules,
        )

    def matching(self, stripes: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        """The stripes that by their statistics may hold rows of the predicate; all of them on doubt."""
        kept = self._matching(stripes, predicate)
        count_parts("stripes", stripes, kept, predicate, lambda other: self._matching(stripes, other))
        return kept

    def _matching(self, stripes: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        footer = self._footer
        return matching_stripes(self._source, stripes, self._inner, predicate, self._sources, footer, root=self._root)

    @property
    def shares_columns(self) -> bool:
        """Whether columns cannot be read apart: all are read, since names are not clear, or two are made of one."""
        known = [position for position in self._adapter.positions if position is not None]
        return self._whole or len(set(known)) < len(known)

    @property
    def schema(self) -> pa.Schema:
        """The file's schema."""
        return self._file.schema

    def read(self, index: int, extra: Sequence[str] = ()) -> Stripe:
        """Reads a stripe whole: pyarrow has no smaller step.

        Args:
            index: Which.
            extra: With ``root``: names of top-level columns to read besides, as they are. There has to be something
                to read.
        """
        everything = self._whole and not self._root
        names = [*extra, *self.names]
        slots = read_union_slots(self._source, self._footer, index, self._unions, self._where)
        batch, by_pyorc = self._read_stripe(index, None if everything else names, slots)
        right = by_pyorc and pyorc.orc_version_info[:2] >= _SECONDS_RIGHT
        batch = repair_times(batch, self._source, self._footer, index, self._where, seconds_right=right)
        if not self._root:
            return Stripe(batch.num_rows, [], self._taken(batch.columns))
        inner = batch.column(self._root).flatten() if self.names else []
        return Stripe(batch.num_rows, [batch.column(name) for name in extra], self._taken(inner))

    def slices(self, stripe: Stripe) -> Iterator[StripeSlice]:
        """A stripe in slices of bounded size, in the table's types."""
        read = self._positions()
        for start in range(0, stripe.rows, self._batch_rows):
            rows = min(self._batch_rows, stripe.rows - start)
            arrays = [
                None if at is None else stripe.columns[read.index(at)].slice(start, rows)
                for at in self._adapter.positions
            ]
            yield StripeSlice(start, rows, self._adapter.adapt(arrays, rows))

    def _read_stripe(
        self, index: int, names: list[str] | None, slots: Mapping[int, UnionSlots]
    ) -> tuple[pa.RecordBatch, bool]:
        """The stripe, and whether pyorc read it."""
        schema = self._file.schema
        try:
            batch = self._file.read_stripe(index, columns=names)
        except pa.ArrowInvalid as error:
            if _OUT_OF_RANGE not in str(error):
                raise
            rows = read_stripe_rows(self._source, self._footer, schema, index, names, slots, self._where)
            return rows, True
        if not slots:
            return batch, False
        nodes = orc_nodes(batch.schema, schema, self._footer.types, self._where)
        columns = [unions_to_structs(column, node, slots) for column, node in zip(batch.columns, nodes, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names), False

    def _asked_unions(self, schema: pa.Schema) -> dict[int, int]:
        asked = {name.partition(".")[0] for name in self.names}
        columns = (at for at, name in enumerate(schema.names) if self._whole or name in asked)
        return asked_unions(self._footer, columns)

    def _taken(self, columns: list[pa.Array]) -> list[pa.Array]:
        return [columns[position] for position in self._positions()] if self._whole else columns

    def _positions(self) -> list[int]:
        return sorted({position for position in self._adapter.positions if position is not None})


def _narrow_schema(
    schema: pa.Schema, columns: Sequence[ColumnHandle], sources: Mapping[str, ColumnSource]
) -> tuple[pa.Schema, list[str]]:
    """The schema with types narrowed to what is read, and the names to read, dotted for fields of structs."""
    fields = list(schema)
    names: dict[int, list[str]] = {}
    plain = len(set(schema.names)) == len(schema.names) and not any("." in name for name in schema.names)
    for column in columns:
        position = find_column(schema, sources.get(column.name, column.name))
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
