"""Sessions over Spark: answers, one transaction for a statement, errors in words, catalogs that come and go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession

import lakeport
from connector_spi.errors import (
    CatalogNotFoundError,
    ConnectorError,
    InvalidPropertyError,
    NotSupportedError,
    ProcedureNotFoundError,
    SchemaNotFoundError,
    TableNotFoundError,
    UserError,
)
from connectors.memory.connector import MemoryConnector
from lakeport.arrow.filters.where import Where
from lakeport.session import Session
from tests.lakeport.memory_session import memory_session, put

TRIPS = pa.table(
    {
        "region": ["eu", "eu", "us", None],
        "amount": pa.array([10, 20, 30, None], pa.int64()),
        "fare": [0.0, -0.0, float("nan"), 2.5],
    }
)
REGIONS = pa.table({"region": ["eu", "us"], "name": ["Europe", "America"]})


@pytest.fixture
def opened(spark: SparkSession) -> Iterator[tuple[Session, MemoryConnector]]:
    with memory_session(spark.newSession()) as (session, connector):
        put(connector, "trips", TRIPS, chunk_rows=2)
        put(connector, "regions", REGIONS)
        yield session, connector


def test_sql_joins_and_takes_parameters(opened: tuple[Session, MemoryConnector]) -> None:
    text = """
        SELECT name, sum(amount) AS total FROM mem.s.trips JOIN mem.s.regions USING (region)
        WHERE amount >= :least GROUP BY name ORDER BY name
    """
    found = [tuple(row) for row in opened[0].sql(text, {"least": 20}).collect()]
    assert found == [("America", 30), ("Europe", 20)]
    assert opened[0].sql("SELECT ? + ?", [1, 2]).collect()[0][0] == 3


def test_plain_spark_sees_the_catalogs(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    session.sql("USE mem.s")
    assert session.spark.table("trips").where("amount > 10").count() == 2
    assert session.table("mem.s.trips").where("amount > 10").count() == 2
    assert (session.engine.current_catalog(), session.engine.current_schema()) == ("mem", "s")


def test_tables_of_one_statement_share_a_transaction(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    before = connector.transactions.begun
    session.sql("SELECT * FROM mem.s.trips t, mem.s.regions r, mem.s.trips u WHERE u.amount > 1").collect()
    assert connector.transactions.begun - before == 1


def test_a_statement_that_fails_rolls_back(opened: tuple[Session, MemoryConnector]) -> None:
    session, connector = opened
    before = connector.transactions.rolled_back
    with pytest.raises(AnalysisException):
        session.sql("SELECT nope FROM mem.s.trips")
    assert connector.transactions.rolled_back - before == 1


@pytest.mark.parametrize(
    "where",
    [
        [("amount", ">", 10)],
        [("amount", "!=", 10)],
        [("amount", "not in", [10, 20])],
        [("region", "in", ["eu"]), ("amount", "<=", 10)],
        [[("region", "is null")], [("amount", "=", 30)]],
        [("fare", "=", 0.0)],
        [("fare", ">", 1.0)],
        [("fare", "=", float("nan"))],
        [("fare", "!=", 0.0)],
    ],
)
def test_arrow_and_spark_give_the_same_rows(opened: tuple[Session, MemoryConnector], where: Where) -> None:
    session, _ = opened
    alternatives = where if isinstance(where[0], list) else [where]
    condition = " OR ".join(
        " AND ".join(_sql(*test) for test in conjunction)  # type: ignore[misc]
        for conjunction in alternatives
    )
    by_spark = session.sql(f"SELECT * FROM mem.s.trips WHERE {condition}").collect()
    by_arrow = session.arrow("mem.s.trips", where=where).read_all().to_pylist()
    assert sorted(map(str, (row.asDict() for row in by_spark))) == sorted(map(str, by_arrow))
    assert by_arrow


@pytest.mark.parametrize("test", ["IN", "NOT IN"])
def test_a_list_too_long_to_be_offered_whole_is_checked_by_spark(
    opened: tuple[Session, MemoryConnector], test: str
) -> None:
    session, connector = opened
    put(connector, "days", pa.table({"day": pa.array(range(5), pa.int64())}), "day")
    listed = ", ".join(map(str, range(0, 4000, 2)))
    found = session.sql(f"SELECT day FROM mem.s.days WHERE day {test} ({listed}) ORDER BY day").collect()
    assert [row[0] for row in found] == ([0, 2, 4] if test == "IN" else [1, 3])


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("SELECT * FROM mem.s.tripz", TableNotFoundError, "no table mem.s.tripz; did you mean trips"),
        ("SELECT * FROM mem.s.`trips$nope`", TableNotFoundError, "snapshots"),
        ("DESCRIBE mem.s.tripz", TableNotFoundError, "did you mean trips"),
        ("SELECT * FROM mem.z.trips", SchemaNotFoundError, "no schema z in catalog mem"),
        ("SELECT * FROM meme.s.trips", CatalogNotFoundError, "did you mean 'mem'"),
        ("USE mem.sss", SchemaNotFoundError, "no schema sss"),
        ("USE meme", CatalogNotFoundError, "did you mean 'mem'"),
        ("SHOW TABLES IN meme.s", CatalogNotFoundError, "did you mean 'mem'"),
        ("CALL mem.system.rollback()", ProcedureNotFoundError, "rollback_to_version"),
        ("DROP TABLE mem.s.trips", NotSupportedError, "read-only"),
    ],
)
def test_names_that_are_not_there_are_our_errors_with_what_is_close(
    opened: tuple[Session, MemoryConnector], text: str, kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says) as caught:
        opened[0].sql(text)
    assert isinstance(caught.value, ConnectorError)
    assert "\tat " not in str(caught.value)


@pytest.mark.slow
def test_names_that_say_no_catalog_are_looked_up_where_they_were_meant(
    opened: tuple[Session, MemoryConnector],
) -> None:
    session, _ = opened
    session.sql("USE mem.s")
    for text in ("SELECT * FROM tripz", "SELECT * FROM s.tripz"):
        with pytest.raises(TableNotFoundError, match=r"no table mem\.s\.tripz; did you mean trips"):
            session.sql(text)
    with pytest.raises(TableNotFoundError, match="did you mean trips"):
        session.table("tripz")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("SELECT date_truc('day', now())", "date_trunc"),
        ("SELECT mem.s.date_truc('day', now())", "date_trunc"),
        ("DESCRIBE FUNCTION date_truc", "date_trunc"),
        ("SELECT * FROM rnge(3)", "range"),
    ],
)
@pytest.mark.parametrize("schema", ["mem.s", "spark_catalog.default"])
def test_unknown_functions_are_answered_with_what_is_close(
    opened: tuple[Session, MemoryConnector], schema: str, text: str, near: str
) -> None:
    session, _ = opened
    session.sql(f"USE {schema}")
    with pytest.raises(PySparkException) as caught:
        session.sql(text)
    assert caught.value.__notes__ == [f"did you mean '{near}'?"]


def test_functions_are_shown_in_a_schema_of_a_catalog(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    session.sql("USE mem.s")
    assert session.sql("SHOW FUNCTIONS LIKE 'x'").collect() == []
    assert [row[0] for row in session.sql("SHOW FUNCTIONS LIKE 'date_tr*'").collect()] == ["date_trunc"]
    assert session.sql("SHOW USER FUNCTIONS IN mem.s").collect() == []
    with pytest.raises(SchemaNotFoundError, match="no schema nope"):
        session.sql("SHOW FUNCTIONS IN mem.nope")


def test_what_spark_says_best_is_sparks(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR"):
        session.sql("SELEC 1")
    with pytest.raises(AnalysisException, match=r"UNRESOLVED_COLUMN.*amount"):
        session.sql("SELECT amuont FROM mem.s.trips")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        session.sql("SELECT * FROM spark_catalog.default.nope")
    frame = session.sql("SELECT 1 / amount - 1 / (amount - 10) FROM mem.s.trips")
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        frame.collect()


def test_session_properties_reach_the_connector(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    session.spark.sql("SET spark.lakeport.mem.max_split_row = 1")
    with pytest.raises(InvalidPropertyError, match=r"did you mean 'max_split_rows'.*RESET"):
        session.sql("SELECT * FROM mem.s.trips")
    session.sql("RESET spark.lakeport.mem.max_split_row")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SET spark.lakeport.mem.max_split_row = 1", "did you mean 'max_split_rows'"),
        ("-- more\nset `spark.lakeport.mem.max_split_rows`=many;", "expects .*met 'many'"),
        ("SET spark.lakeport.mme.max_split_rows = 1", "no catalog 'mme'; did you mean 'mem'"),
        ("SET spark.lakeport.max_split_rows = 1", "no catalog 'max_split_rows'"),
    ],
)
def test_a_wrong_session_property_is_not_set(opened: tuple[Session, MemoryConnector], text: str, says: str) -> None:
    session, _ = opened
    with pytest.raises(InvalidPropertyError, match=says):
        session.sql(text)
    session.sql("SET spark.lakeport.mem.max_split_rows = 1")
    assert session.sql("SELECT * FROM mem.s.trips").count() > 0
    session.sql("RESET spark.lakeport.mem.max_split_rows")


def test_catalogs_come_and_go(opened: tuple[Session, MemoryConnector]) -> None:
    session, _ = opened
    session.catalogs.register("second", "memory", {})
    assert {"mem", "second"} <= {row[0] for row in session.sql("SHOW CATALOGS").collect()}
    session.catalogs.drop("second")
    assert "second" not in {row[0] for row in session.sql("SHOW CATALOGS").collect()}
    with pytest.raises(CatalogNotFoundError):
        session.sql("SELECT * FROM second.s.t")


def test_closing_leaves_a_given_spark_as_it_was(spark: SparkSession) -> None:
    given = spark.newSession()
    with memory_session(given):
        assert "mem" in {row[0] for row in given.sql("SHOW CATALOGS").collect()}
    assert "mem" not in {row[0] for row in given.sql("SHOW CATALOGS").collect()}
    assert given.range(2).count() == 2


def test_connect_takes_the_spark_that_runs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "one.properties").write_text("connector.name=memory\n")
    with lakeport.connect(catalogs=tmp_path) as session:
        assert session.sql("SHOW TABLES IN one.default").collect() == []
    assert spark.range(2).count() == 2
    with pytest.raises(UserError, match="closed"):
        session.sql("SELECT 1")


def test_connect_with_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with lakeport.connect() as session:
        assert session.catalogs.names() == ["hive", "hudi"]
    (tmp_path / "etc" / "catalog").mkdir(parents=True)
    (tmp_path / "etc" / "catalog" / "m.properties").write_text("connector.name=memory\n")
    with lakeport.connect() as session:
        assert session.catalogs.names() == ["m"]
    with pytest.raises(InvalidPropertyError, match="nowhere is not a directory"):
        lakeport.connect(catalogs="nowhere")


def _sql(column: str, operator: str, value: object = None) -> str:
    def literal(one: object) -> str:
        if isinstance(one, float):
            return f"double('{one}')"
        return f"'{one}'" if isinstance(one, str) else str(one)

    if value is None:
        return f"{column} {operator}"
    if isinstance(value, list):
        return f"{column} {operator} ({', '.join(literal(one) for one in value)})"
    return f"{column} {operator} {literal(value)}"
