"""Which files of a bucketed table a filter leaves. Driver side."""

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
    """What one scan does with buckets. Used by several threads.

    Attributes:
        table: The table.
        wanted: Buckets that are read; ``None`` for all.
        validate: Files and rows that are not where they belong are refused.
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
        """The bucket of each file of a folder, and the buckets that are read of it.

        One file whose name tells no bucket may hold rows of all, and is a sign that others were not written by the
        table's buckets either: then all files are read. Hive before 2.0 left it to a setting whether rows were dealt
        out (``hive.enforce.bucketing``), and ALTER TABLE changes the number of buckets and the types of columns in the
        metastore alone: so the first rows of files that a filter chooses are checked, and where a bucket has no file
        to be checked, all are read.

        Args:
            paths: The files.
            bucketed: The folder's rows were dealt out as the table says.
            partition: Names the folder's partition for messages.

        Raises:
            CorruptFileError: Such a file was met, and buckets are validated (code ``HIVE_INVALID_BUCKET_FILES``).
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
                f"the name of {paths[buckets.index(None)]} tells none of the {bucketing.count} buckets of {where}; "
                "expected a name such as 000000_0: write the rows anew with Hive, or set hive.validate-bucketing=false",
                error_codes.HIVE_INVALID_BUCKET_FILES,
            )
        return buckets, None

    def check(self, bucket: int | None, *, chosen: bool) -> BucketCheck:
        """Which rows of a file are checked while they are read.

        Args:
            bucket: The file's.
            chosen: Files of other buckets of its folder are not read.
        """
        bucketing = self.table.bucketing
        if bucketing is None or bucket is None or not bucketing.has_hashes:
            return BucketCheck.NONE
        if self.validate:
            return BucketCheck.ALL_ROWS
        return BucketCheck.FIRST_ROWS if chosen else BucketCheck.NONE
