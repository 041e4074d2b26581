"""Which files of a bucketed table a filter selects. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from connector_spi.errors import CorruptFileError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.buckets.layout import (
    BUCKET_EXECUTION,
    VALIDATE_BUCKETING,
    BucketCheck,
    file_buckets,
    wanted_buckets,
)
from connectors.hive.handles import HiveTableHandle

__all__ = ["BucketSelection"]


@dataclass(frozen=True, slots=True)
class BucketSelection:
    """The buckets that one scan reads and checks. Thread-safe.

    Attributes:
        table: The table.
        wanted: Buckets that are read; ``None`` for all.
        validate: Refuse files and rows in the wrong bucket.
    """

    table: HiveTableHandle
    wanted: frozenset[int] | None
    validate: bool

    @classmethod
    def of(
        cls, table: HiveTableHandle, constraint: TupleDomain[ColumnHandle], session: ConnectorSession
    ) -> BucketSelection:
        """The selection of a filter."""
        prunes = table.bucketing is not None and session.get(BUCKET_EXECUTION)
        wanted = wanted_buckets(table.bucketing, constraint) if table.bucketing is not None and prunes else None
        return cls(table, wanted, session.get(VALIDATE_BUCKETING))

    def choose(
        self, paths: Sequence[str], bucketed: bool, partition: str
    ) -> tuple[list[int | None], frozenset[int] | None]:
        """The bucket of each file of a location, and the buckets to read; ``None`` for all buckets.

        A file without a bucket in its name may hold rows of any bucket, and shows that others may not be bucketed
        either: then all files are read. Hive before 2.0 made bucketing optional (``hive.enforce.bucketing``), and ALTER
        TABLE changes the number of buckets and the types of columns in the metastore only. So the first rows of
        selected files are checked, and where a bucket has no file to be checked, all files are read.

        Args:
            paths: The files.
            bucketed: The location's rows are bucketed as the table declares.
            partition: Name of the location's partition, for messages.

        Raises:
            CorruptFileError: A file has no bucket, and buckets are validated (code ``HIVE_INVALID_BUCKET_FILES``).
        """
        bucketing = self.table.bucketing
        if bucketing is None or not bucketed:
            return [None] * len(paths), None
        buckets = file_buckets(paths, bucketing.count, bucketing.version)
        if None not in buckets:
            doubtful = self.wanted is not None and not self.wanted.issubset(buckets)
            return buckets, None if doubtful else self.wanted
        if self.validate:
            where = f"partition {partition} of {self.table.name}" if partition else f"table {self.table.name}"
            raise CorruptFileError(
                f"the name of {paths[buckets.index(None)]} has none of the {bucketing.count} buckets of {where}; "
                "expected a name such as 000000_0: rewrite the rows with Hive, or set hive.validate-bucketing=false",
                error_codes.HIVE_INVALID_BUCKET_FILES,
            )
        return buckets, None

    def check(self, bucket: int | None, *, chosen: bool) -> BucketCheck:
        """Which rows of a file are checked while they are read.

        Args:
            bucket: The file's bucket.
            chosen: Files of other buckets of its location are not read.
        """
        bucketing = self.table.bucketing
        if bucketing is None or bucket is None or not bucketing.has_hashes:
            return BucketCheck.NONE
        if self.validate:
            return BucketCheck.ALL_ROWS
        return BucketCheck.FIRST_ROWS if chosen else BucketCheck.NONE
