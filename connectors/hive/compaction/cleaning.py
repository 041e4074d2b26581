"""Deletes what compactions have replaced, once no reader can need it, as Hive's ``Cleaner`` does."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from catalog.metastore.client import TransactionClient
from catalog.metastore.compactions import Compaction, CompactionJob, CompactionKind
from catalog.metastore.factory import Metastore
from catalog.metastore.transactions import NO_MINIMUM, ValidTransactions
from connector_spi.errors import FileMissingError, InvalidArgumentError, NotSupportedError, TableNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.optional.procedures import ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.properties import duration_property
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.acid.directories.listing import part_listing
from connectors.hive.acid.directories.location import AcidLocation, list_acid_location
from connectors.hive.acid.directories.state import UnreadDirectory, UnreadReason
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds
from connectors.hive.compaction.targets import CompactionTarget
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["CLEAN_ARGUMENTS", "CLEAN_RESULT", "CompactionCleaner"]

_RETENTION = duration_property(
    "retention_threshold", "How long what a compaction has replaced stays after its commit.", 0.0, minimum=0
)
CLEAN_ARGUMENTS = (
    ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
    ProcedureArgument("table_name", pa.string(), "Name of the table, which is transactional."),
    ProcedureArgument("partition", pa.string(), "Name of a partition; of all by default.", required=False),
    ProcedureArgument(_RETENTION.name, pa.string(), _RETENTION.description, required=False, default="0s"),
)
CLEAN_RESULT = pa.schema(
    [
        ("compaction", pa.int64()),
        ("partition", pa.string()),
        ("state", pa.string()),
        ("reason", pa.string()),
        ("deleted", pa.int64()),
    ]
)
_READY = "ready for cleaning"
_RUNNING = "working"
# By the lists that are looked at, no write id of these is open.
_DELETED = (
    UnreadReason.OBSOLETE,
    UnreadReason.DUPLICATE,
    UnreadReason.ABORTED,
    UnreadReason.COMPACTION_ABORTED,
    UnreadReason.NOTHING_NEW,
)


@dataclass(frozen=True, slots=True)
class _Cleaned:
    state: str
    reason: str | None = None
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class CompactionCleaner:
    """Cleans up after compactions that are ready for it, Hive's and our own.

    Attributes:
        metastore: The metastore.
        files: Storage.
    """

    metastore: Metastore
    files: FileSystem

    def clean(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        """``CALL system.run_clean(...)``: a row for each compaction that was ready."""
        name = SchemaTableName(str(arguments["schema_name"]).lower(), str(arguments["table_name"]).lower())
        retention = _seconds(arguments[_RETENTION.name])
        self.metastore.writes.check_allowed(f"delete files that compactions of {name} have replaced")
        if self.metastore.reads.get_table(name.schema, name.table) is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        client, partition = self.metastore.transactions, arguments["partition"]
        shown = client.show_compactions(name.schema, name.table)
        ready = [one for one in reversed(shown) if one.state == _READY and partition in (None, one.partition)]
        rows = []
        for one in ready:
            done = self._clean(name, one, retention)
            row = {"compaction": one.compaction, "partition": one.partition}
            rows.append({**row, "state": done.state, "reason": done.reason, "deleted": done.deleted})
        return pa.Table.from_pylist(rows, CLEAN_RESULT)

    def _clean(self, name: SchemaTableName, one: Compaction, retention: float) -> _Cleaned:
        client = self.metastore.transactions
        valid = client.get_valid_transactions()
        # After the transactions: what is committed by then is on the list.
        shown = client.show_compactions(name.schema, name.table)
        why = _why_not(one, shown, valid, retention)
        if why is not None:
            return _Cleaned(_READY, why)
        target = CompactionTarget.find(self.metastore, self.files, name, one.partition)
        if not target.cleanable:
            raise NotSupportedError(f"{name} is not cleaned: its property NO_CLEANUP says so")
        highest = one.highest_write_id or 0
        snapshot = _snapshot(client, name, _seen_by_all(valid), _unseen(shown, valid), highest)
        if snapshot.write_ids.open:
            return _Cleaned(_READY, f"write id {snapshot.write_ids.open[0]} is open")
        deleted, left = self._delete(target, snapshot, highest)
        if left is not None:
            # The metastore must not forget which transactions were aborted while there is a file of one.
            return _Cleaned(_READY, f"{left} is still there", deleted)
        kind = CompactionKind.__members__.get(one.kind.upper())
        client.mark_cleaned(
            CompactionJob(one.compaction, name.schema, name.table, one.partition, kind, highest_write_id=highest)
        )
        return _Cleaned("succeeded", None, deleted)

    def _delete(self, target: CompactionTarget, snapshot: AcidSnapshot, highest: int) -> tuple[int, str | None]:
        """Deletes directories, and files older than transactions that a base has replaced.

        Returns:
            How many, and the name of a directory that should not be there any more; ``None`` where there is none.
        """
        try:
            listed = self._list(target, snapshot)
        except FileMissingError as error:
            if error.code != error_codes.HIVE_FILE_CLEANED:
                raise
            # Another cleaner has been there, and a later compaction has the rows.
            found = part_listing(target.location, self.files.list(target.location, recursive=True)).directories
            return 0, next((name for name, one in found.items() if one.directory.last <= highest), None)
        gone = [one.directory.name for one in listed.state.unread if _is_deleted(one, highest)]
        for directory in gone:
            self.files.delete_folder(join_path(target.location, directory))
        originals = [] if listed.state.base is None else listed.listing.originals
        for info in originals:
            self.files.delete_file(info.path)
        unread = self._list(target, snapshot).state.unread
        left = next((one.directory.name for one in unread if one.directory.last <= highest), None)
        return len(gone) + len(originals), left

    def _list(self, target: CompactionTarget, snapshot: AcidSnapshot) -> AcidLocation:
        return list_acid_location(self.files, target.location, snapshot, insert_only=target.table.insert_only)


def _why_not(one: Compaction, shown: Iterable[Compaction], valid: ValidTransactions, retention: float) -> str | None:
    """Why nothing is deleted yet: someone may read it, or may still write what the metastore must know of."""
    if not one.highest_write_id:
        return "the metastore does not say which write ids it has merged"
    if one.next_transaction is None:
        return "the metastore does not say when it was committed"
    least = _least_open(valid)
    if least < one.next_transaction:
        return f"transaction {least} has begun before it was committed, and may read what it has replaced"
    if retention and one.committed is not None and one.committed / 1000 + retention > time.time():
        return f"it was committed less than {retention:g} s ago"
    running = [other for other in shown if other.state == _RUNNING and other.partition == one.partition]
    if running:
        return f"compaction {running[0].compaction} is being made"
    return None


def _least_open(valid: ValidTransactions) -> int:
    """No transaction below it is open."""
    return min([valid.minimum_open, *valid.open, valid.high_watermark + 1])


def _seen_by_all(valid: ValidTransactions) -> ValidTransactions:
    """Those that have ended before all that are open (``TxnUtils.createValidTxnListForCleaner``)."""
    least = _least_open(valid)
    return ValidTransactions(least - 1, (), tuple(one for one in valid.aborted if one < least), NO_MINIMUM)


def _unseen(shown: Iterable[Compaction], valid: ValidTransactions) -> tuple[int, ...]:
    """Transactions of compactions that someone may read without: who began before they were committed."""
    least = _least_open(valid)
    return tuple(
        one.transaction
        for one in shown
        if one.transaction is not None and (one.next_transaction is None or one.next_transaction > least)
    )


def _snapshot(
    client: TransactionClient, name: SchemaTableName, seen: ValidTransactions, unseen: tuple[int, ...], highest: int
) -> AcidSnapshot:
    """What all see who are there, of what the compaction has looked at."""
    [ids] = client.get_valid_write_ids([(name.schema, name.table)], seen)
    known = client.known_compactions(seen)
    return AcidSnapshot(
        ValidIds(min(ids.high_watermark, highest), ids.open, ids.aborted),
        ValidIds(known.high_watermark, (*known.open, *unseen), known.aborted),
    )


def _is_deleted(one: UnreadDirectory, highest: int) -> bool:
    return one.directory.last <= highest and one.reason in _DELETED


def _seconds(text: Value | None) -> float:
    try:
        return float(_RETENTION.parse(str(text)) or 0)
    except ValueError as error:
        raise InvalidArgumentError(f"{_RETENTION.name} is '{text}': {error}; expected {_RETENTION.kind}") from error
