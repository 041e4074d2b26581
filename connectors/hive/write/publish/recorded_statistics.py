"""Column statistics of what an insert writes, kept in the metastore with its rows. Driver side."""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, Parameters, Table
from catalog.metastore.partitions.names import make_partition_name
from connector_spi.errors import ConnectorError, FileMissingError
from connectors.hive.definitions.table_formats import table_location
from connectors.hive.statistics.accuracy import is_said_current
from connectors.hive.write.handles import HiveFragment, HiveInsertHandle
from connectors.hive.write.statistics.merged_statistics import added_to, of_rows
from connectors.hive.write.statistics.stale_statistics import drop_stale_statistics
from connectors.hive.write.statistics.written_columns import MOST_PARTITIONS
from connectors.toolkit.storage.filesystem import FileSystem, is_hidden

__all__ = ["OF_TABLE", "RecordedStatistics", "WrittenTo"]

_LOG = logging.getLogger(__name__)
_ROWS = "numRows"
OF_TABLE = ""
"""Stands for the table itself among names of partitions."""


@dataclass(frozen=True, slots=True)
class WrittenTo:
    """A table or a partition that is there and is written to.

    Attributes:
        location: Its directory.
        before: Its properties without the write.
        counted: Its properties with the write.
        replaced: All its rows are replaced.
    """

    location: str | None
    before: Parameters
    counted: Parameters
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class _Before:
    """What was known before a write.

    Attributes:
        rows: How many there were.
        columns: Statistics that were said to be those of the rows, by the names of their columns.
        counted: The count of rows with the write, as the metastore has it.
    """

    rows: int
    columns: Mapping[str, ColumnStatistics]
    counted: str | None


@dataclass(slots=True)
class RecordedStatistics:
    """The column statistics of a table, or of its partitions, with one insert.

    Old ones are dropped before the rows are visible, and set with those of the rows once they are: who is killed in
    between leaves none. They are set where no rows were before, or where those of the rows before were said to be
    exact: Hive answers ``min`` and ``max`` by statistics that are (``StatsOptimizer``). No write fails by them.

    Attributes:
        metastore: The metastore.
        files: Storage.
        handle: The insert.
    """

    metastore: Metastore
    files: FileSystem
    handle: HiveInsertHandle
    _table: Table | None = None
    _before: dict[str, _Before | None] = field(default_factory=dict)
    """By name; ``None`` where nothing is known of the rows."""

    def drop(self, table: Table, written: Mapping[str, WrittenTo]) -> None:
        """Drops those of rows that are no longer all. Call it when the counts are set, before the rows are visible.

        Args:
            table: The table, as it was before the counts were set.
            written: The partitions that are there and are written to, by their names; an empty one for the table.
        """
        self._table = table
        partitions = [name for name in written if name != OF_TABLE]
        try:
            if self.handle.statistics and len(partitions) <= MOST_PARTITIONS:
                found = self._remember(table, {name: one for name, one in written.items() if name not in self._before})
                if OF_TABLE in written and not found:
                    return
                partitions = [name for name in partitions if name in found]
        except ConnectorError as error:
            self._before.update(dict.fromkeys(written))
            _LOG.info("the column statistics of %s are dropped, since they cannot be read: %s", table.name, error)
        drop_stale_statistics(self.metastore, table, partitions)

    def begin_new(self, table: Table, written: Mapping[str, Parameters]) -> None:
        """The insert itself has made the table.

        Args:
            table: The table.
            written: Properties of its partitions, by their names; of the table itself where it has none.
        """
        self._table = table
        self.add(written)

    def add(self, partitions: Mapping[str, Parameters]) -> None:
        """Partitions were added for the rows.

        Args:
            partitions: Their properties, by their names.
        """
        for name, parameters in partitions.items():
            self._before.setdefault(name, _Before(0, {}, parameters.get(_ROWS)))

    def record(self, fragments: Sequence[HiveFragment]) -> None:
        """Sets those of all rows, now that the new ones are visible.

        Args:
            fragments: What was written.
        """
        table = self._table
        if table is None or not self.handle.statistics:
            return
        by_name: dict[str, list[HiveFragment]] = {}
        keys = [key.name for key in self.handle.partition_keys]
        for fragment in fragments:
            by_name.setdefault(make_partition_name(keys, fragment.partition), []).append(fragment)
        if len(by_name) > MOST_PARTITIONS:
            _LOG.info(
                "the column statistics of %d partitions of %s are not set by one write, but of %d at most; "
                "ANALYZE TABLE computes them",
                len(by_name),
                self.handle.name,
                MOST_PARTITIONS,
            )
            return
        found = {name: self._found(table, name, some) for name, some in by_name.items()}
        known = {name: columns for name, columns in found.items() if columns}
        if not known:
            return
        try:
            if OF_TABLE in known:
                self.metastore.writes.set_table_statistics(table.database, table.name, known[OF_TABLE])
            else:
                self.metastore.writes.set_partition_statistics(table.database, table.name, known)
            self._drop_where_others_wrote(table, known)
        except ConnectorError as error:
            _LOG.warning(
                "the column statistics of %s with the rows of a write could not be set; ANALYZE TABLE computes them: "
                "%s",
                self.handle.name,
                error.message,
            )

    def _remember(self, table: Table, written: Mapping[str, WrittenTo]) -> set[str]:
        """Keeps what is known of the rows before; gives the names of what has statistics."""
        reads, columns = self.metastore.reads, [column.name for column in table.storage.columns]
        found: dict[str, list[ColumnStatistics]] = {}
        if OF_TABLE in written:
            found[OF_TABLE] = reads.get_table_statistics(table.database, table.name, columns)
        elif written:
            found.update(reads.get_partition_statistics(table.database, table.name, list(written), columns))
        for name, one in written.items():
            self._before[name] = self._known_before(table, one, found.get(name, ()))
        return {name for name, some in found.items() if some}

    def _known_before(self, table: Table, one: WrittenTo, found: Sequence[ColumnStatistics]) -> _Before | None:
        rows, counted = one.before.get(_ROWS, ""), one.counted.get(_ROWS)
        if one.replaced:
            return _Before(0, {}, counted)
        if found:
            exact = {some.column: some for some in found if is_said_current(one.before, some.column)}
            return _Before(int(rows), exact, counted) if rows.isdecimal() and exact else None
        # Others add files and leave a count of 0 as it is.
        if rows in ("", "0") and self._is_empty(one.location or table_location(table)):
            return _Before(0, {}, counted)
        return None

    def _is_empty(self, location: str) -> bool:
        try:
            return all(is_hidden(one.name) for one in self.files.list(location))
        except FileMissingError:
            return True

    def _found(self, table: Table, name: str, fragments: Sequence[HiveFragment]) -> list[ColumnStatistics]:
        """The statistics of all rows of the table, or of a partition; of what is not known, none."""
        before = self._before.get(name)
        if before is None or any(one.deletes or (one.rows and not one.statistics) for one in fragments):
            return []
        types = {column.name.lower(): column.type for column in table.storage.columns}
        kinds = {column.name: column.type for column in self.handle.data_columns}
        columns = []
        for position, column in enumerate(self.handle.statistics):
            parts = [one.statistics[position] for one in fragments if one.rows]
            hive = types.get(column.lower())
            if not parts or hive is None:
                continue
            new = of_rows(parts, hive, kinds[column], sum(one.rows for one in fragments))
            old = before.columns.get(column.lower())
            if not before.rows:
                columns.append(new)
            elif old is not None and old.type == hive:
                columns.append(added_to(old, before.rows, new, sum(one.rows for one in fragments)))
        return columns

    def _drop_where_others_wrote(self, table: Table, known: Container[str]) -> None:
        """Another writer that has set its counts since ours may have seen no statistics to drop."""
        expected = {name: one.counted for name, one in self._before.items() if one is not None and name in known}
        if OF_TABLE in expected:
            entry = self.metastore.reads.get_table(table.database, table.name)
            if entry is not None and entry.parameters.get(_ROWS) != expected[OF_TABLE]:
                drop_stale_statistics(self.metastore, entry, [])
        elif expected:
            names = list(expected)
            entries = self.metastore.reads.get_partitions_by_names(table.database, table.name, names)
            keys = [key.name for key in table.partition_keys]
            now = {make_partition_name(keys, one.values): one.parameters.get(_ROWS) for one in entries}
            changed = [name for name in names if now.get(name) != expected[name]]
            if changed:
                drop_stale_statistics(self.metastore, table, changed)
