"""Results on their way out: a table for people, and the formats for programs. All of them stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from prompt_toolkit.utils import get_cwidth

from connector_spi.errors import InvalidArgumentError
from lakeport.shell.cells import is_number, json_lines, text_column

__all__ = ["BINARY_FORMATS", "FORMATS", "ResultFormat"]

ResultFormat: TypeAlias = Callable[[pa.Schema, Iterator[pa.RecordBatch], BinaryIO], int]
"""Writes a result and gives the number of its rows."""

BINARY_FORMATS = frozenset({"arrow", "parquet"})
"""A file of these holds one result."""

_LAID_OUT_ROWS = 1000
"""The rows that decide the widths of a table; longer cells further down push their line apart."""

_CONTROL = r"[\x00-\x1f\x7f-\x9f]"
_TEXTS = frozenset({"plan", "createtab_stmt"})
"""The columns of EXPLAIN and SHOW CREATE TABLE, each one text of many lines."""


def write_aligned(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """A table with a header and the number of rows; numbers are flush right, control characters are escaped."""
    if len(schema) == 1 and schema.names[0] in _TEXTS:
        return _write_texts(batches, out)
    widths: list[int] = []
    count = 0
    for rows in _text_rows(schema, batches):
        if not widths:
            head = [_printable(name) for name in schema.names]
            cells = zip(head, *rows, strict=True)
            widths = [max(map(get_cwidth, column)) for column in cells]
            centred = (_pad(name, width, "^") for name, width in zip(head, widths, strict=True))
            lines = [" " + " | ".join(centred).rstrip(), "+".join("-" * (width + 2) for width in widths)]
            out.write(("\n".join(lines) + "\n").encode())
        sides = [">" if is_number(field.type) else "<" for field in schema]
        out.write("".join(_line(row, widths, sides) for row in rows).encode())
        count += len(rows)
    out.write(f"({count} row{'' if count == 1 else 's'})\n".encode())
    return count


def write_csv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """RFC 4180 with a header: NULL is nothing, an empty text is ``""``."""
    return _write_lines(schema, batches, out, ",", _quote_csv, "")


def write_tsv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    r"""Tab-separated with a header, as PostgreSQL's COPY: NULL is ``\N``; tab, line ends and backslash are escaped."""
    return _write_lines(schema, batches, out, "\t", _escape_tsv, "\\N")


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
    _refuse_same_names(schema, "parquet")
    count = 0
    with pq.ParquetWriter(pa.PythonFile(out, "w"), schema) as file:
        for table in _row_groups(schema, batches):
            file.write_table(table)
            count += table.num_rows
    return count


def write_nothing(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """Runs the query to its end and drops the rows."""
    return sum(batch.num_rows for batch in batches)


FORMATS: dict[str, ResultFormat] = {
    "aligned": write_aligned,
    "csv": write_csv,
    "tsv": write_tsv,
    "json": write_json,
    "arrow": write_arrow,
    "parquet": write_parquet,
    "null": write_nothing,
}

_ROW_GROUP_ROWS = 1 << 17


def _row_groups(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= _ROW_GROUP_ROWS:
            yield pa.Table.from_batches(held, schema)
            held = []
    if held:
        yield pa.Table.from_batches(held, schema)


def _text_rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[list[tuple[str, ...]]]:
    """Rows of cells, in portions; at least one portion, the first with the rows that decide the widths."""
    portion: list[tuple[str, ...]] = []
    is_first = True
    for batch in batches:
        cells = [_cells(column) for column in batch.columns]
        portion.extend(zip(*cells, strict=True) if cells else [()] * batch.num_rows)
        if len(portion) >= _LAID_OUT_ROWS or not is_first:
            yield portion
            portion, is_first = [], False
    if portion or is_first:
        yield portion


def _cells(column: pa.Array) -> list[str]:
    text = text_column(column)
    shown: list[str] = text.fill_null("NULL").to_pylist()
    if pc.any(pc.match_substring_regex(text, _CONTROL)).as_py():
        return [_printable(cell) for cell in shown]
    return shown


def _printable(cell: str) -> str:
    """Control characters as escapes: data must not move the cursor or colour the terminal."""
    return "".join(c if c >= " " and not "\x7f" <= c <= "\x9f" else c.encode("unicode_escape").decode() for c in cell)


def _line(row: tuple[str, ...], widths: list[int], sides: list[str]) -> str:
    cells = (_pad(cell, width, side) for cell, width, side in zip(row, widths, sides, strict=True))
    return (" " + " | ".join(cells)).rstrip() + "\n"


def _pad(cell: str, width: int, side: str) -> str:
    missing = width - get_cwidth(cell)
    if missing <= 0:
        return cell
    left = missing if side == ">" else missing // 2 if side == "^" else 0
    return " " * left + cell + " " * (missing - left)


def _write_texts(batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    count = 0
    for batch in batches:
        for text in batch.column(0).to_pylist():
            lines = (_printable(line).rstrip() for line in (text or "").strip().split("\n"))
            out.write(("\n".join(lines) + "\n").encode())
        count += batch.num_rows
    return count


def _write_lines(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    out: BinaryIO,
    separator: str,
    escape: Callable[[pa.Array], pa.Array],
    null: str,
) -> int:
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
                f"two columns are called '{name}', which {file_format} cannot hold; give one another name with AS"
            )
