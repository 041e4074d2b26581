"""Real Hive on bucketed tables that Lakeport writes: it finds each row in its bucket, joins by them, and goes on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.schema import ColumnMetadata, TableBuckets
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session, scan_table
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.trino import Trino
from tests.integration.test_transactions import make_hive

_COLUMNS = (
    "id bigint, i int, s string, d double, f float, dt date, m decimal(20,4), c char(6), v varchar(9), b boolean, "
    "t tinyint"
)  # fmt: skip
_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("i", pa.int32()),
        ("s", pa.string()),
        ("d", pa.float64()),
        ("f", pa.float32()),
        ("dt", pa.date32()),
        ("m", pa.decimal128(20, 4)),
        ("c", pa.string()),
        ("v", pa.string()),
        ("b", pa.bool_()),
        ("t", pa.int8()),
    ]
)
_KINDS = {
    "full": ("orc", "'transactional'='true'"),
    "insert_only": ("parquet", "'transactional'='true','transactional_properties'='insert_only'"),
    "plain": ("orc", "'transactional'='false'"),
}
_FUNCTIONS = {1: "hash", 2: "murmur_hash"}
_FILE_BUCKET = "cast(regexp_extract(input__file__name, '(bucket_|/)0*([0-9]+)(_0)?(_copy_[0-9]+)?$', 2) as int)"


@pytest.fixture(scope="module")
def hive(hive_engine: HiveEngine) -> Iterator[HiveConnector]:
    connector = make_hive(hive_engine.uri)
    yield connector
    connector.shutdown()


@pytest.fixture(scope="module")
def schema(hive_engine: HiveEngine) -> str:
    name = f"b{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {name}")
    return name


def rows_of(count: int, start: int = 0) -> pa.Table:
    made = random.Random(start)

    def row(number: int) -> dict[str, object]:
        values: dict[str, object] = {
            "i": made.randint(-(2**31), 2**31 - 1),
            "s": "".join(made.choice("abcé日") for _ in range(made.randint(1, 9))),
            "d": made.choice([made.random(), -0.0, 0.0, 1e300]),
            "f": made.random(),
            "dt": date(1970, 1, 1) + timedelta(made.randint(-50000, 50000)),
            "m": Decimal(made.randint(-(10**12), 10**12)).scaleb(-4),
            "c": made.choice(["a", "bcd", "éf"]),
            "v": made.choice(["a", "bcd", "éf "]),
            "b": made.random() < 0.5,
            "t": made.randint(-128, 127),
        }
        return {"id": number, **{name: None if made.random() < 0.05 else value for name, value in values.items()}}

    return pa.Table.from_pylist([row(number) for number in range(start, start + count)], _SCHEMA)


def create(engine: HiveEngine, schema: str, name: str, kind: str, buckets: str, version: int = 2) -> SchemaTableName:
    file_format, properties = _KINDS[kind]
    engine.sql(
        f"CREATE TABLE {schema}.{name} ({_COLUMNS}) CLUSTERED {buckets} BUCKETS STORED AS {file_format} "
        f"TBLPROPERTIES ({properties}, 'bucketing_version'='{version}')"
    )
    return SchemaTableName(schema, name)


def define(hive: HiveConnector, name: SchemaTableName, kind: str) -> None:
    """Makes a table ``CLUSTERED BY (id) SORTED BY (s, id) INTO 4 BUCKETS``; rows of a full ACID one have no order."""
    file_format, text = _KINDS[kind]
    words = [part.strip("'") for pair in text.split(",") for part in pair.split("=")]
    properties = (*zip(words[::2], words[1::2], strict=True), ("bucketing_version", "2"))
    columns = tuple(
        ColumnMetadata(field.name, field.type, declared_type={"c": "char(6)", "v": "varchar(9)"}.get(field.name))
        for field in _SCHEMA
    )
    buckets = TableBuckets(("id",), 4, () if kind == "full" else ("s", "id"))
    definition = TableDefinition(name, columns, provider=file_format, properties=properties, buckets=buckets)
    with ReferenceQuery(hive) as query:
        assert isinstance(query.metadata, SupportsTableDefinition)
        query.metadata.create_table(query.session, definition)


def counted(
    engine: HiveEngine, name: SchemaTableName, columns: str, buckets: int, version: int = 2
) -> tuple[int, int, int]:
    """How many rows there are, the sum of their ids, and how many are in a file of another bucket than Hive says."""
    bucket = f"pmod({_FUNCTIONS[version]}({columns}) & 2147483647, {buckets})"
    found = engine.sql(f"SELECT count(*), sum(id), sum(if({bucket} = {_FILE_BUCKET}, 0, 1)) FROM {name}")
    count, total, misplaced = (int(cell or 0) for cell in found[0])
    return count, total, misplaced


def validated(hive: HiveConnector, name: SchemaTableName) -> list[int]:
    """The ids as Lakeport reads them, which checks the bucket of each row."""
    session = make_session(hive, validate_bucketing=True)
    return sorted(scan_table(hive, name.schema, name.table, ["id"], session=session).rows.column("id").to_pylist())


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("kind", list(_KINDS))
def test_hives_hash_gives_the_same_buckets(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str, version: int
) -> None:
    for columns in (*_SCHEMA.names, "id, s") if (kind, version) == ("plain", 2) else ("c, s",):
        table = f"{kind}_{version}_{columns.replace(', ', '_')}"
        name = create(hive_engine, schema, table, kind, f"BY ({columns}) INTO 5", version)
        insert_rows(hive, name, [rows_of(100), rows_of(100, 100)])
        assert counted(hive_engine, name, columns, 5, version) == (200, 19900, 0), columns


@pytest.mark.parametrize("kind", ["plain", "insert_only"])
def test_hive_joins_bucket_by_bucket_in_order(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str
) -> None:
    names = [create(hive_engine, schema, f"j_{kind}_{n}", kind, "BY (id) SORTED BY (id) INTO 4") for n in "lr"]
    for name, size in zip(names, (200, 100), strict=True):
        insert_rows(hive, name, [rows_of(size)])
        insert_rows(hive, name, [rows_of(50, size - 50)])
    join = f"SELECT count(*), sum(l.id) FROM {names[0]} l JOIN {names[1]} r ON l.id = r.id"
    expected = hive_engine.sql(join)
    for setting in ("auto.convert.join.noconditionaltask.size=1", "auto.convert.sortmerge.join=true"):
        hive_engine.sql(f"SET hive.{setting}")
    plan = "\n".join(str(row[0]) for row in hive_engine.sql(f"EXPLAIN {join}"))
    assert kind == "insert_only" or "Dummy Store" in plan, "a sort-merge join of buckets, with no shuffle"
    assert hive_engine.sql(join) == expected == [("150", str(sum(range(100)) + sum(range(50, 100))))]


def test_hive_goes_on_where_we_have_written(hive_engine: HiveEngine, hive: HiveConnector, schema: str) -> None:
    name = create(hive_engine, schema, "changed", "full", "BY (id) INTO 4")
    insert_rows(hive, name, [rows_of(60)])
    model = set(range(60))
    hive_engine.sql(f"UPDATE {name} SET i = 1 WHERE id < 10")
    hive_engine.sql(f"DELETE FROM {name} WHERE id BETWEEN 10 AND 20")
    model -= set(range(10, 21))
    for start, kind in ((100, "minor"), (200, "major")):
        insert_rows(hive, name, [rows_of(10, start)])
        model |= set(range(start, start + 10))
        hive_engine.compact(str(name), kind)
        assert counted(hive_engine, name, "id", 4) == (len(model), sum(model), 0)
        assert validated(hive, name) == sorted(model)


@pytest.mark.parametrize("kind", list(_KINDS))
def test_all_go_on_in_a_table_that_we_have_made(
    hive_engine: HiveEngine, hive: HiveConnector, trino: Trino | None, schema: str, kind: str
) -> None:
    name = SchemaTableName(schema, f"made_{kind}")
    define(hive, name, kind)
    shown = " ".join(str(row[0]).strip() for row in hive_engine.sql(f"SHOW CREATE TABLE {name}"))
    order = "" if kind == "full" else "SORTED BY ( s ASC, id ASC) "
    assert f"CLUSTERED BY ( id) {order}INTO 4 BUCKETS" in shown
    insert_rows(hive, name, [rows_of(60)])
    if kind == "plain":
        entry = hive.metastore.reads.get_table(schema, name.table)
        assert entry is not None
        paths = sorted(Path(str(entry.storage.location).removeprefix("file:")).glob("0*_0"))
        assert len(paths) == 4
        for path in paths:
            rows = orc.read_table(path).select(["s", "id"]).to_pylist()
            keys = [(row["s"] is not None, (row["s"] or "").encode(), row["id"]) for row in rows]
            assert keys == sorted(keys)
            assert len(keys) > 5
    more = f"SELECT id + 100, {', '.join(_SCHEMA.names[1:])} FROM"
    hive_engine.sql(f"INSERT INTO {name} {more} {name}")
    expected = [*range(60), *range(100, 160)]
    if trino is not None and kind == "plain":
        trino.sql(f"INSERT INTO hive.{name} {more.replace('100', '200')} hive.{name} WHERE id < 60")
        expected += range(200, 260)
    assert counted(hive_engine, name, "id", 4) == (len(expected), sum(expected), 0)
    assert validated(hive, name) == expected
    if trino is not None:
        found = trino.sql(f"SELECT id, id FROM hive.{name} WHERE id IN (7, 107)")
        assert sorted(found) == [[7, 7], [107, 107]]


def test_hive_reads_the_statements_of_a_block(hive_engine: HiveEngine, hive: HiveConnector, schema: str) -> None:
    """Several of one transaction in one table: deltas of one write id with numbers of their own."""
    name = create(hive_engine, schema, "block", "full", "BY (id) INTO 2")
    with ReferenceQuery(hive) as query:
        for start in (0, 10, 20):
            insert = ReferenceInsert(query, name)
            insert.finish([insert.write(rows_of(10, start))])
        assert hive_engine.sql(f"SELECT count(*) FROM {name}") == [("0",)]
    assert hive_engine.sql(f"SELECT count(*), sum(id) FROM {name}") == [("30", "435")]
    ids = hive_engine.sql(f"SELECT DISTINCT row__id FROM {name}")
    assert len(ids) == 30
    hive_engine.sql(f"DELETE FROM {name} WHERE id % 2 = 0")
    for kind in ("minor", "major"):
        hive_engine.compact(str(name), kind)
        assert counted(hive_engine, name, "id", 2) == (15, 225, 0)
        assert validated(hive, name) == list(range(1, 30, 2))
