"""Moves the files of an insert into a transactional table to where its write id makes them visible. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Partition
from connector_spi.errors import MetastoreError
from connectors.hive import error_codes
from connectors.hive.transactions.writes import WriteTransaction
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.moved_files import MovedFiles
from connectors.hive.write.target_partitions import PartitionKey, TargetPartitions
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["AcidInsert"]

_VERSION_FILE = "_orc_acid_version"
_VERSION = b"2"


@dataclass(slots=True)
class AcidInsert:
    """The files of one insert into a transactional table.

    No file is visible before the metastore's transaction commits. New partitions are added before it, as Hive does:
    where it is rolled back, they stay and are empty. Files of a writer that was killed are below partitions that are
    there, where their write id hides them, so that the next write to the same partition is none the worse.

    Attributes:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
        made: When the statement began, in seconds since 1970.
        transaction: The metastore's transaction, which is committed after ``publish``.
        fragments: What was written.
    """

    metastore: Metastore
    files: FileSystem
    handle: HiveInsertHandle
    made: int
    transaction: WriteTransaction
    fragments: tuple[HiveFragment, ...] = field(default=())

    def finish(self, fragments: Sequence[HiveFragment]) -> None:
        """All files are written.

        Raises:
            MetastoreError: The metastore has ended the transaction.
            NotSupportedError: A partition is written in another way than the table.
        """
        self.transaction.check()
        self.fragments = tuple(fragments)
        targets = TargetPartitions(self.metastore, self.handle)
        self._check_there(targets, targets.known(targets.table(), fragments))

    def publish(self) -> None:
        """Moves all files to where they belong; they are visible when the transaction commits.

        Raises:
            ConnectorError: The metastore or storage failed.
        """
        try:
            self.transaction.check()
            if self.fragments:
                self._publish()
        finally:
            self.discard()

    def discard(self) -> None:
        """Deletes what was not moved."""
        self.files.delete_folder(self.handle.staging)

    def _check_there(self, targets: TargetPartitions, known: Mapping[PartitionKey, Partition]) -> None:
        """Rows cannot be deleted from a partition that is gone, nor may it come back for them."""
        for fragment in self.fragments:
            if fragment.deletes and fragment.partition and fragment.partition not in known:
                raise MetastoreError(
                    f"partition {targets.name(fragment.partition)} of {self.handle.name} was dropped while rows of it "
                    "were changed; run the statement again",
                    error_codes.HIVE_WRITE_CONFLICT,
                )

    def _publish(self) -> None:
        targets = TargetPartitions(self.metastore, self.handle)
        table = targets.table()
        known = targets.known(table, self.fragments)
        self._check_there(targets, known)
        partitions = list(dict.fromkeys(fragment.partition for fragment in self.fragments))
        new = [
            Partition(
                table.database,
                table.name,
                values,
                replace(table.storage, location=targets.location(table, {}, values)),
                Parameters(),
                self.made,
            )
            for values in partitions
            if values and values not in known
        ]
        for partition in new:
            # Not every metastore makes it, and readers take a partition without one for damage.
            self.files.create_folder(targets.location(table, {}, partition.values))
        targets.add(new, lambda there: None)
        # Who has added some meanwhile may have placed them elsewhere.
        known = targets.known(table, self.fragments) if new else known
        with MovedFiles(self.files) as moved:
            directories = set()
            for fragment in self.fragments:
                target = join_path(targets.location(table, known, fragment.partition), fragment.name)
                moved.move(fragment.path, target)
                directories.add(target.rpartition("/")[0])
            if self.handle.acid is not None and self.handle.acid.row_ids:
                for directory in sorted(directories):
                    moved.write(join_path(directory, _VERSION_FILE), _VERSION)
            if self.handle.partition_keys:
                self.transaction.add_partitions(self.handle.name, [targets.name(values) for values in partitions])
