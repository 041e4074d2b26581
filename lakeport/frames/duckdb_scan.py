"""Tables as relations of DuckDB, which pushes columns and filters down into pyarrow datasets.

DuckDB calls the method ``scanner`` of the dataset, as of pyarrow's own datasets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from connector_spi.errors import NotSupportedError
from lakeport.arrow.filters.arrow_expression import needed_by_arrow, read_expression
from lakeport.frames.open_reader import OpenReader

__all__ = ["ScanDataset"]


class ScanDataset(pads.InMemoryDataset):  # type: ignore[misc]  # pyarrow has no types
    """A pyarrow dataset that reads a table each time it is scanned.

    Args:
        schema: The table's schema.
        open_reader: Opens the table.
        may_filter: Whether the scan may leave out rows that a filter excludes; not allowed below a limit.
    """

    def __init__(self, schema: pa.Schema, open_reader: OpenReader, *, may_filter: bool) -> None:
        super().__init__(schema.empty_table())
        self._open_reader = open_reader
        self._may_filter = may_filter

    def scanner(
        self,
        columns: object = None,
        filter: pc.Expression | None = None,  # noqa: A002 - as pyarrow names it
        **settings: object,
    ) -> _Scanner:
        """Opens the table.

        Args:
            columns: Names, or expressions by name as in pyarrow; ``None`` is all.
            filter: The filter; pyarrow evaluates it, even where the table has done so.
            settings: pyarrow's settings for reading files; ignored.
        """
        names = self.schema.names
        asked: list[str] | None = None
        found = None if filter is None else read_expression(filter, self.schema)
        if isinstance(columns, Sequence) and (filter is None or found is not None):
            also = () if found is None else found.columns()
            asked = list(dict.fromkeys([*(str(column) for column in columns), *also])) or [names[0]]
        needed = needed_by_arrow(found, self.schema) if found is not None and self._may_filter else None
        return _Scanner(self._open_reader(asked, needed, None), columns, filter)

    def get_fragments(self, filter: object = None) -> NoReturn:  # noqa: A002 - as pyarrow names it
        """Refused: pyarrow would find no rows."""
        _refuse("get_fragments")

    def filter(self, expression: object) -> NoReturn:
        """Refused, as ``get_fragments`` is."""
        _refuse("filter")

    def replace_schema(self, schema: object) -> NoReturn:
        """Refused, as ``get_fragments`` is."""
        _refuse("replace_schema")

    def sort_by(self, sorting: object, **settings: object) -> NoReturn:
        """Refused, as ``get_fragments`` is."""
        _refuse("sort_by")

    def join(self, *arguments: object, **settings: Mapping[str, object]) -> NoReturn:
        """Refused, as ``get_fragments`` is."""
        _refuse("join")

    def join_asof(self, *arguments: object, **settings: Mapping[str, object]) -> NoReturn:
        """Refused, as ``get_fragments`` is."""
        _refuse("join_asof")


class _Scanner:
    """What DuckDB asks of a scanner of pyarrow, batch by batch; all else is pyarrow's own.

    That reads up to 1 GiB ahead of whoever takes its batches, which no setting changes.

    Args:
        reader: The rows.
        columns: As for ``ScanDataset.scanner``.
        filter: The same.
    """

    def __init__(self, reader: pa.RecordBatchReader, columns: object, filter: pc.Expression | None) -> None:  # noqa: A002
        self._reader = reader
        self._given = {"columns": columns, "filter": filter}

    def __getattr__(self, name: str) -> object:
        return getattr(pads.Scanner.from_batches(self._reader, **self._given), name)

    @property
    def projected_schema(self) -> pa.Schema:
        """What it gives."""
        return self._scanner([]).projected_schema

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with self._reader:
            for batch in self._reader:
                yield from self._scanner([batch]).to_table().to_batches()

    def _scanner(self, batches: Sequence[pa.RecordBatch]) -> pads.Scanner:
        return pads.Scanner.from_batches(batches, schema=self._reader.schema, use_threads=False, **self._given)


def _refuse(method: str) -> NoReturn:
    raise NotSupportedError(f"a table scan has no {method}(); use its to_arrow(), or a relation of DuckDB")
