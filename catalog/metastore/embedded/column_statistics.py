"""Rows of column statistics. All within the caller's transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.metastore.embedded.rows import NAMES_AT_ONCE, marks, need_table, put_parameters
from catalog.metastore.model import ColumnStatistics, Parameters
from catalog.metastore.partitions.names import in_batches
from connector_spi.serializable import from_json, to_json

__all__ = ["find_statistics", "put_statistics"]

_ACCURATE = "COLUMN_STATS_ACCURATE"


def find_statistics(
    connection: sqlite3.Connection, database: str, table: str, partitions: Sequence[str], columns: Sequence[str]
) -> dict[str, list[ColumnStatistics]]:
    """Statistics by partition, in the order of ``columns``; "" stands for the table itself."""
    need_table(connection, database, table)
    wanted = {column.lower(): position for position, column in enumerate(columns)}
    found: dict[str, list[ColumnStatistics]] = {}
    for batch in in_batches(dict.fromkeys(partitions), NAMES_AT_ONCE):
        rows = connection.execute(
            "SELECT partition, column_name, value FROM statistics "
            f"WHERE database = ? AND table_name = ? AND partition IN ({marks(batch)})",
            (database.lower(), table.lower(), *batch),
        )
        for partition, column, value in rows:
            if column in wanted:
                found.setdefault(partition, []).append(from_json(value, ColumnStatistics))
    for listed in found.values():
        listed.sort(key=lambda one: wanted[one.column])
    return {name: found[name] for name in partitions if name in found}


def put_statistics(
    connection: sqlite3.Connection, database: str, table: str, statistics: Mapping[str, Sequence[ColumnStatistics]]
) -> None:
    """Writes statistics by partition; "" stands for the table itself.

    As a Hive metastore does (``ObjectStore.updateTableColumnStatistics``), it says of these columns that their
    statistics are those of the present rows.
    """
    schema, name = database.lower(), table.lower()
    rows = [
        (schema, name, partition, one.column, to_json(one))
        for partition, columns in statistics.items()
        for one in (replace(column, column=column.column.lower()) for column in columns)
    ]
    connection.executemany("INSERT OR REPLACE INTO statistics VALUES (?, ?, ?, ?, ?)", rows)
    said = {partition: [one.column.lower() for one in columns] for partition, columns in statistics.items()}
    of_table = said.pop("", None)
    if of_table:
        entry = need_table(connection, schema, name)
        value = to_json(replace(entry, parameters=_said_accurate(entry.parameters, of_table)))
        connection.execute("UPDATE tables SET value = ? WHERE database = ? AND name = ?", (value, schema, name))
    before = _parameters(connection, schema, name, said)
    put_parameters(connection, schema, name, {one: _said_accurate(before[one], said[one]) for one in before})


def _parameters(
    connection: sqlite3.Connection, database: str, table: str, partitions: Iterable[str]
) -> dict[str, Parameters]:
    found: dict[str, Parameters] = {}
    for batch in in_batches(partitions, NAMES_AT_ONCE):
        rows = connection.execute(
            "SELECT name, parameters FROM partitions "
            f"WHERE database = ? AND table_name = ? AND name IN ({marks(batch)})",
            (database, table, *batch),
        )
        found.update((name, Parameters.of(json.loads(text))) for name, text in rows)
    return found


def _said_accurate(parameters: Parameters, columns: Iterable[str]) -> Parameters:
    """The properties with ``StatsSetupConst.setColumnStatsState``."""
    try:
        said = json.loads(parameters.get(_ACCURATE, "{}"))
    except ValueError:
        said = {}
    said = said if isinstance(said, dict) else {}
    known = said.get("COLUMN_STATS")
    all_columns = {**(known if isinstance(known, dict) else {}), **dict.fromkeys(columns, "true")}
    text = json.dumps({**said, "COLUMN_STATS": dict(sorted(all_columns.items()))}, separators=(",", ":"))
    return parameters.with_entries({_ACCURATE: text})
