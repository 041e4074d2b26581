"""EXPLAIN ANALYZE against tables whose files and row groups are laid out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.accumulators import _accumulatorRegistry
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from connector_spi.errors import TableNotFoundError
from lakeport.default_catalogs import load_catalogs
from lakeport.session import Session


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("explain")
    catalogs = folder / "catalogs"
    catalogs.mkdir()
    (catalogs / "lake.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={folder / 'metastore.db'}\n"
    )
    for day in range(3):
        part = folder / "t" / f"ds={day}"
        part.mkdir(parents=True)
        # Four row groups of 10 rows in each of three files.
        pq.write_table(pa.table({"n": range(40 * day, 40 * day + 40)}), part / "f.parquet", row_group_size=10)
    with Session(load_catalogs(catalogs), spark.newSession()) as session:
        session.sql(f"CALL lake.system.register_table(schema_name => 's', table_name => 't', "
                    f"table_location => '{folder / 't'}')").collect()  # fmt: skip
        yield session


def explained(session: Session, text: str) -> Any:  # noqa: ANN401 - whatever the JSON holds
    [row] = session.sql(text).collect()
    return json.loads(row["plan"])


def test_what_python_tasks_read_and_skipped(session: Session) -> None:
    session.sql("SET spark.lakeport.lake.native_reader = false")
    before = dict(_accumulatorRegistry)
    try:
        found = explained(session, "EXPLAIN ANALYZE (FORMAT JSON) SELECT n FROM lake.s.t WHERE ds = '1' AND n >= 75")
    finally:
        session.sql("RESET spark.lakeport.lake.native_reader")
    [scan] = found["scans"]
    assert found["rows"] == 5
    assert (scan["partitionsKept"], scan["partitionsTotal"], scan["filesKept"]) == (1, 3, 1)
    assert scan["reader"] == "python"
    assert scan["tasksCounted"] == scan["tasks"] == 1
    counts = {name: count for name, count in scan["counts"].items() if "bytes" not in name}
    assert counts == {
        "ranges of files opened": 1,
        "row groups read": 1,
        "row groups skipped": 3,
        "row groups that the statistics of n exclude": 3,
        "rows read": counts["rows read"],  # as many as the reader itself leaves over
        "splits read": 1,
        "rows given to Spark": 5,
    }
    assert 5 <= counts["rows read"] <= 10
    assert [stage["tasks"] for stage in found["stages"]] == [1]
    assert {"get_table"} <= {call["method"] for call in found["metastoreCalls"]}
    assert _accumulatorRegistry == before


@pytest.mark.slow
@pytest.mark.parametrize("native", ["true", "false"])
def test_a_sort_that_samples_first_changes_no_number(session: Session, native: str) -> None:
    """Spark runs the scan twice, to find the ranges of the shuffle and to fill them."""
    session.sql(f"SET spark.lakeport.lake.native_reader = {native}")
    try:
        found = explained(session, "EXPLAIN ANALYZE (FORMAT JSON) SELECT n FROM lake.s.t ORDER BY n")
        [row] = session.sql("EXPLAIN ANALYZE SELECT n FROM lake.s.t WHERE n >= 30 ORDER BY n").collect()
    finally:
        session.sql("RESET spark.lakeport.lake.native_reader")
    [scan] = found["scans"]
    assert (found["rows"], scan["rowsGiven"]) == (120, 120)
    lines = [line.strip() for line in row["plan"].splitlines()]
    assert lines[0].startswith("90 rows in ")
    assert "read more than once: Spark samples the rows before it sorts them; numbers are of one reading" in lines
    # Four row groups, each read to its end where a row of it fits.
    [given] = [line for line in lines if line.startswith("rows given: ")]
    assert given == "rows given: 90"
    if native == "false":
        assert (scan["counts"]["row groups read"], scan["counts"]["rows given to Spark"]) == (12, 120)
        assert (scan["tasksCounted"], scan["timesRead"]) == (scan["tasks"], 2)
    assert not [line for line in lines if "e+" in line or "#" in line or len(line) > 120]


def test_explain_is_the_same_text_without_the_run(session: Session) -> None:
    [row] = session.sql("EXPLAIN SELECT n FROM lake.s.t WHERE ds = '1' LIMIT 3").collect()
    lines = row["plan"].splitlines()
    assert lines[0] == "Scan lake.s.t"
    assert {"  limit pushed: 3", "  partitions: 1 of 3", "  files: 1 of 1"} <= set(lines)
    assert not [line for line in lines if "#" in line or len(line) > 120]
    with pytest.raises(AnalysisException) as caught:
        session.sql("EXPLAIN\nSELECT m FROM lake.s.t")
    assert "line 2, pos 7" in str(caught.value) or "line 2 pos 7" in str(caught.value)


def test_explain_runs_no_command(session: Session) -> None:
    for text in ("EXPLAIN {}", "EXPLAIN (FORMAT JSON) {}", "EXPLAIN (TYPE VALIDATE) {}"):
        session.sql(text.format("CREATE TABLE spark_catalog.default.never (id INT) USING parquet")).collect()
    assert session.sql("SHOW TABLES IN spark_catalog.default").collect() == []


def test_what_sparks_own_reader_does_not_report_is_not_shown(session: Session) -> None:
    [row] = session.sql("EXPLAIN ANALYZE SELECT n FROM lake.s.t WHERE n < 45").collect()
    lines = [line.strip() for line in row["plan"].splitlines()]
    assert lines[0].startswith("45 rows in ")
    assert "Scan lake.s.t" in lines
    assert "reader: native (Spark)" in lines
    assert "row groups and stripes: not counted, Spark's own reader does not report them" in lines
    assert not [line for line in lines if line.startswith("row groups read")]
    assert [line for line in lines if line.startswith("rows given: ")]
    assert "Stages" in lines


@pytest.mark.slow
def test_a_scan_of_two_uses_and_a_subquery(session: Session) -> None:
    found = explained(
        session,
        "EXPLAIN ANALYZE (FORMAT JSON) SELECT count(*) FROM lake.s.t a JOIN lake.s.t b ON a.n = b.n "
        "WHERE a.ds = '0' AND b.ds = '0' AND a.n > (SELECT min(n) FROM lake.s.t WHERE ds = '2')",
    )
    assert found["rows"] == 1
    kept = sorted(scan["partitionsKept"] for scan in found["scans"])
    assert kept == [1, 1, 1]


def test_explain_without_running(session: Session) -> None:
    found = explained(session, "EXPLAIN (TYPE IO, FORMAT JSON) SELECT * FROM lake.s.t WHERE ds = '1'")
    [scan] = found["scans"]
    assert scan["table"] == {"catalog": "lake", "schema": "s", "table": "t"}
    assert (scan["filesKept"], "counts" in scan, "rows" in found) == (1, False, False)
    assert session.sql("EXPLAIN (TYPE VALIDATE) SELECT * FROM lake.s.t").collect()[0][0] is True
    assert "Relation" in session.sql("EXPLAIN (TYPE LOGICAL) SELECT * FROM lake.s.t").collect()[0][0]
    distributed = explained(session, "EXPLAIN (FORMAT JSON) SELECT n FROM lake.s.t")
    assert distributed["plan"]["name"]


def test_errors_are_those_of_the_query(session: Session) -> None:
    with pytest.raises(TableNotFoundError, match=r"no table lake\.s\.tt"):
        session.sql("EXPLAIN ANALYZE SELECT * FROM lake.s.tt")
    with pytest.raises(AnalysisException) as caught:
        session.sql("SELECT upperr('a')")
    assert caught.value.__notes__ == ["did you mean 'upper'?"]
