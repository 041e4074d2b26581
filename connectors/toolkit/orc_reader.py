"""Ranges of ORC files as record batches. Executor side.

A stripe belongs to the range that holds its first byte, as in Hive's and Spark's ``OrcInputFormat``, so that ranges
that cover a file partition its rows. A stripe is read whole (pyarrow has no smaller step) and given out in slices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
import pyorc
from pyarrow import orc

from connector_spi.errors import ConnectorError, CorruptFileError
from connectors.toolkit.file_page_source import FilePageSource
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.orc_footer import OrcFooter, read_orc_footer
from connectors.toolkit.orc_stripes import OrcStripes

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
        reader = OrcStripes(
            source,
            footer,
            self.file_columns,
            self.sources,
            zone=self.zone,
            where=self.where.path,
            strict=self.strict,
            rules=self.rules,
            batch_rows=self.batch_rows,
        )
        stripes = reader.matching(stripes, self.predicate)
        if not reader.names:
            yield from self.count(sum(footer.stripes[index].rows for index in stripes))
            return
        for index in stripes:
            self.bytes_read += footer.stripes[index].length
            for part in reader.slices(reader.read(index)):
                yield self.batch(part.arrays, part.rows)


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
    except (pa.ArrowException, OSError, UnicodeDecodeError, pyorc.ParseError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as ORC: {reason}; it is truncated, damaged or of another format"
        ) from error
