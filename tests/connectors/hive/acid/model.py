"""What a transactional table holds at a snapshot, by brute force: dicts of rows, deletions and transactions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.connectors.hive.acid.writer import Event, Row, RowKey, deletes

__all__ = ["AcidModel", "Snapshot"]

_NONE = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader may see.

    Attributes:
        high_watermark: Highest write id given out.
        open: Write ids of open transactions.
        aborted: Write ids of aborted transactions.
        transaction_high_watermark: Highest transaction given out.
        open_transactions: Open transactions, those of compactions included.
        aborted_transactions: Aborted ones.
        version: Only write ids up to this one, where set.
    """

    high_watermark: int
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    transaction_high_watermark: int = 0
    open_transactions: tuple[int, ...] = ()
    aborted_transactions: tuple[int, ...] = ()
    version: int | None = None

    @property
    def minimum_open(self) -> int:
        """Lowest open write id; Java's highest long without one."""
        return min(self.open, default=_NONE)

    @property
    def last_complete(self) -> int:
        """The highest write id up to which nothing was open, or is left out."""
        known = self.high_watermark if self.version is None else min(self.version, self.high_watermark)
        return min(known, self.minimum_open - 1)

    def sees(self, write_id: int) -> bool:
        """Whether the rows and deletions of a write id count."""
        within = write_id <= self.high_watermark and (self.version is None or write_id <= self.version)
        return within and write_id not in self.open and write_id not in self.aborted

    def as_of(self, version: int) -> Snapshot:
        """This snapshot, no further than a write id."""
        return replace(self, version=version)

    def writing(self, write_id: int) -> Snapshot:
        """This snapshot, for the transaction that has the highest write id: it sees what it wrote itself."""
        return replace(
            self,
            high_watermark=max(write_id, self.high_watermark),
            open=tuple(one for one in self.open if one != write_id),
        )


@dataclass(slots=True)
class AcidModel:
    """All that was ever written into a table.

    Attributes:
        inserted: Rows by key; the key has the write id of the insert.
        deleted: Write ids of the deletions of a key.
        overwritten: Write ids of INSERT OVERWRITE, LOAD DATA OVERWRITE and TRUNCATE.
    """

    inserted: dict[RowKey, Row] = field(default_factory=dict)
    deleted: dict[RowKey, list[int]] = field(default_factory=dict)
    overwritten: list[int] = field(default_factory=list)

    def visible(self, snapshot: Snapshot) -> dict[RowKey, Row]:
        """The rows of a snapshot, by key."""
        oldest = max(filter(snapshot.sees, self.overwritten), default=0)
        return {
            key: row
            for key, row in self.inserted.items()
            if key.write_id >= oldest
            and snapshot.sees(key.write_id)
            and not any(map(snapshot.sees, self.deleted.get(key, ())))
        }

    def events(self, above: int, snapshot: Snapshot) -> list[Event]:
        """Inserts and deletions that a snapshot sees, of write ids above one."""
        seen = [
            Event(key, key.write_id, row)
            for key, row in self.inserted.items()
            if key.write_id > above and snapshot.sees(key.write_id)
        ]
        for key, write_ids in self.deleted.items():
            for write_id in write_ids:
                if write_id > above and snapshot.sees(write_id):
                    seen += deletes([key], write_id)
        return seen

    def insert(self, rows: dict[RowKey, Row]) -> None:
        """Adds rows; no key is ever given out twice."""
        assert not self.inserted.keys() & rows.keys()
        self.inserted |= rows

    def delete(self, keys: list[RowKey], write_id: int) -> None:
        """Adds deletions."""
        for key in keys:
            self.deleted.setdefault(key, []).append(write_id)
