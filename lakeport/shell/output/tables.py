"""Results as tables for people: aligned, vertical, Markdown. All of them stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from lakeport.shell.output.cells import CONTROL, is_number, padded, printable, shown_width, text_column

__all__ = [
    "LAID_OUT_ROWS",
    "aligned_head",
    "aligned_lines",
    "cell_rows",
    "is_one_text",
    "sides",
    "write_aligned",
    "write_markdown",
    "write_texts",
    "write_vertical",
    "write_vertical_rows",
]

LAID_OUT_ROWS = 1000
"""Number of rows that determine the widths of a table; longer cells after them misalign their line."""

_TEXTS = frozenset({"plan", "createtab_stmt"})
"""Columns of EXPLAIN and SHOW CREATE TABLE, each a single text of many lines."""


def write_aligned(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """A table with a header and the number of rows; numbers are right-aligned, control characters are escaped."""
    if is_one_text(schema):
        return write_texts(batches, out)
    widths: list[int] = []
    count = 0
    for rows in cell_rows(schema, batches):
        if not widths:
            head = [printable(name) for name in schema.names]
            widths = [max(map(shown_width, column)) for column in zip(head, *rows, strict=True)]
            out.write(aligned_head(head, widths).encode())
        out.write(aligned_lines(rows, widths, sides(schema)).encode())
        count += len(rows)
    out.write(f"({count} row{'' if count == 1 else 's'})\n".encode())
    return count


def write_vertical(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """Each row as a record with one column on each line, as PostgreSQL's ``\\x`` shows it."""
    count = write_vertical_rows(schema, cell_rows(schema, batches), out)
    out.write(f"({count} row{'' if count == 1 else 's'})\n".encode())
    return count


def write_vertical_rows(schema: pa.Schema, portions: Iterator[list[tuple[str, ...]]], out: BinaryIO) -> int:
    """The records alone, without their number."""
    head = [printable(name) for name in schema.names]
    count = 0
    for rows in portions:
        out.write("".join(_record(number, head, row) for number, row in enumerate(rows, count + 1)).encode())
        count += len(rows)
    return count


def write_markdown(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """A table of GitHub's Markdown; NULL is an empty cell."""
    marks = ["--:" if side == ">" else "---" for side in sides(schema)]
    head = [_markdown(printable(name)) for name in schema.names]
    out.write(f"| {' | '.join(head)} |\n| {' | '.join(marks)} |\n".encode())
    count = 0
    for rows in cell_rows(schema, batches, null=""):
        out.write("".join(f"| {' | '.join(map(_markdown, row))} |\n" for row in rows).encode())
        count += len(rows)
    return count


def is_one_text(schema: pa.Schema) -> bool:
    """Whether a result is a single text of many lines, such as a plan."""
    return len(schema) == 1 and schema.names[0] in _TEXTS


def write_texts(batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
    """The texts of the one column, line by line."""
    count = 0
    for batch in batches:
        for text in batch.column(0).to_pylist():
            lines = (printable(line).rstrip() for line in (text or "").strip().split("\n"))
            out.write(("\n".join(lines) + "\n").encode())
        count += batch.num_rows
    return count


def cell_rows(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], null: str = "NULL"
) -> Iterator[list[tuple[str, ...]]]:
    """Rows of printable cells, in portions: at least one; the first has the rows that determine the widths."""
    portion: list[tuple[str, ...]] = []
    is_first = True
    for batch in batches:
        cells = [_cells(column, null) for column in batch.columns]
        portion.extend(zip(*cells, strict=True) if cells else [()] * batch.num_rows)
        if len(portion) >= LAID_OUT_ROWS or not is_first:
            yield portion
            portion, is_first = [], False
    if portion or is_first:
        yield portion


def sides(schema: pa.Schema) -> list[str]:
    """The alignment of each column: ``>`` or ``<``."""
    return [">" if is_number(field.type) else "<" for field in schema]


def aligned_head(head: list[str], widths: list[int]) -> str:
    """The names of the columns and the line below them."""
    centred = (padded(name, width, "^") for name, width in zip(head, widths, strict=True))
    return (" " + " | ".join(centred)).rstrip() + "\n" + "+".join("-" * (width + 2) for width in widths) + "\n"


def aligned_lines(rows: list[tuple[str, ...]], widths: list[int], where: list[str]) -> str:
    """A line for each row."""
    return "".join(_line(row, widths, where) for row in rows)


def _cells(column: pa.Array, null: str) -> list[str]:
    text = text_column(column)
    shown: list[str] = text.fill_null(null).to_pylist()
    if pc.any(pc.match_substring_regex(text, CONTROL)).as_py():
        return [printable(cell) for cell in shown]
    return shown


def _record(number: int, head: list[str], row: tuple[str, ...]) -> str:
    width = max(map(shown_width, head), default=0)
    # As PostgreSQL has it: the cross is under the bars, or the title covers it.
    title = f"-[ RECORD {number} ]"
    lines = [title + f"{'-' * (width + 1)}+{'-' * 9}"[len(title) :]]
    lines += [f"{padded(name, width, '<')} | {cell}".rstrip() for name, cell in zip(head, row, strict=True)]
    return "\n".join(lines) + "\n"


def _line(row: tuple[str, ...], widths: list[int], where: list[str]) -> str:
    cells = (padded(cell, width, side) for cell, width, side in zip(row, widths, where, strict=True))
    return (" " + " | ".join(cells)).rstrip() + "\n"


def _markdown(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("|", "\\|")
