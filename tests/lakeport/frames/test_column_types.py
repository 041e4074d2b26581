"""Filters on columns of every type: Polars and DuckDB answer as over the rows themselves."""

from __future__ import annotations

import operator
from collections.abc import Iterator

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from lakeport.frames.table_scan import TableScan
from tests.lakeport.memory_session import memory_session, put
from tests.lakeport.spark.conftest import all_types

ROWS = all_types(60)
COLUMNS = [field.name for field in ROWS.schema if not pa.types.is_nested(field.type)]
COMPARISONS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, ">=": operator.ge}


@pytest.fixture(scope="module")
def scan() -> Iterator[TableScan]:
    with memory_session() as (session, connector):
        put(connector, "everything", ROWS, "part", chunk_rows=7)
        yield session.scan("mem.s.everything")


def test_all_columns(scan: TableScan) -> None:
    plain = pl.from_arrow(ROWS)
    assert isinstance(plain, pl.DataFrame)
    found = scan.to_polars().collect().sort("id")
    assert found.schema == plain.schema
    assert found.equals(plain)
    assert scan.to_pandas("pyarrow").shape == plain.shape


@pytest.mark.parametrize("column", COLUMNS)
def test_polars(scan: TableScan, column: str) -> None:
    plain = pl.from_arrow(ROWS)
    assert isinstance(plain, pl.DataFrame)
    value = plain[column].drop_nulls()[3:4]
    for compare in COMPARISONS.values():
        predicate = compare(pl.col(column), pl.lit(value, dtype=value.dtype).first())
        constant = compare(pl.col(column), pl.lit(value.item(), dtype=value.dtype))
        for asked in (predicate, constant):
            found = scan.to_polars().filter(asked).select("id").collect()["id"].sort()
            assert found.to_list() == plain.filter(asked)["id"].to_list()


@pytest.mark.parametrize("column", COLUMNS)
def test_duckdb(scan: TableScan, column: str) -> None:
    value = ROWS.column(column).drop_null()[3].as_py()
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        scan.to_duckdb(connection).create_view("ours")
        connection.register("rows", ROWS)
        connection.execute("CREATE TABLE plain AS SELECT * FROM rows")
        for compare in COMPARISONS:
            query = f'SELECT id FROM {{}} WHERE "{column}" {compare} ? ORDER BY id'
            ours, plain = (connection.execute(query.format(name), [value]).fetchall() for name in ("ours", "plain"))
            assert ours == plain
