"""Writes that faults interrupt: what each does to a table, and what the table holds before and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ConnectorError
from connector_spi.names import SchemaTableName
from connector_spi.optional.creating import SupportsTableReplacement
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.schema import ColumnMetadata
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import create_table_as, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.integration.hive.engine import HiveEngine

__all__ = [
    "FULL",
    "PLAIN",
    "REPLACE",
    "WRITES",
    "InterruptedWrite",
    "Rows",
    "begin_replace",
    "create",
    "create_as",
    "finish_replace",
    "hive_rows",
    "new_rows",
    "our_rows",
]

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


def _added(number: int) -> Rows:
    """Of these, those of partitions that are there."""
    return {one: row for one, row in _new(number).items() if row[1] in ("p0", "p1")}


def _insert(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    rows = _table(_new(number))
    insert_rows(hive, name, [rows.slice(0, 1), rows.slice(1)])


def _delete(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    _change(hive, name, MergeCommand.DELETE, {})


def _merge(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    _change(hive, name, MergeCommand.MERGE, _added(number))


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


def begin_replace(hive: HiveConnector, name: SchemaTableName, number: int, *, full: bool) -> SchemaTableName:
    """Makes a table of other columns, with rows, that is to take a table's place; as the engine does."""
    definition = _definition(name, pa.schema([*_SCHEMA, (f"c{number}", pa.int64())]), full=full)
    with ReferenceQuery(hive) as query:
        assert isinstance(query.metadata, SupportsTableReplacement)
        made = query.metadata.begin_replace_table(query.session, definition)
    assert made is not None, "of another definition"
    try:
        # Partition keys come last.
        rows = _table(_new(number))
        insert_rows(hive, made, [rows.add_column(2, f"c{number}", pa.nulls(len(rows), pa.int64()))])
    except BaseException:
        _drop(hive, made)
        raise
    return made


def finish_replace(hive: HiveConnector, name: SchemaTableName, made: SchemaTableName) -> None:
    """Puts that table in the other one's place, or drops it."""
    try:
        with ReferenceQuery(hive) as query:
            assert isinstance(query.metadata, SupportsTableReplacement)
            query.metadata.finish_replace_table(query.session, name, made)
    except BaseException:
        _drop(hive, made)
        raise


def _replace(hive: HiveConnector, name: SchemaTableName, number: int) -> None:
    finish_replace(hive, name, begin_replace(hive, name, number, full=False))


def _drop(hive: HiveConnector, name: SchemaTableName) -> None:
    with suppress(ConnectorError), ReferenceQuery(hive) as query:
        assert isinstance(query.metadata, SupportsTableDefinition)
        query.metadata.drop_table(query.session, name, purge=True)


def _definition(name: SchemaTableName, schema: pa.Schema, *, full: bool, keys: bool = True) -> TableDefinition:
    """A table of ORC, full ACID or plain, and partitioned by ``ds`` or not."""
    columns = tuple(ColumnMetadata(field.name, field.type) for field in schema)
    properties = (("transactional", "true"),) if full else ()
    return TableDefinition(name, columns, ("ds",) if keys else (), provider="orc", properties=properties)


def create_as(hive: HiveConnector, name: SchemaTableName, *, full: bool, keys: bool) -> Rows:
    """Makes a table of ten rows with them; gives the rows."""
    rows = {number: ("new", f"p{number % 2}") for number in range(10)}
    table = _table(rows)
    definition = _definition(name, _SCHEMA, full=full, keys=keys)
    create_table_as(hive, definition, [table.slice(0, 5), table.slice(5)])
    return rows


def new_rows(number: int) -> Rows:
    """The rows of a table that was replaced."""
    return _new(number)


REPLACE = InterruptedWrite(PLAIN, _replace, lambda rows, number: _new(number))
"""Gives a partitioned table another definition."""
WRITES: Mapping[str, InterruptedWrite] = {
    "insert": InterruptedWrite(FULL, _insert, lambda rows, number: {**rows, **_new(number)}),
    "delete": InterruptedWrite(FULL, _delete, lambda rows, number: _left(rows)),
    "merge": InterruptedWrite(FULL, _merge, lambda rows, number: {**_left(rows), **_added(number)}),
    "overwrite": InterruptedWrite(
        PLAIN,
        _overwrite,
        lambda rows, number: {**{one: row for one, row in rows.items() if row[1] != "p0"}, **_replacing(number)},
    ),
}
"""Statements on transactional tables, and one that replaces partitions of a plain table."""
