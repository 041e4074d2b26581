"""What Hive and Hudi answered for the sample tables: copies of ``corpus``'s own files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ANSWERS = Path(__file__).parent / "answers"

Row = dict[str, Any]


def hudi_rows(table: str) -> list[Row]:
    """The rows of Hudi's own read of a snapshot, or of what ``table`` names after a dot."""
    rows: list[Row] = pq.read_table(ANSWERS / f"{table}.parquet").to_pylist()
    return rows


def hive_rows(table: str) -> list[dict[str, str | None]]:
    """The rows of Hive's own SELECT; values as text. Of an older version where ``table`` names one after a dot."""
    told = json.loads((ANSWERS / f"{table}.json").read_text())
    names = [column["name"] for column in told["columns"]]
    return [dict(zip(names, row, strict=True)) for row in told["rows"]]


def hive_row_ids(table: str) -> dict[str, tuple[str, str]]:
    """Write id and row id that Hive gave each row, by the value of its column ``id``."""
    told = json.loads((ANSWERS / f"{table}.row_ids.json").read_text())
    return {row[4]: (row[0], row[2]) for row in told["rows"]}
