"""Filters in EXPLAIN are written as SQL would have them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from lakeport.predicate_text import domain_text


@pytest.mark.parametrize(
    ("data_type", "value", "text"),
    [
        (pa.string(), "it's", "'it''s'"),
        (pa.int32(), 7, "7"),
        (pa.decimal128(5, 2), Decimal("1.50"), "1.50"),
        (pa.date32(), date(2024, 1, 2), "DATE '2024-01-02'"),
        (pa.timestamp("us", "UTC"), datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), "TIMESTAMP '2024-01-02 03:04:05+00:00'"),
        (pa.binary(), b"\x00\xff", "X'00FF'"),
        (pa.bool_(), True, "True"),
    ],
)
def test_values(data_type: pa.DataType, value: Value, text: str) -> None:
    column = ColumnHandle("c", data_type)
    assert (
        domain_text(TupleDomain[ColumnHandle].with_column_domains({column: Domain.single_value(data_type, value)}))
        == f"c = {text}"
    )
