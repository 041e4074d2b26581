"""The steps of a read: each takes the rows of an open file and gives them on. Executor side.

A page source is a tuple of stages in the order of their work: prune, decode, adapt, mask, project.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TypeAlias, TypeVar

from connectors.toolkit.partition_values import constant_array
from connectors.toolkit.read.conditions import fitting_parts
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import ColumnarFile, OpenFile
from connectors.toolkit.read.pruning import count_parts
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.schema.schema_adapter import SchemaAdapter

__all__ = ["FileT", "Rows", "Stage", "adapt", "adapted", "decode", "mask", "project", "prune"]

FileT = TypeVar("FileT", bound=OpenFile)
Rows: TypeAlias = Generator[FileRows, None, None]
Stage: TypeAlias = Callable[[FileT, Iterator[FileRows]], Rows]


def prune(file: ColumnarFile, rows: Iterator[FileRows]) -> Rows:
    """Drops the stripes or row groups that hold no row of the predicate by their statistics."""
    parts = list(rows)
    if not parts:
        return
    numbers, predicate = [part.part for part in parts], file.read.file_predicate
    kept = file.matching(numbers, predicate)
    chosen = frozenset(fitting_parts(file, kept))
    count_parts(file.parts_name, (len(numbers), len(chosen)), predicate, partial(file.matching, numbers))
    yield from (part for part in parts if part.part in chosen)


def decode(file: ColumnarFile, rows: Iterator[FileRows]) -> Rows:
    """Decodes all columns."""
    for part in rows:
        yield from file.columns.decode(part)


def adapt(file: OpenFile, rows: Iterator[FileRows]) -> Rows:
    """Brings the columns into the table's types, in batches of bounded size."""
    for one in rows:
        yield from adapted(one, file.adapter, file.read)
        # A stripe goes before the next one is decoded.
        del one


def mask(file: OpenFile, rows: Iterator[FileRows]) -> Rows:
    """Drops the rows that a reader does not see."""
    for one in rows:
        yield one if one.kept is None else one.filter(one.kept)


def project(file: OpenFile, rows: Iterator[FileRows]) -> Rows:
    """Puts the columns into the order of the output, constants among them."""
    schema, constants = file.read.schema, file.read.constants
    for one in rows:
        arrays = {
            field.name: one.arrays[field.name]
            if field.name in one.arrays
            else constant_array(constants[field.name], field.type, one.count)
            for field in schema
        }
        yield FileRows(one.part, one.start, one.count, arrays)


def adapted(rows: FileRows, adapter: SchemaAdapter, read: FileRead) -> Iterator[FileRows]:
    """Decoded rows in the table's types, in batches of bounded size; columns that the file lacks are NULL."""
    names = [column.name for column in adapter.columns]
    for offset in range(0, rows.count, read.batch_rows):
        part = rows.slice(offset, read.batch_rows)
        arrays = adapter.adapt([part.arrays.get(name) for name in names], part.count)
        yield part.with_arrays(dict(zip(names, arrays, strict=True)))
