"""Writes that faults interrupt: what each does to a table, and what the table holds before and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.integration.hive.engine import HiveEngine

__all__ = ["FULL", "PLAIN", "WRITES", "InterruptedWrite", "Rows", "create", "hive_rows", "our_rows"]

Rows = Mapping[int, tuple[str, str]]
"""Text and partition by ``id``."""
FULL = "'transactional'='true'"
PLAIN = "'transactional'='false'"
_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])


@dataclass(frozen=True, slots=True)
class InterruptedWrite:
    """A statement.

    Attributes:
        properties: Of the tables that it writes to.
        run: Runs it; the number makes its rows its own.
        after: The rows that it leaves, by those before and the number.
    """

    properties: str
    run: Callable[[HiveConnector, SchemaTableName, int], None]
    after: Callable[[Rows, int], Rows]


def create(
    engine: HiveEngine, hive: HiveConnector, name: SchemaTableName, properties: str, location: str | None = None
) -> None:
    """Has Hive make a partitioned table, and adds ten rows in two partitions."""
    where = "" if location is None else f"LOCATION '{location}' "
    engine.sql(
        f"CREATE TABLE {name} (id bigint, v string) PARTITIONED BY (ds string) STORED AS ORC {where}"
        f"TBLPROPERTIES ({properties})"
    )
    insert_rows(hive, name, [_table({number: ("old", f"p{number % 2}") for number in range(10)})])


def our_rows(hive: HiveConnector, name: SchemaTableName) -> Rows:
    """What Lakeport reads; no row may come twice."""
    with ReferenceQuery(hive) as query:
        found = query.table(name).project_names(["id", "v", "ds"]).read().to_pylist()
    rows = {row["id"]: (row["v"], row["ds"]) for row in found}
    assert len(rows) == len(found), f"rows that come twice: {found}"
    return rows


def hive_rows(engine: HiveEngine, name: SchemaTableName) -> Rows:
    """What Hive reads."""
    found = engine.sql(f"SELECT id, v, ds FROM {name}")
    rows = {int(number or 0): (str(v), str(ds)) for number, v, ds in found}
    assert len(rows) == len(found), f"rows that come twice: {found}"
    return rows


def _table(rows: Rows) -> pa.Table:
    return pa.Table.from_pylist([{"id": one, "v": v, "ds": ds} for one, (v, ds) in rows.items()], _SCHEMA)


def _new(number: int) -> Rows:
    """Rows of a partition that is there, and of a new one."""
    first = 100 + 10 * number
    return {first: (f"n{number}", "p0"), first + 1: (f"n{number}", "p1"), first + 2: (f"n{number}", f"q{number}")}


def _insert(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    rows = _table(_new(number))
    insert_rows(hive, name, [rows.slice(0, 1), rows.slice(1)])


def _delete(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    _change(hive, name, MergeCommand.DELETE, {})


def _merge(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    _change(hive, name, MergeCommand.MERGE, _new(number))


def _change(hive: HiveConnector, name: SchemaTableName, command: MergeCommand, new: Rows) -> None:
    """Deletes the lowest row of each of the first two partitions, and adds rows."""
    with ReferenceQuery(hive) as query:
        merge = ReferenceMerge(query, name, command)
        found = query.table(name).project_names(["id", "v", "ds", *merge.row_ids]).read()
        before = {row["id"]: (row["v"], row["ds"]) for row in found.select(["id", "v", "ds"]).to_pylist()}
        chosen = found.filter(pc.is_in(found["id"], pa.array(_lowest(before), pa.int64())))
        merge.finish([merge.write(chosen.slice(0, 1), _table(new)), merge.write(chosen.slice(1))])


def _lowest(rows: Rows) -> list[int]:
    of_partitions = ([one for one, (_, ds) in rows.items() if ds == key] for key in ("p0", "p1"))
    return [min(some) for some in of_partitions if some]


def _left(rows: Rows) -> dict[int, tuple[str, str]]:
    return {one: row for one, row in rows.items() if one not in _lowest(rows)}


def _overwrite(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    overwrite_rows(hive, name, [_table(_replacing(number))], Overwrite(dynamic=True))


def _replacing(number: int) -> Rows:
    return {one: row for one, row in _new(number).items() if row[1] != "p1"}


WRITES: Mapping[str, InterruptedWrite] = {
    "insert": InterruptedWrite(FULL, _insert, lambda rows, number: {**rows, **_new(number)}),
    "delete": InterruptedWrite(FULL, _delete, lambda rows, number: _left(rows)),
    "merge": InterruptedWrite(FULL, _merge, lambda rows, number: {**_left(rows), **_new(number)}),
    "overwrite": InterruptedWrite(
        PLAIN,
        _overwrite,
        lambda rows, number: {**{one: row for one, row in rows.items() if row[1] != "p0"}, **_replacing(number)},
    ),
}
"""Statements on transactional tables, and one that replaces partitions of a plain table."""
