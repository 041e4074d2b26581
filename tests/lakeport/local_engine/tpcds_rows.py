"""Small tables of TPC-DS at random, with the values that queries ask for, so that most of these find rows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import sqlglot
from sqlglot import exp

from tests.lakeport.trino.tpc_tables import TPC_TABLES

__all__ = ["tpcds_rows"]

_TABLES = TPC_TABLES["tpcds"]
_COUNTS = {"call_center": 6, "catalog_page": 20, "catalog_returns": 2500, "catalog_sales": 6000, "customer": 150,
           "customer_address": 80, "customer_demographics": 60, "household_demographics": 40, "income_band": 10,
           "inventory": 4000, "item": 80, "promotion": 10, "reason": 36, "ship_mode": 8, "store": 6,
           "store_returns": 2500, "store_sales": 9000, "time_dim": 300, "warehouse": 4, "web_page": 8,
           "web_returns": 1500, "web_sales": 5000, "web_site": 6}  # fmt: skip
# Where keys lead to, by the ends of their names.
_KEYS = {"time_sk": "time_dim", "item_sk": "item", "cdemo_sk": "customer_demographics", "addr_sk": "customer_address",
         "hdemo_sk": "household_demographics", "customer_sk": "customer", "call_center_sk": "call_center",
         "catalog_page_sk": "catalog_page", "ship_mode_sk": "ship_mode", "warehouse_sk": "warehouse",
         "reason_sk": "reason", "store_sk": "store", "promo_sk": "promotion", "web_page_sk": "web_page",
         "site_sk": "web_site", "income_band_sk": "income_band"}  # fmt: skip
_FIRST, _DAYS, _FIRST_KEY = date(1998, 1, 1), 365 * 5 + 1, 2450815
_ZIPS = (24128, 76232, 65084, 85669, 86197, 88274, 83405, 86475, 35030, 38001, 38002)
# Of each kind of returns: its letters, those of its sales, the number of an order, and who bought and returned.
_RETURNS = (
    ("sr", "ss", "ticket_number", "ss_customer_sk", ("sr_customer_sk",)),
    ("cr", "cs", "order_number", "cs_bill_customer_sk", ("cr_refunded_customer_sk", "cr_returning_customer_sk")),
    ("wr", "ws", "order_number", "ws_bill_customer_sk", ("wr_refunded_customer_sk", "wr_returning_customer_sk")),
)
_NAMES = {"sr": "store_returns", "ss": "store_sales", "cr": "catalog_returns", "cs": "catalog_sales",
          "wr": "web_returns", "ws": "web_sales"}  # fmt: skip
_Row = dict[str, object]


def tpcds_rows(texts: Iterable[str]) -> dict[str, pa.Table]:
    """The tables by their names, the same for the same queries.

    Args:
        texts: Queries in Spark's SQL.
    """
    made = _Values(random.Random(7), _asked(texts))
    rows = {name: _date_rows(columns) if name == "date_dim" else made.rows(name) for name, columns in _TABLES.items()}
    for letters, sold, number, buyer, returners in _RETURNS:
        sales = rows[_NAMES[sold]]
        for at, row in enumerate(sales):
            row[f"{sold}_{number}"] = at // 3 + 1
        for row in rows[_NAMES[letters]]:
            sale = made.rnd.choice(sales)
            row |= {f"{letters}_{key}": sale[f"{sold}_{key}"] for key in (number, "item_sk")}
            row |= dict.fromkeys(returners, sale[buyer])
            day = sale[f"{sold}_sold_date_sk"]
            if isinstance(day, int):
                row[f"{letters}_returned_date_sk"] = min(day + made.rnd.randrange(60), _FIRST_KEY + _DAYS - 1)
    return {
        name: pa.Table.from_pylist(rows[name], pa.schema(list(columns.items()))) for name, columns in _TABLES.items()
    }


def _asked(texts: Iterable[str]) -> dict[str, list[str]]:
    """What queries compare columns with."""
    found: dict[str, list[str]] = {}
    for text in texts:
        for node in sqlglot.parse_one(text, dialect="spark").find_all(
            exp.EQ, exp.In, exp.Between, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Like
        ):
            for column in node.find_all(exp.Column):
                found.setdefault(column.name.lower(), []).extend(one.name for one in node.find_all(exp.Literal))
    return found


def _date_rows(columns: Mapping[str, pa.DataType]) -> list[_Row]:
    rows: list[_Row] = []
    for at in range(_DAYS):
        day = _FIRST + timedelta(at)
        months, quarter = (day.year - 1900) * 12 + day.month - 1, (day.month - 1) // 3 + 1
        row: _Row = {name: "N" if pa.types.is_string(kind) else 1 for name, kind in columns.items()}
        row |= {"d_date_sk": _FIRST_KEY + at, "d_date": day, "d_month_seq": months, "d_week_seq": 5100 + (at + 3) // 7,
                "d_quarter_seq": (day.year - 1900) * 4 + quarter - 1, "d_year": day.year, "d_moy": day.month,
                "d_dow": (day.weekday() + 1) % 7, "d_dom": day.day, "d_qoy": quarter, "d_day_name": f"{day:%A}",
                "d_quarter_name": f"{day.year}Q{quarter}"}  # fmt: skip
        rows.append(row)
    return rows


class _Values:
    def __init__(self, rnd: random.Random, asked: Mapping[str, list[str]]) -> None:
        self.rnd = rnd
        self._asked = asked

    def rows(self, table: str) -> list[_Row]:
        columns = _TABLES[table]
        has_key = not table.endswith(("sales", "returns", "inventory"))
        rows: list[_Row] = []
        for at in range(_COUNTS[table]):
            row = {name: self._value(name, kind, at) for name, kind in columns.items()}
            if has_key:
                row[next(iter(columns))] = at + 1
            if table == "time_dim":
                row |= {"t_time": at * 288, "t_hour": at * 288 // 3600, "t_minute": at * 288 // 60 % 60}
            if table == "inventory":
                row["inv_date_sk"] = _FIRST_KEY + 7 * self.rnd.randrange(_DAYS // 7)
            rows.append(row)
        return rows

    def _value(self, name: str, kind: pa.DataType, at: int) -> object:
        if self.rnd.random() < 0.03 and "item_sk" not in name:
            return None
        if name.endswith("date_sk"):
            return _FIRST_KEY + self.rnd.randrange(_DAYS)
        if name.endswith("_sk"):
            table = next((table for end, table in _KEYS.items() if name.endswith(end)), "store")
            return self.rnd.randrange(_COUNTS[table]) + 1
        if name.endswith("_zip"):
            return str(self.rnd.choice(_ZIPS))
        if pa.types.is_string(kind):
            return f"AAAA{at // 2:08d}" if name.endswith("_id") else self._text(name)
        if pa.types.is_date(kind):
            return _FIRST + timedelta(self.rnd.randrange(_DAYS))
        return self._whole(name) if pa.types.is_integer(kind) else self._decimal(name, kind)

    def _text(self, name: str) -> str:
        asked = self._asked.get(name)
        if asked and self.rnd.random() < 0.85:
            return self.rnd.choice(asked).replace("%", "x")
        return self.rnd.choice(("a", "B", "ç é", "zz top", "", "N", "Y", "Unknown"))

    def _whole(self, name: str) -> int:
        asked = [int(one) for one in self._asked.get(name, ()) if one.isdigit() and len(one) < 10]
        if asked and self.rnd.random() < 0.7:
            return self.rnd.choice(asked) + self.rnd.randrange(2)
        return self.rnd.randrange(1, 100)

    def _decimal(self, name: str, kind: pa.DataType) -> Decimal:
        unit = Decimal(1).scaleb(-kind.scale)
        if name.endswith("gmt_offset"):
            return Decimal(self.rnd.choice((-5, -6, -7, -8))).quantize(unit)
        asked = [float(one) for one in self._asked.get(name, ()) if re.fullmatch(r"\d+(\.\d+)?", one)]
        if asked and self.rnd.random() < 0.5:
            value = self.rnd.choice(asked) * self.rnd.choice((1, 0.99, 1.01, 1.2)) % 99999
        else:
            loss = 5 if "profit" in name or "loss" in name else 0
            value = self.rnd.random() * self.rnd.choice((1, 10, 100, 300)) - loss
        return Decimal(f"{value:.2f}").quantize(unit)
