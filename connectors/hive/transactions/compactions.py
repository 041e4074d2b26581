"""``system.compact``, which asks the metastore for a compaction, and ``t$compactions``. Driver side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pyarrow as pa

from catalog.metastore.compactions import Compaction, CompactionKind, RequestedCompaction
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import InvalidArgumentError, MetastoreError, NotSupportedError, TableNotFoundError, UserError
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import TupleDomain, Value
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hive import error_codes
from connectors.hive.definitions.table_formats import is_transactional

__all__ = ["CompactionsTable", "compact_procedure", "request_compaction"]

_ARGUMENTS = (
    ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
    ProcedureArgument("table_name", pa.string(), "Name of the table, which is transactional."),
    ProcedureArgument(
        "partition", pa.string(), "Name of the partition, such as ds=2024-01-01, if there are.", required=False
    ),
    ProcedureArgument(
        "type",
        pa.string(),
        "MINOR: one delta of all deltas; MAJOR: a base without deleted rows.",
        required=False,
        default="MAJOR",
    ),
    ProcedureArgument("wait", pa.bool_(), "Whether it is waited for.", required=False, default=False),
    ProcedureArgument("max_wait_seconds", pa.int64(), "Longest wait, in seconds.", required=False, default=3600),
)
_RESULT = pa.schema([("compaction", pa.int64()), ("state", pa.string()), ("accepted", pa.bool_())])
_TIME = pa.timestamp("ms", "UTC")
_SCHEMA = pa.schema(
    [
        ("compaction", pa.int64()),
        ("partition", pa.string()),
        ("type", pa.string()),
        ("state", pa.string()),
        ("worker", pa.string()),
        ("started", _TIME),
        ("ended", _TIME),
        ("error", pa.string()),
    ]
)
# TxnStore's words. After "ready for cleaning" readers have its files; only old ones are still there.
_PENDING = ("initiated", "working")
_DONE = ("ready for cleaning", "succeeded")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0


def compact_procedure(metastore: Metastore) -> Procedure:
    """``CALL hive.system.compact('s', 't', ...)``."""

    def compact(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        seen = metastore.as_user(session.user)
        asked = request_compaction(seen, arguments)
        state = asked.state
        if arguments["wait"]:
            name = _name(arguments)
            state = _wait(seen, name, asked, float(str(arguments["max_wait_seconds"] or 0)))
        row = {"compaction": asked.compaction, "state": state, "accepted": asked.accepted}
        return pa.Table.from_pylist([row], _RESULT)

    return Procedure(
        "system",
        "compact",
        "Asks the metastore for a compaction of a transactional table, which workers make: of Hive, or run_compaction.",
        arguments=_ARGUMENTS,
        result=_RESULT,
        function=compact,
    )


class CompactionsTable(SystemTable):
    """One row for each compaction of the table that the metastore knows of, the newest first; none for other tables.

    Args:
        name: Name of the table.
        metastore: The metastore.
        transactional: The table is transactional.
    """

    kind = "compactions"

    def __init__(self, name: SystemTableName, metastore: Metastore, *, transactional: bool) -> None:
        self._name = name
        self._metastore = metastore
        self._transactional = transactional

    @property
    def metadata(self) -> TableMetadata:
        table = SchemaTableName(self._name.base.schema, f"{self._name.base.table}${self.kind}")
        return TableMetadata(table, tuple(ColumnMetadata(field.name, field.type) for field in _SCHEMA))

    def read(self, session: ConnectorSession, constraint: TupleDomain[str]) -> Iterator[pa.RecordBatch]:
        if not self._transactional:
            return
        client = self._metastore.as_user(session.user).transactions
        found = client.show_compactions(self._name.base.schema, self._name.base.table)
        yield pa.RecordBatch.from_pylist([_row(one) for one in found], _SCHEMA)


def request_compaction(
    metastore: Metastore, arguments: Mapping[str, Value | None], pool: str | None = None
) -> RequestedCompaction:
    """Asks for a compaction.

    Args:
        metastore: The metastore, as its caller meets it.
        arguments: Table, partition and type.
        pool: Whose workers make it; ``None`` for all.

    Raises:
        UserError: The table or partition is not there, or is not transactional.
        MetastoreError: The metastore refuses.
    """
    name = _name(arguments)
    given = str(arguments["type"]).upper()
    if given not in CompactionKind.__members__:
        raise InvalidArgumentError(
            f"the type {arguments['type']!r} is unknown; expected one of {', '.join(CompactionKind.__members__)}"
        )
    metastore.writes.check_allowed(f"compact {name}")
    table = metastore.reads.get_table(name.schema, name.table)
    if table is None:
        raise TableNotFoundError(f"table {name} is not in the metastore")
    if not is_transactional(table.parameters):
        raise NotSupportedError(f"{name} cannot be compacted: it is not transactional, so that it has no deltas")
    partition = _partition(metastore, table, arguments["partition"])
    return metastore.transactions.request_compaction(name.schema, name.table, partition, CompactionKind[given], pool)


def _partition(metastore: Metastore, table: Table, given: Value | None) -> str | None:
    what = f"{table.database}.{table.name}"
    if not table.partition_keys:
        if given is not None:
            raise InvalidArgumentError(f"{what} has no partitions; met the partition {given!r}")
        return None
    if given is None:
        keys = "/".join(f"{key.name}=..." for key in table.partition_keys)
        raise InvalidArgumentError(f"{what} is compacted partition by partition: expected partition => '{keys}'")
    # The metastore would take any name (DDLTask looks for the partition, too).
    partition = str(given)
    if not metastore.reads.get_partitions_by_names(table.database, table.name, [partition]):
        raise UserError(f"{what} has no partition {partition}", error_codes.HIVE_PARTITION_NOT_FOUND)
    return partition


def _wait(metastore: Metastore, name: SchemaTableName, asked: RequestedCompaction, longest: float) -> str:
    deadline, pause = time.monotonic() + longest, _FIRST_PAUSE
    while True:
        shown = metastore.transactions.show_compactions(name.schema, name.table)
        found = next((one for one in shown if one.compaction == asked.compaction), None)
        if found is not None and found.state in _DONE:
            return found.state
        if found is None or found.state not in _PENDING:
            why = "it is no longer listed" if found is None else found.error or "the log of its worker says why"
            state = "unknown" if found is None else found.state
            raise MetastoreError(
                f"compaction {asked.compaction} of {name} was not made, its state is {state}: {why}",
                error_codes.HIVE_COMPACTION_FAILED,
            )
        if time.monotonic() + pause > deadline:
            raise MetastoreError(
                f"compaction {asked.compaction} of {name} is {found.state} after {longest:g} s, by worker "
                f"{found.worker}; it stays asked for, and {name}$compactions shows it",
                error_codes.HIVE_COMPACTION_FAILED,
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


def _row(one: Compaction) -> dict[str, object]:
    return {
        "compaction": one.compaction,
        "partition": one.partition,
        "type": one.kind,
        "state": one.state,
        "worker": one.worker,
        "started": None if one.start is None else datetime.fromtimestamp(one.start / 1000, UTC),
        "ended": None if one.end is None else datetime.fromtimestamp(one.end / 1000, UTC),
        "error": one.error,
    }


def _name(arguments: Mapping[str, Value | None]) -> SchemaTableName:
    schema, table = str(arguments["schema_name"] or ""), str(arguments["table_name"] or "")
    if not schema or not table:
        raise InvalidArgumentError("schema_name and table_name must not be empty")
    return SchemaTableName(schema.lower(), table.lower())
