"""Tables of a small shop, for queries as people write them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from connectors.memory.connector import MemoryConnector
from tests.lakeport.memory_session import put

__all__ = ["TABLES", "put_numbers", "put_shop"]

_ITEM = pa.struct([("sku", pa.string()), ("price", pa.float64()), ("pieces", pa.int32())])
_ORDERS = pa.schema(
    [
        ("id", pa.int64()), ("customer_id", pa.int64()), ("ordered_at", pa.timestamp("us")), ("day", pa.date32()),
        ("region", pa.string()), ("status", pa.string()), ("amount", pa.decimal128(12, 2)), ("qty", pa.int32()),
        ("discount", pa.float64()), ("note", pa.string()), ("tags", pa.list_(pa.string())), ("items", pa.list_(_ITEM)),
    ]
)  # fmt: skip
_ROWS: list[tuple[object, ...]] = [
    (1, 10, "2024-01-05 09:15:30.250", "eu", "paid", "120.50", 3, 0.1,
     '{"channel": "web", "coupon": {"code": "A-17"}, "weights": [1, 2]}', ["new", "gift"],
     [("pen", 1.5, 2), ("ink", 9.25, 1)]),
    (2, 10, "2024-01-31 23:59:59", "eu", "paid", "80.00", 1, None, '{"channel": "app", "stars": "4"}', ["gift"],
     [("pen", 1.5, 10)]),
    (3, 11, "2024-02-29 12:00:00", "us", "returned", "15.25", 2, 0.0, "not json", [], []),
    (4, 12, "2024-03-10 02:30:00", "us", "paid", "300.00", 5, 0.25, None, None, None),
    (5, 11, "2024-03-31 02:30:00", "eu", "open", "45.75", 1, None, '{"channel": null}', ["bulk", "gift", "new"],
     [("cap", 20.0, 1)]),
    (6, 13, "2024-12-30 18:45:10", "apac", "paid", "99.99", 4, 0.05, '{"channel": "web", "paid": 12.50}', ["bulk"],
     [("ink", 9.25, 3), ("cap", 20.0, 2)]),
]  # fmt: skip


def _orders() -> pa.Table:
    rows = []
    for order, customer, at, *rest, tags, items in _ROWS:
        moment = dt.datetime.fromisoformat(str(at))
        region, status, amount, qty, discount, note = rest
        made = None if items is None else [dict(zip(("sku", "price", "pieces"), one, strict=True)) for one in items]  # type: ignore[attr-defined]
        values = (order, customer, moment, moment.date(), region, status, Decimal(str(amount)), qty, discount, note)
        rows.append(dict(zip(_ORDERS.names, (*values, tags, made), strict=True)))
    return pa.Table.from_pylist(rows, _ORDERS)


_CUSTOMERS = {
    "id": pa.array([10, 11, 12, 14], pa.int64()),
    "name": pa.array(["Ana Nowak", "Bob O'Neil", "Cy", "Dora"]),
    "email": pa.array(["ana@example.com", "bob@mail.example.org", "", None]),
    "country": pa.array(["PL", "US", "US", "DE"]),
    "joined": pa.array([dt.date(2023, 11, 30), dt.date(2024, 1, 31), dt.date(2020, 2, 29), dt.date(2024, 2, 29)]),
}
_LOG = {
    "at": pa.array([dt.datetime(2024, 3, 1, 10, 0), dt.datetime(2024, 3, 1, 10, 20), dt.datetime(2024, 3, 1, 11, 30),
                    dt.datetime(2024, 3, 2, 0, 5)], pa.timestamp("us")),
    "who": pa.array(["ana", "ana", "bob", "ana"]),
    "line": pa.array([
        "GET /shop/pens?id=7&sort=price 200 0.125",
        "POST /cart 201 0.5",
        "GET /shop/ink 404 -",
        "GET /shop/caps?id=12 200 1.25",
    ]),
}  # fmt: skip

TABLES = {"orders": _orders(), "customers": pa.table(_CUSTOMERS), "log": pa.table(_LOG)}
"""By name; they are in the schema ``s``."""


def put_shop(memory: MemoryConnector) -> None:
    """Makes the tables of the shop."""
    for name, data in TABLES.items():
        put(memory, name, data)


def put_numbers(memory: MemoryConnector) -> None:
    """Makes a table of numbers of many digits."""
    numbers = {
        "n": pa.array([7, -7, None], pa.int32()),
        "d": pa.array([1, 2, 3], pa.float64()),
        "price": pa.array([Decimal("8230452.1234"), None, None], pa.decimal128(12, 4)),
        "huge": pa.array([Decimal("1.0000000001"), None, None], pa.decimal128(38, 10)),
        "whole": pa.array([Decimal(3), None, None], pa.decimal128(38, 0)),
        "tags": pa.array([["a", "b"], [], None], pa.list_(pa.string())),
    }
    put(memory, "t", pa.table(numbers))
