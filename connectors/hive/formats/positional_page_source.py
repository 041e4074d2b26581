"""Files that hold the columns which the metastore declares, in that order. Executor side."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace

import pyarrow as pa

from connectors.hive.formats.coercions.rules import ROW_RULES
from connectors.hive.formats.file_format import FileRequest
from connectors.hive.schema.text_types import apply_text_rule
from connectors.toolkit.read.file_read import FileRange
from connectors.toolkit.read.open_file import OpenFile
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, Stage, adapt, project
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.storage.decoding_errors import decoding_errors

__all__ = ["PositionalFile", "positional_page_source"]


class PositionalFile(OpenFile):
    """A file whose columns are those that the metastore declares.

    A format's subclass decodes the declared columns that are asked, in their declared types. Stages bring them into
    the form of the table's columns, where the partition's differ or nested types are narrowed.

    Args:
        request: What to read.

    Attributes:
        request: What to read.
        file: The range of the file.
    """

    def __init__(self, request: FileRequest) -> None:
        sources, whole = request.sources(by_name=False), request.types_by_column
        super().__init__(replace(request.read, rules=ROW_RULES, sources=sources, whole_types=whole))
        self.request = request
        self.file: FileRange = self.read.file
        self._adapter: SchemaAdapter | None = None

    @abstractmethod
    def decode(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        """Opens the file, gives its rows in batches and closes it, also when the generator is closed.

        Args:
            wanted: Positions of declared columns, sorted; may be empty, and then rows are counted.

        Returns:
            For each batch one array for each of ``wanted``, and the number of rows.
        """

    @property
    def adapter(self) -> SchemaAdapter:
        if self._adapter is None:
            declared, read = self.request.declared, self.read
            sources = read.sources_in(declared)
            self._adapter = read.adapter(declared, read.file_columns, sources, TimeConventions(zone=read.zone))
        return self._adapter

    @property
    def positions(self) -> dict[str, int]:
        """The declared column that each column is made of, by the column's name."""
        pairs = zip(self.read.file_columns, self.adapter.positions, strict=True)
        return {column.name: at for column, at in pairs if at is not None}

    def rows(self) -> Rows:
        positions, start = self.positions, 0
        wanted = sorted(set(positions.values()))
        with closing(self.decode(wanted)) as batches:
            for arrays, count in batches:
                known = dict(zip(wanted, arrays, strict=True))
                yield FileRows(0, start, count, {name: known[at] for name, at in positions.items()})
                start += count


def positional_page_source(file: PositionalFile) -> FilePageSource[PositionalFile]:
    """Reads a range of a file whose columns are those that the metastore declares."""
    kind = file.request.storage.format

    def errors(path: str) -> AbstractContextManager[None]:
        return decoding_errors(path, kind, EOFError, zlib.error)

    return FilePageSource(file.read, lambda: nullcontext(file), _STAGES, errors)


def _cut_texts(file: PositionalFile, rows: Iterator[FileRows]) -> Rows:
    """Pads and cuts texts by the partition's own char and varchar types."""
    declared = dict(file.request.declared_rules)
    positions = file.positions.items()
    names = {name: file.request.declared.names[at] for name, at in positions}
    rules = {name: declared[names[name]] for name in names if names[name] in declared}
    for one in rows:
        yield one.with_arrays({name: apply_text_rule(one.arrays[name], rule) for name, rule in rules.items()})


_STAGES: tuple[Stage[PositionalFile], ...] = (_cut_texts, adapt, project)
