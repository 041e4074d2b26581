"""Ranges of ORC files as record batches. Executor side.

A stripe belongs to the range that holds its first byte, as in Hive's and Spark's ``OrcInputFormat``, so that ranges
that cover a file partition its rows. A stripe is read whole (pyarrow has no smaller step) and given out in slices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyorc
from pyarrow import orc

from connector_spi.errors import ConnectorError, CorruptFileError
from connector_spi.handles import ColumnHandle
from connectors.toolkit.orc.footer import OrcFooter, read_orc_footer
from connectors.toolkit.orc.stripes import OrcStripes
from connectors.toolkit.read.file_page_source import FilePageSource
from connectors.toolkit.read.late_materialization import RowFilter, one_array
from connectors.toolkit.storage.filesystem import FileSystem, raise_storage_failure

__all__ = ["OrcPageSource", "orc_errors", "read_orc_schema"]


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
        reader = self._stripes(source, footer, self.file_columns)
        stripes = reader.matching(stripes, self.predicate)
        if not reader.names:
            yield from self.count(sum(footer.stripes[index].rows for index in stripes))
            return
        late = self._late(source, footer, reader) if self.skips_rows and stripes else None
        for index in stripes:
            self.bytes_read += footer.stripes[index].length
            if late is not None and late.filter.useful:
                yield from self._read_late(index, late)
                continue
            for part in reader.slices(reader.read(index)):
                yield self.batch(part.arrays, part.rows)

    def _stripes(self, source: pa.NativeFile, footer: OrcFooter, columns: Sequence[ColumnHandle]) -> OrcStripes:
        return OrcStripes(
            source,
            footer,
            columns,
            self.sources,
            zone=self.zone,
            where=self.where.path,
            strict=self.strict,
            rules=self.rules,
            batch_rows=self.batch_rows,
        )

    def _late(self, source: pa.NativeFile, footer: OrcFooter, reader: OrcStripes) -> _LateStripes | None:
        row_filter = RowFilter(self.file_columns, self.predicate)
        if reader.shares_columns or not row_filter.useful:
            return None
        first, rest = (self._stripes(source, footer, columns) for columns in (row_filter.first, row_filter.rest))
        return _LateStripes(row_filter, first, rest) if first.names and rest.names else None

    def _read_late(self, index: int, late: _LateStripes) -> Iterator[pa.RecordBatch]:
        """The rows of a stripe that pass the filter; where none does, other columns are not touched."""
        stripe = late.first.read(index)
        places: list[npt.NDArray[np.int64]] = []
        kept: list[list[pa.Array]] = [[] for _ in late.filter.first]
        for part in late.first.slices(stripe):
            chosen = late.filter.places(part.arrays)
            for parts, array in zip(kept, part.arrays, strict=True):
                parts.append(array.take(pa.array(chosen)))
            places.append(chosen + part.start)
        chosen = np.concatenate(places)
        late.filter.seen(stripe.rows, len(chosen))
        if not len(chosen):
            return
        names = [column.name for column in (*late.filter.first, *late.filter.rest)]
        order = [names.index(column.name) for column in self.file_columns]
        first = [pa.chunked_array(parts, column.type) for parts, column in zip(kept, late.filter.first, strict=True)]
        rest = late.rest.read(index)
        taken = pa.array(chosen)
        columns = rest.columns if len(chosen) == stripe.rows else [column.take(taken) for column in rest.columns]
        for part in late.rest.slices(replace(rest, rows=len(chosen), columns=columns)):
            found = [*(one_array(column.slice(part.start, part.rows)) for column in first), *part.arrays]
            yield self.batch([found[at] for at in order], part.rows)


def read_orc_schema(files: FileSystem, path: str) -> pa.Schema:
    """The Arrow schema of a file.

    Raises:
        CorruptFileError: It is truncated, or no ORC file.
    """
    with files.open(path) as source, orc_errors(path):
        read_orc_footer(source, path)
        schema = orc.ORCFile(source).schema.remove_metadata()
        # Names are decoded when they are asked, which may fail.
        fields = list(schema)
        for field in fields:
            if field.name:
                fields += [field.type.field(at) for at in range(field.type.num_fields)]
        return schema


@dataclass(frozen=True, slots=True)
class _LateStripes:
    """Columns that are read in two steps: those of the filter, then the other ones for rows that passed."""

    filter: RowFilter
    first: OrcStripes
    rest: OrcStripes


@contextmanager
def orc_errors(path: str) -> Iterator[None]:
    """Maps what pyarrow and pyorc raise about a file: to CorruptFileError, where storage did not fail."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, pyorc.ParseError) as error:
        raise_storage_failure(error, path)
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as ORC: {reason}; it is truncated, damaged or of another format"
        ) from error
