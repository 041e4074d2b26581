"""Hive's counts of rows and files in the properties of tables and partitions, with a write. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Parameters, Table
from connector_spi.errors import ConnectorError
from connectors.hive.write.handles import HiveFragment

__all__ = ["CountedWrite", "by_partitions", "with_counts"]

_ACCURATE = "COLUMN_STATS_ACCURATE"
# Hive's size of the rows in memory, and what Spark has counted, would be of other rows.
_UNKNOWN_NOW = ("rawDataSize", "spark.sql.statistics.")


def by_partitions(fragments: Sequence[HiveFragment]) -> dict[tuple[str, ...], list[HiveFragment]]:
    """The files of each partition, by the texts of its key values."""
    found: dict[tuple[str, ...], list[HiveFragment]] = {}
    for fragment in fragments:
        found.setdefault(fragment.partition, []).append(fragment)
    return found


def with_counts(parameters: Parameters, fragments: Sequence[HiveFragment], *, replaced: bool) -> Parameters:
    """Properties whose counts are estimates of the rows with those of fragments, and no longer said to be exact.

    Args:
        parameters: Of a table or partition.
        fragments: What was written to it.
        replaced: They are all that it has now.
    """
    changes = {
        "numFiles": len(fragments),
        "numRows": sum(-fragment.rows if fragment.deletes else fragment.rows for fragment in fragments),
        "totalSize": sum(fragment.size for fragment in fragments),
    }
    kept = {key: value for key, value in parameters.items() if key != _ACCURATE and not key.startswith(_UNKNOWN_NOW)}
    for key, count in changes.items():
        before = "0" if replaced else kept.get(key, "")
        if (fragments or replaced) and before.isdecimal():
            kept[key] = str(max(0, int(before) + count))
    if any(fragment.original for fragment in fragments):
        # No one has counted the rows of files that others have made.
        kept.pop("numRows", None)
    return Parameters.of(kept)


@dataclass(frozen=True, slots=True)
class CountedWrite:
    """A block of a write, before which its counts are set; where it fails they are as before, but never exact.

    Hive answers ``count(*)`` from counts that are said to be exact, also of a transactional table that it has made and
    not written to. Only its own writers may say so again (``ObjectStore.verifyStatsChangeCtx``).

    Attributes:
        metastore: The metastore.
        table: The table as it was.
        counted: Its parameters with the write.
        partitions: Those of the partitions that were there, before and with the write, by their names.
    """

    metastore: Metastore
    table: Table
    counted: Parameters
    partitions: Mapping[str, tuple[Parameters, Parameters]]

    def __enter__(self) -> None:
        self._set(self.table, self.counted, {name: now for name, (was, now) in self.partitions.items() if now != was})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            return
        with suppress(ConnectorError):  # they are estimates, and the first error is the one to tell
            entry = self.metastore.reads.get_table(self.table.database, self.table.name)
            if entry is not None and entry.parameters == self.counted:
                names = [name for name, (was, now) in self.partitions.items() if now != was]
                self._set(entry, _inexact(self.table.parameters), {n: _inexact(self.partitions[n][0]) for n in names})

    def _set(self, table: Table, parameters: Parameters, partitions: Mapping[str, Parameters]) -> None:
        writes = self.metastore.writes
        if partitions:
            writes.set_partition_parameters(table.database, table.name, partitions)
        if parameters != table.parameters:
            writes.alter_table(table.database, table.name, replace(table, parameters=parameters))


def _inexact(parameters: Parameters) -> Parameters:
    return Parameters.of({key: value for key, value in parameters.items() if key != _ACCURATE})
