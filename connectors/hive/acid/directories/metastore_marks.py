"""What a listed folder says of the metastore that its files were written under. Driver side; pure."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.directories.directory import AcidFolder
from connectors.hive.acid.directories.state import UnreadReason

__all__ = ["ListedFolder"]


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """Ids in a folder that a snapshot does not know.

    Attributes:
        location: The folder.
        newest: The greatest write id in the names of its folders, where the snapshot has not come to it; else 0.
        running: Transactions of compactions that the snapshot takes for not committed.
    """

    location: str
    newest: int = 0
    running: tuple[int, ...] = ()

    @classmethod
    def of(cls, folder: AcidFolder) -> ListedFolder:
        """Of a folder that was listed and judged."""
        unread = folder.state.unread
        running = tuple(one.directory.visibility for one in unread if one.reason is UnreadReason.COMPACTION_OPEN)
        newest = max((content.directory.last for content in folder.listing.directories.values()), default=0)
        known = folder.snapshot.write_ids.high_watermark
        return cls(folder.location, newest if newest > known else 0, running)

    def check_write_ids(self, name: SchemaTableName, high_watermark: int) -> None:
        """Makes sure that the metastore has given out the write ids, by the highest of the table after the listing.

        A writer asks for its write id before it makes a folder.

        Raises:
            NotSupportedError: It has not.
        """
        if self.newest > high_watermark:
            raise NotSupportedError(
                f"{self.location} holds write id {self.newest}, and the highest that the metastore has given out for "
                f"{name} is {high_watermark}: the folder was written under another metastore, or the table was made "
                "anew over it, so which of its rows are committed is not known; let Hive fill the table, or register "
                "the folder with transactional => true in a catalog with hive.metastore=embedded",
                error_codes.HIVE_ACID_LAYOUT,
            )

    def check_transactions(self, high_watermark: int) -> None:
        """Makes sure that the compactions were the metastore's, by its highest transaction after the listing.

        Raises:
            NotSupportedError: They were not.
        """
        foreign = max(self.running, default=0)
        if foreign > high_watermark:
            raise NotSupportedError(
                f"{self.location} holds a folder of a compaction in transaction {foreign} (its name ends in "
                f"_v{foreign:07}), and the metastore's newest transaction is {high_watermark}: it was written under "
                "another metastore; take _v and the number off its name, or compact the table there and copy it anew",
                error_codes.HIVE_ACID_LAYOUT,
            )
