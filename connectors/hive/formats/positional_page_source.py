"""Files that hold the columns which the metastore declares, in that order. Executor side."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager

import pyarrow as pa

from connector_spi.errors import ConnectorError, CorruptFileError
from connectors.hive.formats.coercions.rules import ROW_RULES
from connectors.hive.formats.file_format import FileRequest
from connectors.hive.schema.text_types import apply_text_rule
from connectors.toolkit.read.file_page_source import FilePageSource, resolve_sources
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.storage.filesystem import raise_storage_failure

__all__ = ["DeclaredPageSource"]


class DeclaredPageSource(FilePageSource):
    """Reads a file whose columns are those that the metastore declares.

    A subclass gives the declared columns that are asked, in their declared types; they are brought into the form of
    the table's columns here, where the partition's differ or nested types are narrowed.
    """

    rules = ROW_RULES

    def __init__(self, request: FileRequest) -> None:
        super().__init__(
            request.files,
            request.path,
            request.start,
            request.length,
            request.columns,
            request.constants,
            request.predicate,
            sources=request.sources(by_name=False),
            whole=request.types_by_column,
            zone=request.zone,
        )
        self.request = request

    @abstractmethod
    def read_declared(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        """Opens the file, gives its rows in batches and closes it, also when the generator is closed.

        Args:
            wanted: Positions of declared columns, sorted; may be empty, and then rows are counted.

        Returns:
            For each batch one array for each of ``wanted``, and the number of rows.
        """

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        adapter = SchemaAdapter(
            self.request.declared,
            self.file_columns,
            sources=resolve_sources(self.sources, self.request.declared),
            conventions=TimeConventions(zone=self.zone),
            where=self.where.path,
            rules=self.rules,
            whole=self.whole,
        )
        rules = {self.request.declared.names.index(name): rule for name, rule in self.request.declared_rules}
        wanted = sorted({position for position in adapter.positions if position is not None})
        with closing(self.read_declared(wanted)) as batches:
            for arrays, rows in batches:
                known = {
                    at: apply_text_rule(array, rules[at]) if at in rules else array
                    for at, array in zip(wanted, arrays, strict=True)
                }
                found = [None if at is None else known[at] for at in adapter.positions]
                yield self.batch(adapter.adapt(found, rows), rows)

    def errors(self) -> AbstractContextManager[None]:
        return _file_errors(self.where.path, self.request.storage.format)


@contextmanager
def _file_errors(path: str, kind: str) -> Iterator[None]:
    """Maps what pyarrow and codecs raise about a file: to CorruptFileError, where storage did not fail."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise_storage_failure(error, path)
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as {kind}: {reason}; it is truncated, damaged or of another format"
        ) from error
