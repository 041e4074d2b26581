"""An OR over several partition keys leaves out the partitions of no alternative."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connector_spi.predicate import Call, ColumnReference, ConnectorExpression, Constant, Function
from connector_spi.testing import ReferenceQuery
from connector_spi.testing.reference_queries import offer_expression, rows_that_fit_expression
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_connector
from tests.connectors.hive.table_writer import create_table

NAME = SchemaTableName("s", "t")
DATA = pa.table(
    {
        "id": pa.array(range(24), pa.int64()),
        "year": [2022 + n // 8 for n in range(24)],
        "month": [None if n == 0 else str(n % 4) for n in range(24)],
    }
)


def kept(hive: HiveConnector, expression: ConnectorExpression) -> int | None:
    with ReferenceQuery(hive) as query:
        scan, guaranteed = offer_expression(query.table(NAME).project_names(DATA.column_names), expression)
        assert not guaranteed
        _, summary = scan.splits()
        rows = rows_that_fit_expression(scan.read_raw(), expression)
        assert sorted(rows["id"].to_pylist()) == sorted(rows_that_fit_expression(DATA, expression)["id"].to_pylist())
        return summary.partitions_kept


def test_partitions_of_no_alternative_are_left_out(tmp_path: Path) -> None:
    hive = make_connector(tmp_path)
    create_table(hive.metastore, tmp_path, "s", "t", DATA, ("year", "month"), file_format="parquet")
    with ReferenceQuery(hive) as query:
        scan = query.table(NAME)
        number, year, month = (ColumnReference(scan.column(name)) for name in ("id", "year", "month"))

    def equal(column: ColumnReference, value: int | str) -> Call:
        return Call(Function.EQUAL, (column, Constant(value, column.type)))

    def both(*arguments: ConnectorExpression) -> Call:
        return Call(Function.AND, arguments)

    def either(*arguments: ConnectorExpression) -> Call:
        return Call(Function.OR, arguments)

    ends = either(both(equal(year, 2022), equal(month, "3")), both(equal(year, 2024), equal(month, "1")))
    assert kept(hive, ends) == 2
    assert kept(hive, either(equal(year, 2023), Call(Function.IS_NULL, (month,)))) == 4 + 1
    assert kept(hive, either(equal(year, 2023), both(equal(month, "2"), equal(number, 2)))) == 4 + 2
    # A condition on another column may be true in each partition, and what is not known says nothing.
    assert kept(hive, either(equal(year, 2023), equal(number, 2))) == 13
    part = Call(Function.CONTAINS, (month, Constant("2", month.type)))
    assert kept(hive, either(equal(year, 2023), part)) == 13
    # Of a NULL it is unknown whether it is another month.
    assert kept(hive, either(equal(year, 2023), Call(Function.NOT, (equal(month, "2"),)))) == 4 + 2 * 3
    hive.shutdown()
