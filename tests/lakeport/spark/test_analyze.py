"""Statistics that ``ANALYZE TABLE`` computes: as the values are, and kept where the metastore has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeport
from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, Parameters
from connector_spi.errors import ColumnNotFoundError, InvalidArgumentError, NotSupportedError
from connectors.hive.connector import HiveConnector
from connectors.memory.connector import MemoryConnector
from lakeport import Session
from tests.connectors.hive.counted_rows import FOUND, ROWS
from tests.connectors.hive.table_writer import create_table
from tests.lakeport.memory_session import put

pytestmark = pytest.mark.spark

KEYED = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "p": pa.array([1, 1, 2, None], pa.int32()),
        "ds": ["a/b", "a/b", "c", None],
    }
)


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("analyzed")
    (folder / "catalogs").mkdir()
    text = f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'm.db'}\n"
    (folder / "catalogs" / "hive.properties").write_text(text)
    (folder / "catalogs" / "mem.properties").write_text("connector.name=memory\n")
    with lakeport.connect(spark.newSession(), folder / "catalogs") as opened:
        create_table(metastore(opened), folder, "s", "flat", ROWS)
        create_table(metastore(opened), folder, "s", "keyed", KEYED, ["p", "ds"])
        create_table(metastore(opened), folder, "s", "empty", ROWS.slice(0, 0))
        put(cast(MemoryConnector, opened.catalogs.get("mem")), "t", KEYED)
        yield opened


def metastore(session: Session) -> Metastore:
    return cast(HiveConnector, session.catalogs.get("hive")).metastore


@pytest.mark.slow
def test_a_table(session: Session) -> None:
    shown = session.sql("ANALYZE TABLE hive.s.flat COMPUTE STATISTICS").collect()
    assert {row.column_name: row.row_count for row in shown}[None] == 4
    reads = metastore(session).reads
    entry = reads.get_table("s", "flat")
    assert entry is not None
    assert entry.parameters["numRows"] == "4"
    assert "BASIC_STATS" not in entry.parameters["COLUMN_STATS_ACCURATE"]
    assert reads.get_table_statistics("s", "flat", ROWS.column_names) == FOUND
    assert session.sql("SELECT * FROM hive.s.flat").count() == 4


def test_some_columns(session: Session) -> None:
    session.sql("USE hive.s")
    session.sql("ANALYZE TABLE empty COMPUTE STATISTICS FOR COLUMNS N, s")
    found = metastore(session).reads.get_table_statistics("s", "empty", ROWS.column_names)
    # Of the other columns there is what the table was made with.
    assert [one for one in found if one.distinct_count is not None] == [
        ColumnStatistics("n", "int", 0, 0),
        ColumnStatistics("s", "string", 0, 0, average_length=0.0, max_length=0),
    ]
    with pytest.raises(ColumnNotFoundError, match=r"no column 'days'; did you mean 'day'"):
        session.sql("ANALYZE TABLE hive.s.empty COMPUTE STATISTICS FOR COLUMNS days")
    with pytest.raises(NotSupportedError, match=r"of column 'tags' of hive\.s\.empty no statistics are kept"):
        session.sql("ANALYZE TABLE hive.s.empty COMPUTE STATISTICS FOR COLUMNS tags")


def test_partitions(session: Session) -> None:
    session.sql("ANALYZE TABLE hive.s.keyed COMPUTE STATISTICS")
    reads = metastore(session).reads
    names = reads.get_partition_names("s", "keyed")
    assert len(names) == 3
    found = reads.get_partition_statistics("s", "keyed", names, ["id"])
    bounds = {(one.low, one.high, one.null_count, one.distinct_count) for [one] in found.values()}
    assert bounds == {(1, 2, 0, 2), (3, 3, 0, 1), (4, 4, 0, 1)}
    rows = {one.values: one.parameters["numRows"] for one in reads.get_partitions_by_names("s", "keyed", names)}
    assert sorted(rows.values()) == ["1", "1", "2"]
    stats = {row.column_name: row for row in session.sql("SHOW STATS FOR hive.s.keyed").collect()}
    assert (stats["id"].low_value, stats["id"].high_value, stats[None].row_count) == ("1", "4", 4)


def sizes(session: Session, names: Sequence[str]) -> dict[str, tuple[str | None, ...]]:
    found = metastore(session).reads.get_partitions_by_names("s", "parts", names)
    keys = ("numRows", "numFiles", "totalSize")
    return {"/".join(one.values): tuple(one.parameters.get(key) for key in keys) for one in found}


def bytes_in(folder: Path) -> str:
    return str(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._"))


def test_some_partitions(session: Session, tmp_path: Path) -> None:
    create_table(metastore(session), tmp_path, "s", "parts", KEYED, ["p", "ds"])
    names = metastore(session).reads.get_partition_names("s", "parts")
    clean = {name: Parameters() for name in names}
    metastore(session).writes.set_partition_parameters("s", "parts", clean)
    session.sql("ANALYZE TABLE hive.s.parts PARTITION (p = 1, ds) COMPUTE STATISTICS FOR COLUMNS id")
    size = bytes_in(tmp_path / "s" / "parts" / "p=1")
    default = "__HIVE_DEFAULT_PARTITION__"
    assert sizes(session, names) == {
        "1/a/b": ("2", "1", size),
        "2/c": (None,) * 3,
        f"{default}/{default}": (None,) * 3,
    }
    found = metastore(session).reads.get_partition_statistics("s", "parts", names, ["id"])
    assert [(one.low, one.distinct_count) for [one] in found.values() if one.distinct_count is not None] == [(1, 2)]
    session.sql("ANALYZE TABLE hive.s.parts PARTITION (p = NULL) COMPUTE STATISTICS NOSCAN")
    size = bytes_in(tmp_path / "s" / "parts" / f"p={default}")
    assert sizes(session, names)[f"{default}/{default}"] == (None, "1", size)
    session.sql("ANALYZE TABLE hive.s.parts PARTITION (ds, p) COMPUTE STATISTICS NOSCAN")
    assert {files for _, files, _ in sizes(session, names).values()} == {"1"}
    with pytest.raises(InvalidArgumentError, match=r"'q' is no partition key, .* expected p, ds"):
        session.sql("ANALYZE TABLE hive.s.parts PARTITION (q = 1) COMPUTE STATISTICS")


@pytest.mark.slow
def test_files_of_a_transactional_table(session: Session) -> None:
    """Those that are seen: a delta that an overwrite has replaced is none of them."""
    session.sql("CREATE TABLE hive.s.acid (id bigint) USING orc TBLPROPERTIES ('transactional' = 'true')")
    session.sql("INSERT INTO hive.s.acid SELECT * FROM range(10)")
    session.sql("INSERT OVERWRITE hive.s.acid SELECT * FROM range(3)")
    session.sql("INSERT INTO hive.s.acid VALUES (7)")
    session.sql("DELETE FROM hive.s.acid WHERE id = 1")
    session.sql("ANALYZE TABLE hive.s.acid COMPUTE STATISTICS")
    entry = metastore(session).reads.get_table("s", "acid")
    assert entry is not None
    place = Path(str(entry.storage.location).removeprefix("file:"))
    seen = [path for path in place.rglob("bucket_*") if "delta_0000001_" not in str(path)]
    assert entry.parameters["numRows"] == "3"
    assert "BASIC_STATS" not in entry.parameters["COLUMN_STATS_ACCURATE"]
    assert entry.parameters["numFiles"] == str(len(seen))
    assert entry.parameters["totalSize"] == str(sum(path.stat().st_size for path in seen))


def test_catalogs_that_keep_none(session: Session) -> None:
    with pytest.raises(NotSupportedError, match=r"mem\.s\.t: its catalog keeps no statistics"):
        session.sql("ANALYZE TABLE mem.s.t COMPUTE STATISTICS")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        session.sql("ANALYZE TABLE spark_catalog.default.nope COMPUTE STATISTICS NOSCAN")
