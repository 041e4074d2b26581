"""Checks that the rows of a file are of its bucket. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connectors.hive import error_codes
from connectors.hive.buckets import Bucketing
from connectors.toolkit.partition_values import constant_batch

__all__ = ["BucketCheckedPageSource", "with_bucketing_columns"]


def with_bucketing_columns(columns: tuple[ColumnHandle, ...], bucketing: Bucketing) -> tuple[ColumnHandle, ...]:
    """The columns asked, and after them the bucketing columns that are not among them."""
    return (*columns, *(column for column in bucketing.columns if column not in columns))


class BucketCheckedPageSource(PageSource):
    """Gives what another page source gives, without the columns that only the check needs.

    Args:
        source: Of the columns of ``with_bucketing_columns``.
        columns: The columns asked.
        bucketing: How rows were dealt out.
        bucket: The file's.
        path: The file, for the message.
    """

    def __init__(
        self, source: PageSource, columns: Sequence[ColumnHandle], bucketing: Bucketing, bucket: int, path: str
    ) -> None:
        self._source = source
        self._bucketing = bucketing
        self._bucket = bucket
        self._path = path
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._source)
        self._check(batch)
        if not len(self._schema):
            return constant_batch(self._schema, {}, batch.num_rows)
        return pa.RecordBatch.from_arrays(batch.columns[: len(self._schema)], schema=self._schema)

    def close(self) -> None:
        self._source.close()

    def _check(self, batch: pa.RecordBatch) -> None:
        buckets = self._bucketing.buckets([batch.column(column.name) for column in self._bucketing.columns])
        wrong = buckets.filter(pc.not_equal(buckets, self._bucket))
        if len(wrong):
            raise CorruptFileError(
                f"{self._path} is of bucket {self._bucket}, and a row in it is of bucket {wrong[0].as_py()}; the table "
                "was not written by its buckets: write it anew with Hive, or set hive.bucket-execution=false and "
                "hive.validate-bucketing=false to read it as if it had none",
                error_codes.HIVE_INVALID_BUCKET_FILES,
            )
