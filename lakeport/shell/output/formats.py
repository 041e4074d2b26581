"""Result formats for programs, and all formats by name. All of them stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.output.cells import json_lines, text_column
from lakeport.shell.output.tables import write_aligned, write_markdown, write_vertical

__all__ = ["BINARY_FORMATS", "FORMATS", "HEADERLESS_FORMATS", "ResultFormat", "file_format"]

ResultFormat: TypeAlias = Callable[[pa.Schema, Iterator[pa.RecordBatch], BinaryIO], int]
"""Writes a result and returns the number of its rows."""

BINARY_FORMATS = frozenset({"arrow", "parquet"})
"""Formats of which a file holds one result."""


def write_csv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """RFC 4180 with a header: NULL is an empty field, an empty text is ``""``."""
    return _write_lines(schema, batches, out, _CSV)


def write_tsv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    r"""Tab-separated with a header, as PostgreSQL's COPY: NULL is ``\N``; tab, line ends and backslash are escaped."""
    return _write_lines(schema, batches, out, _TSV)


def write_csv_rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """The same CSV without its header."""
    return _write_lines(schema, batches, out, replace(_CSV, has_header=False))


def write_tsv_rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """The same TSV without its header."""
    return _write_lines(schema, batches, out, replace(_TSV, has_header=False))


def write_json(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """One JSON object on each line."""
    _refuse_same_names(schema, "json")
    count = 0
    for batch in batches:
        out.write(json_lines(batch).encode())
        count += batch.num_rows
    return count


def write_arrow(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """An Arrow IPC stream."""
    count = 0
    with pa.ipc.new_stream(pa.PythonFile(out, "w"), schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
            count += batch.num_rows
    return count


def write_parquet(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """A Parquet file."""
    # Not at the top: the shell's prompt does not need it.
    import pyarrow.parquet as pq

    _refuse_same_names(schema, "parquet")
    count = 0
    with pq.ParquetWriter(pa.PythonFile(out, "w"), schema) as file:
        for table in _row_groups(schema, batches):
            file.write_table(table)
            count += table.num_rows
    return count


def write_arrow_file(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """An Arrow IPC file, also known as Feather."""
    count = 0
    with pa.ipc.new_file(pa.PythonFile(out, "w"), schema) as file:
        for batch in batches:
            file.write_batch(batch)
            count += batch.num_rows
    return count


def write_nothing(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """Runs the whole query and drops the rows."""
    return sum(batch.num_rows for batch in batches)


FORMATS: dict[str, ResultFormat] = {
    "aligned": write_aligned,
    "vertical": write_vertical,
    "markdown": write_markdown,
    "csv": write_csv,
    "tsv": write_tsv,
    "json": write_json,
    "arrow": write_arrow,
    "parquet": write_parquet,
    "null": write_nothing,
}

HEADERLESS_FORMATS: dict[str, ResultFormat] = {"csv": write_csv_rows, "tsv": write_tsv_rows}
"""Formats whose header can be left out."""

_ENDINGS: dict[str, ResultFormat] = {
    ".txt": write_aligned,
    ".md": write_markdown,
    ".csv": write_csv,
    ".tsv": write_tsv,
    ".json": write_json,
    ".jsonl": write_json,
    ".ndjson": write_json,
    ".arrow": write_arrow_file,
    ".feather": write_arrow_file,
    ".arrows": write_arrow,
    ".parquet": write_parquet,
}
_ROW_GROUP_ROWS = 1 << 17


def file_format(name: str) -> ResultFormat:
    """The format of a file name's ending.

    Raises:
        InvalidArgumentError: The ending has no format; the message lists those that have.
    """
    ending = PurePath(name).suffix.lower()
    if ending not in _ENDINGS:
        raise InvalidArgumentError(f"'{name}' ends in '{ending}', expected one of {', '.join(_ENDINGS)}")
    return _ENDINGS[ending]


def _row_groups(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    group: list[pa.RecordBatch] = []
    for batch in batches:
        group.append(batch)
        if sum(one.num_rows for one in group) >= _ROW_GROUP_ROWS:
            yield pa.Table.from_batches(group, schema)
            group = []
    if group:
        yield pa.Table.from_batches(group, schema)


@dataclass(frozen=True, slots=True)
class _LineFormat:
    separator: str
    escape: Callable[[pa.Array], pa.Array]
    null: str
    has_header: bool = True


def _write_lines(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, form: _LineFormat) -> int:
    separator, escape, null = form.separator, form.escape, form.null
    if form.has_header:
        header = separator.join(escape(pa.array(schema.names, pa.string())).to_pylist())
        out.write((header + "\n").encode())
    count = 0
    for batch in batches:
        columns = [escape(text_column(column)) for column in batch.columns]
        lines = pc.binary_join_element_wise(*columns, separator, null_handling="replace", null_replacement=null)
        out.write("".join(line + "\n" for line in lines.to_pylist()).encode())
        count += batch.num_rows
    return count


def _quote_csv(column: pa.Array) -> pa.Array:
    quoted = pc.binary_join_element_wise("", pc.replace_substring(column, '"', '""'), "", '"')
    return pc.if_else(pc.match_substring_regex(column, '[",\r\n]|^$'), quoted, column)


def _escape_tsv(column: pa.Array) -> pa.Array:
    for met, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        column = pc.replace_substring(column, met, written)
    return column


def _refuse_same_names(schema: pa.Schema, file_format: str) -> None:
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise InvalidArgumentError(
                f"two columns are named '{name}', which {file_format} does not allow; rename one with AS"
            )


_CSV = _LineFormat(",", _quote_csv, null="")
_TSV = _LineFormat("\t", _escape_tsv, null="\\N")
