"""Real Hive answers ``count(*)``, ``min`` and ``max`` after Lakeport has written, also where it has statistics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.optional.writing import MergeCommand
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert, insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.write import handles, loading
from tests.connectors.hive.reading import make_session
from tests.connectors.hive.table_writer import write_file
from tests.integration.hive.engine import HiveEngine
from tests.integration.test_transactions import make_hive

_KINDS = {
    "full": ("orc", "'transactional'='true'"),
    "insert_only": ("parquet", "'transactional'='true','transactional_properties'='insert_only'"),
    "plain": ("orc", "'transactional'='false'"),
}


@pytest.fixture(scope="module")
def hive(hive_engine: HiveEngine) -> Iterator[HiveConnector]:
    connector = make_hive(hive_engine.uri)
    yield connector
    connector.shutdown()


@pytest.fixture(scope="module")
def schema(hive_engine: HiveEngine) -> str:
    name = f"c{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {name}")
    return name


def rows_of(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64()), "v": [f"v{n}" for n in numbers]})


def create(engine: HiveEngine, schema: str, kind: str, table: str) -> SchemaTableName:
    file_format, properties = _KINDS[kind]
    engine.sql(
        f"CREATE TABLE {schema}.{table} (id bigint, v string) STORED AS {file_format} TBLPROPERTIES ({properties})"
    )
    return SchemaTableName(schema, table)


def count(engine: HiveEngine, name: SchemaTableName) -> int:
    [[found]] = engine.sql(f"SELECT count(*) FROM {name}")
    return int(found or -1)


@pytest.mark.parametrize("kind", list(_KINDS))
def test_counts(hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str) -> None:
    name = create(hive_engine, schema, kind, f"counted_{kind}")
    assert count(hive_engine, name) == 0
    insert_rows(hive, name, [rows_of(1, 2), rows_of(3)])
    assert count(hive_engine, name) == 3
    hive_engine.sql(f"INSERT INTO {name} VALUES (4, 'v4'), (5, 'v5')")
    assert count(hive_engine, name) == 5
    hive_engine.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS")
    assert count(hive_engine, name) == 5
    insert_rows(hive, name, [rows_of(6)])
    assert count(hive_engine, name) == 6
    if kind == "full":
        with ReferenceQuery(hive) as query:
            read = query.table(name).project_names(["id", "$row_id"]).read().slice(0, 2)
            merge = ReferenceMerge(query, name, MergeCommand.DELETE)
            merge.finish([merge.write(read)])
        assert count(hive_engine, name) == 4


def bounds(engine: HiveEngine, name: SchemaTableName) -> tuple[str | None, ...]:
    """What Hive answers from statistics where they are said to be exact (``StatsOptimizer``)."""
    [found] = engine.sql(f"SELECT min(id), max(id), count(id), count(*) FROM {name}")
    return tuple(found)


@pytest.mark.parametrize("kind", list(_KINDS))
def test_bounds(hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str) -> None:
    name = create(hive_engine, schema, kind, f"bounded_{kind}")
    insert_rows(hive, name, [rows_of(5, 7), rows_of(6)])
    assert bounds(hive_engine, name) == ("5", "7", "3", "3")
    insert_rows(hive, name, [rows_of(3)])
    assert bounds(hive_engine, name) == ("3", "7", "4", "4")
    hive_engine.sql(f"INSERT INTO {name} VALUES (1, 'v1')")
    assert bounds(hive_engine, name) == ("1", "7", "5", "5")
    insert_rows(hive, name, [rows_of(9)])
    assert bounds(hive_engine, name) == ("1", "9", "6", "6")
    overwrite_rows(hive, name, [rows_of(4, 4)])
    assert bounds(hive_engine, name) == ("4", "4", "2", "2")


@pytest.mark.parametrize("kind", list(_KINDS))
def test_statistics_are_those_that_hive_computes(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str
) -> None:
    name = create(hive_engine, schema, kind, f"analyzed_{kind}")
    insert_rows(hive, name, [rows_of(*range(10, 400)), rows_of(7, 7, 7)])
    reads = hive.metastore.reads
    ours = reads.get_table_statistics(name.schema, name.table, ["id", "v"])
    hive_engine.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR COLUMNS")
    hives = reads.get_table_statistics(name.schema, name.table, ["id", "v"])
    # Both estimate how many values there are; Hive's error is of some 3 % as well.
    exact = [replace(one, distinct_count=None) for one in ours]
    assert exact == [replace(one, distinct_count=None) for one in hives]
    assert [one.distinct_count for one in ours] == [391, 391]
    assert [one.distinct_count for one in hives] == pytest.approx([391, 391], rel=0.1)


@pytest.mark.parametrize("kind", list(_KINDS))
def test_batches_of_a_stream(hive_engine: HiveEngine, hive: HiveConnector, schema: str, kind: str) -> None:
    name = create(hive_engine, schema, kind, f"streamed_{kind}")
    for number, rows in ((0, rows_of(1, 2)), (0, rows_of(1, 2)), (1, rows_of(3))):
        with ReferenceQuery(hive) as query:
            insert = ReferenceInsert(query, name)
            insert.finish_epoch([insert.write(rows)], StreamEpoch("q-1", number))
    assert hive_engine.sql(f"SELECT count(*), sum(id) FROM {name}") == [("3", "6")]
    hive_engine.sql(f"INSERT INTO {name} VALUES (4, 'v4')")
    assert hive_engine.sql(f"SELECT count(*), sum(id) FROM {name}") == [("4", "10")]


def test_more_files_than_a_directory_has_buckets(
    hive_engine: HiveEngine, hive: HiveConnector, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4,096 in truth: Hive takes long to read so many files."""
    for module in (handles, loading):
        monkeypatch.setattr(module, "BUCKETS", 2)
    name = create(hive_engine, schema, "full", "loaded")
    for number in range(5):
        write_file(tmp_path / f"part-{number}.orc", rows_of(number, number + 10), "orc")
    [load] = [one for one in hive.procedures if one.name == "load_data"]
    defaults = {one.name: one.default for one in load.arguments}
    given = {**defaults, "schema_name": name.schema, "table_name": name.table, "path": str(tmp_path)}
    load.function(make_session(hive), given)
    assert hive_engine.sql(f"SELECT count(*), sum(id) FROM {name}") == [("10", "70")]
    assert len(hive_engine.sql(f"SELECT DISTINCT row__id FROM {name}")) == 10
    hive_engine.sql(f"DELETE FROM {name} WHERE id < 10")
    hive_engine.compact(str(name), "major")
    assert hive_engine.sql(f"SELECT count(*), sum(id) FROM {name}") == [("5", "60")]
