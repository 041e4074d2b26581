"""Checks that the rows of a file are of its bucket. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connector_spi.page_source import PageSource
from connectors.hive import error_codes
from connectors.hive.buckets.layout import Bucketing
from connectors.toolkit.partition_values import constant_batch

__all__ = ["FileBucket"]

Batches = Generator[pa.RecordBatch, None, None]


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

    def first_rows_checked(self, probe: PageSource, batches: Iterator[pa.RecordBatch]) -> Batches:
        """The batches, after a check of the file's first rows.

        Args:
            probe: Reads the bucketing columns of all rows; closed here.
            batches: The rows asked.
        """
        with probe:
            first = next(probe, None)
        if first is not None:
            self.check(first)
        yield from batches

    def rows_checked(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Batches:
        """The batches with the columns of ``schema`` alone, each of them checked.

        Args:
            schema: The columns asked.
            batches: All rows, with those columns first and the bucketing columns among them.
        """
        for batch in batches:
            self.check(batch)
            if len(schema):
                yield pa.RecordBatch.from_arrays(batch.columns[: len(schema)], schema=schema)
            else:
                yield constant_batch(schema, {}, batch.num_rows)
