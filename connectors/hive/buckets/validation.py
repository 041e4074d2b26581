"""Checks that the rows of a file are of its bucket. Executor side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connectors.hive import error_codes
from connectors.hive.buckets.layout import BucketCheck, Bucketing
from connectors.toolkit.partition_values import constant_batch

__all__ = ["FileBucket", "bucket_checked"]

Columns = tuple[ColumnHandle, ...]


@dataclass(frozen=True, slots=True)
class FileBucket:
    """The bucket that a file's name tells.

    Attributes:
        path: The file.
        bucketing: How the table's rows were dealt out.
        bucket: The bucket.
    """

    path: str
    bucketing: Bucketing
    bucket: int

    def check(self, batch: pa.RecordBatch) -> None:
        """Makes sure that all rows are of the bucket.

        Args:
            batch: With the bucketing columns in it.

        Raises:
            CorruptFileError: One is not (code ``HIVE_INVALID_BUCKET_FILES``).
        """
        buckets = self.bucketing.buckets([batch.column(column.name) for column in self.bucketing.columns])
        wrong = buckets.filter(pc.not_equal(buckets, self.bucket))
        if len(wrong):
            raise CorruptFileError(
                f"{self.path} is of bucket {self.bucket}, and a row in it is of bucket {wrong[0].as_py()}; the table "
                "was not written by its buckets: write it anew with Hive, or set hive.bucket-execution=false and "
                "hive.validate-bucketing=false to read it as if it had none",
                error_codes.HIVE_INVALID_BUCKET_FILES,
            )


def bucket_checked(
    check: BucketCheck, file: FileBucket, columns: Columns, every_row: Callable[[Columns], PageSource], rows: PageSource
) -> PageSource:
    """A page source that checks rows as it reads.

    Args:
        check: Which rows.
        file: What they are checked by.
        columns: The columns asked.
        every_row: Reads some columns of the file with no filter: rows that are skipped are not checked.
        rows: Reads the columns asked.
    """
    if check is BucketCheck.NONE:
        return rows
    if check is BucketCheck.FIRST_ROWS:
        return _FirstRowsChecked(every_row(file.bucketing.columns), file, rows)
    more = tuple(column for column in file.bucketing.columns if column not in columns)
    return _AllRowsChecked(every_row((*columns, *more)), file, rows.schema)


class _FirstRowsChecked(PageSource):
    def __init__(self, probe: PageSource, file: FileBucket, rows: PageSource) -> None:
        self._probe: PageSource | None = probe
        self._file = file
        self._rows = rows

    @property
    def schema(self) -> pa.Schema:
        return self._rows.schema

    @property
    def completed_bytes(self) -> int:
        return self._rows.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        if self._probe is not None:
            with self._probe as probe:
                first = next(probe, None)
            self._probe = None
            if first is not None:
                self._file.check(first)
        return next(self._rows)

    def close(self) -> None:
        if self._probe is not None:
            self._probe.close()
        self._rows.close()


class _AllRowsChecked(PageSource):
    """Gives the columns asked, without those that only the check needs."""

    def __init__(self, rows: PageSource, file: FileBucket, schema: pa.Schema) -> None:
        self._rows = rows
        self._file = file
        self._schema = schema

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._rows.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._rows)
        self._file.check(batch)
        if not len(self._schema):
            return constant_batch(self._schema, {}, batch.num_rows)
        return pa.RecordBatch.from_arrays(batch.columns[: len(self._schema)], schema=self._schema)

    def close(self) -> None:
        self._rows.close()
