"""Ids in a listed location that show another metastore wrote its files. Driver side; pure."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.directories.location import AcidLocation
from connectors.hive.acid.directories.state import UnreadReason

__all__ = ["UnknownIds"]


@dataclass(frozen=True, slots=True)
class UnknownIds:
    """Ids in a location that a snapshot does not know.

    Attributes:
        location: Path of the table or partition.
        newest: The greatest write id in the names of its directories, where it is later than the snapshot; else 0.
        running: Transactions of compactions that the snapshot takes as not committed.
    """

    location: str
    newest: int = 0
    running: tuple[int, ...] = ()

    @classmethod
    def of(cls, listed: AcidLocation) -> UnknownIds:
        """The unknown ids of a listed location."""
        unread = listed.state.unread
        running = tuple(one.directory.visibility for one in unread if one.reason is UnreadReason.COMPACTION_OPEN)
        newest = max((content.directory.last for content in listed.listing.directories.values()), default=0)
        known = listed.snapshot.write_ids.high_watermark
        return cls(listed.location, newest if newest > known else 0, running)

    def check_write_ids(self, name: SchemaTableName, high_watermark: int) -> None:
        """Checks that the metastore has allocated the write ids, by the table's highest one after the listing.

        A writer allocates its write id before it creates a directory.

        Raises:
            NotSupportedError: The metastore has not allocated one of them.
        """
        if self.newest > high_watermark:
            raise NotSupportedError(
                f"{self.location} holds write id {self.newest}, but the highest that the metastore has allocated for "
                f"{name} is {high_watermark}: the directory was written under another metastore, or the table was "
                "created again over it, so which of its rows are committed is not known; let Hive fill the table, or "
                "register the directory with transactional => true in a catalog with hive.metastore=embedded",
                error_codes.HIVE_ACID_LAYOUT,
            )

    def check_transactions(self, high_watermark: int) -> None:
        """Checks that the compactions ran under this metastore, by its highest transaction after the listing.

        Raises:
            NotSupportedError: One did not.
        """
        foreign = max(self.running, default=0)
        if foreign > high_watermark:
            raise NotSupportedError(
                f"{self.location} holds a directory of a compaction in transaction {foreign} (its name ends in "
                f"_v{foreign:07}), but the metastore's newest transaction is {high_watermark}: it was written under "
                "another metastore; remove _v and the number from its name, or compact the table there and copy it "
                "again",
                error_codes.HIVE_ACID_LAYOUT,
            )
