"""Ranges of ORC files as record batches. Executor side.

A stripe belongs to the range that holds its first byte, as in Hive's and Spark's ``OrcInputFormat``, so that ranges
that cover a file partition its rows. A stripe is read whole (pyarrow has no smaller step) and given out in slices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
import pyorc
from pyarrow import orc

from connector_spi.errors import ConnectorError, CorruptFileError
from connector_spi.handles import ColumnHandle
from connectors.toolkit.file_page_source import FilePageSource, resolve_sources
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.orc_footer import OrcFooter, read_orc_footer
from connectors.toolkit.orc_statistics import RAW_TIMES, matching_stripes
from connectors.toolkit.schema_adapter import ColumnSource, SchemaAdapter, find_column
from connectors.toolkit.time_conventions import TimeConventions

__all__ = ["OrcPageSource", "orc_errors", "read_orc_schema"]

_OUT_OF_RANGE = "out of range for nanosecond"


class OrcPageSource(FilePageSource):
    """Reads the stripes of one range of an ORC file."""

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        with self.files.open(self.where.path) as source:
            footer = read_orc_footer(source, self.where.path)
            stripes = [
                index for index, stripe in enumerate(footer.stripes) if self.where.holds(stripe.offset) and stripe.rows
            ]
            if stripes:
                yield from self._read(source, footer, stripes)

    def errors(self) -> AbstractContextManager[None]:
        return orc_errors(self.where.path)

    def _read(self, source: pa.NativeFile, footer: OrcFooter, stripes: list[int]) -> Iterator[pa.RecordBatch]:
        file = orc.ORCFile(source)
        sources = resolve_sources(self.sources, file.schema)
        hybrid = footer.hybrid_calendar
        stripes = matching_stripes(source, stripes, file.schema, self.predicate, sources, hybrid)
        narrowed, names = _narrow_schema(file.schema, self.file_columns, sources)
        if not names:
            yield from self.count(sum(footer.stripes[index].rows for index in stripes))
            return
        adapter = SchemaAdapter(
            narrowed,
            self.file_columns,
            sources=sources,
            conventions=TimeConventions(hybrid, hybrid, hybrid, self.zone),
            where=self.where.path,
            strict=self.strict,
        )
        every_column = len(set(file.schema.names)) < len(file.schema.names) or any("." in n for n in file.schema.names)
        for index in stripes:
            self.bytes_read += footer.stripes[index].length
            stripe = _read_stripe(source, file, index, None if every_column else names)
            yield from self._slices(stripe, narrowed, adapter, every_column)

    def _slices(
        self, stripe: pa.RecordBatch, narrowed: pa.Schema, adapter: SchemaAdapter, every_column: bool
    ) -> Iterator[pa.RecordBatch]:
        read = sorted({position for position in adapter.positions if position is not None})
        columns = stripe.columns
        if every_column:
            columns = [columns[position] for position in read]
        for start in range(0, stripe.num_rows, self.batch_rows):
            rows = min(self.batch_rows, stripe.num_rows - start)
            arrays = [None if at is None else columns[read.index(at)].slice(start, rows) for at in adapter.positions]
            yield self.batch(adapter.adapt(arrays, rows), rows)


def read_orc_schema(files: FileSystem, path: str) -> pa.Schema:
    """The Arrow schema of a file.

    Raises:
        CorruptFileError: It is truncated, or no ORC file.
    """
    with files.open(path) as source, orc_errors(path):
        read_orc_footer(source, path)
        return orc.ORCFile(source).schema.remove_metadata()


@contextmanager
def orc_errors(path: str) -> Iterator[None]:
    """Maps what pyarrow and pyorc raise about a file to CorruptFileError."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, pyorc.ParseError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as ORC: {reason}; it is truncated, damaged or of another format"
        ) from error


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


def _read_stripe(source: pa.NativeFile, file: orc.ORCFile, index: int, names: list[str] | None) -> pa.RecordBatch:
    try:
        return file.read_stripe(index, columns=names)
    except pa.ArrowInvalid as error:
        if _OUT_OF_RANGE not in str(error):
            raise
    # pyarrow holds ORC's timestamps in nanoseconds, from 1677 to 2262. Rows with others are rare; pyorc reads them.
    return _read_stripe_rows(source, file.schema, index, names)


def _read_stripe_rows(source: pa.NativeFile, schema: pa.Schema, index: int, names: list[str] | None) -> pa.RecordBatch:
    reader = pyorc.Reader(
        source, column_names=names, converters=RAW_TIMES, struct_repr=pyorc.StructRepr.DICT, batch_size=4096
    )
    rows = reader.read_stripe(index).read()
    wanted = _selected(schema, names)
    arrays = [pa.array([_plain(row[field.name], field.type) for row in rows], field.type) for field in wanted]
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _selected(schema: pa.Schema, names: list[str] | None) -> pa.Schema:
    """The schema that reading ``names`` gives, with timestamps in microseconds."""
    fields = []
    for field in schema:
        paths = None if names is None else [name for name in names if (name + ".").startswith(field.name + ".")]
        if paths is None or paths:
            fields.append(field.with_type(_select(field.type, field.name, paths)))
    return pa.schema(fields)


def _select(arrow: pa.DataType, path: str, names: list[str] | None) -> pa.DataType:
    if names is not None and path in names:
        names = None
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", arrow.tz)
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_select(arrow.value_type, path, names)))
    if pa.types.is_map(arrow):
        return pa.map_(_select(arrow.key_type, path, None), _select(arrow.item_type, path, None))
    if pa.types.is_struct(arrow):
        fields = []
        for field in arrow:
            inner = f"{path}.{field.name}"
            if names is None or any((name + ".").startswith(inner + ".") for name in names):
                fields.append(field.with_type(_select(field.type, inner, names)))
        return pa.struct(fields)
    return arrow


def _plain(value: object, arrow: pa.DataType) -> object:
    """pyorc's dict of a map as pairs, all the way down."""
    if isinstance(value, dict) and pa.types.is_map(arrow):
        return [(_plain(key, arrow.key_type), _plain(item, arrow.item_type)) for key, item in value.items()]
    if isinstance(value, dict):
        return {field.name: _plain(value[field.name], field.type) for field in arrow}
    if isinstance(value, list):
        return [_plain(item, arrow.value_type) for item in value]
    return value
