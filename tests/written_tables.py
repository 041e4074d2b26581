"""Tables of a storage that is not local are written with Spark, and read with it and without."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connector_spi.optional.streaming import StreamEpoch
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import ReferenceInsert
from connectors.toolkit.storage.filesystem import FileSystem
from lakeport import Session

__all__ = ["check_acid_writes", "check_buckets_and_batches", "check_leftovers", "check_plain_writes", "make_schema"]


def make_schema(session: Session, catalog: str, place: str) -> None:
    """A schema ``w`` at a place, for the two checks."""
    session.sql(f"CREATE SCHEMA {catalog}.w LOCATION '{place}/w'")


def check_plain_writes(session: Session, catalog: str) -> None:
    """Rows of a plain table of Parquet, ``w.plain``, are added and replaced, in partitions and all."""
    table = f"{catalog}.w.plain"
    session.sql(f"CREATE TABLE {table} (id BIGINT, v STRING, p STRING) USING parquet PARTITIONED BY (p)")
    session.sql(f"INSERT INTO {table} SELECT id, concat('v', id), if(id % 2 = 0, 'a/b', 'c d') FROM range(0, 10, 1, 1)")
    expected = {n: (f"v{n}", "c d" if n % 2 else "a/b") for n in range(10)}
    assert _rows(session, table) == expected
    session.sql(f"INSERT OVERWRITE {table} PARTITION (p = 'c d') VALUES (100, 'new')")
    expected = {n: row for n, row in expected.items() if row[1] == "a/b"} | {100: ("new", "c d")}
    assert _rows(session, table) == expected
    session.sql(f"INSERT OVERWRITE {table} SELECT id + 1000, v, p FROM {table} WHERE id < 4")
    assert _rows(session, table) == {1000: ("v0", "a/b"), 1002: ("v2", "a/b")}


def check_acid_writes(session: Session, catalog: str) -> None:
    """Rows of a full ACID table, ``w.acid``, made by a query, are changed in every way."""
    table = f"{catalog}.w.acid"
    source = "SELECT id, concat('v', id) AS v, CAST(id % 2 AS STRING) AS p FROM range(0, 6, 1, 1)"
    session.sql(
        f"CREATE TABLE {table} USING orc PARTITIONED BY (p) TBLPROPERTIES ('transactional' = 'true') AS {source}"
    )
    session.sql(f"UPDATE {table} SET v = 'u' WHERE id = 1")
    session.sql(f"DELETE FROM {table} WHERE id = 2")
    session.sql(
        f"MERGE INTO {table} t USING (SELECT id FROM range(4, 8)) s ON t.id = s.id "
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, 'm', '2')"
    )
    expected = {0: ("v0", "0"), 1: ("u", "1"), 3: ("v3", "1"), 6: ("m", "2"), 7: ("m", "2")}
    assert _rows(session, table) == expected
    session.sql(f"INSERT OVERWRITE {table} PARTITION (p = '1') VALUES (9, 'o')")
    expected = {n: row for n, row in expected.items() if row[1] != "1"} | {9: ("o", "1")}
    assert _rows(session, table) == expected


def check_buckets_and_batches(session: Session, catalog: str) -> None:
    """Rows of a plain bucketed table, ``w.buckets``, are added by statements, and by batches of a stream, each once."""
    table, connector = f"{catalog}.w.buckets", session.catalogs.get(catalog)
    session.sql(
        f"CREATE TABLE {table} (id BIGINT, v STRING, p STRING) USING orc PARTITIONED BY (p) "
        "CLUSTERED BY (id) SORTED BY (v) INTO 2 BUCKETS"
    )
    session.sql(f"INSERT INTO {table} SELECT id, concat('v', id), 'a/b' FROM range(0, 10, 1, 1)")
    expected = {n: (f"v{n}", "a/b") for n in range(10)}
    for number, is_new in ((0, True), (0, False), (1, True)):
        rows = pa.table({"id": pa.array([100 + number], pa.int64()), "v": ["s"], "p": ["c d"]})
        with ReferenceQuery(connector) as query:
            insert = ReferenceInsert(query, SchemaTableName("w", "buckets"))
            assert insert.finish_epoch([insert.write(rows)], StreamEpoch("7e6c", number)) is is_new
        expected[100 + number] = ("s", "c d")
    assert _rows(session, table) == expected
    assert set(session.arrow(table, ["$bucket"]).read_all()[0].to_pylist()) == {0, 1}
    session.sql(f"DROP TABLE {table}")


def check_leftovers(session: Session, catalog: str, files: FileSystem, place: str) -> None:
    """What a killed write has left beside the files of ``w.plain`` is deleted when it is old, and nothing else."""
    table = f"{catalog}.w.plain"
    before, left = _rows(session, table), f"{place}/w/plain/.lakeport_insert_{'0a' * 16}"
    files.write_bytes(f"{left}/part.parquet", b"rows")
    call = f"CALL {catalog}.system.remove_orphan_files(schema_name => 'w', table_name => 'plain'"
    assert session.sql(f"{call})").collect() == []
    assert [row.folder for row in session.sql(f"{call}, retention_threshold => '0s')").collect()] == [left]
    assert files.info(left) is None
    assert _rows(session, table) == before


def _rows(session: Session, table: str) -> dict[int, tuple[str, str]]:
    """The rows of a table, which Spark and Arrow read alike."""
    by_spark = sorted(tuple(row) for row in session.sql(f"SELECT id, v, p FROM {table}").collect())
    by_arrow = session.arrow(table, ["id", "v", "p"]).read_all().to_pylist()
    assert sorted(tuple(row.values()) for row in by_arrow) == by_spark
    found = {number: (text, key) for number, text, key in by_spark}
    assert len(found) == len(by_spark)
    return found
