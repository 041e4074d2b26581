"""Listings of tables, without Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from connectors.hive.connector import HiveConnector
from connectors.hive.metadata import HiveMetadata
from lakeport.shell.commands.listings import RelationPattern, relation_rows
from tests.lakeport.sample_session import sample_session


def _counts(hive: HiveConnector) -> Counter[str]:
    return Counter({name: calls.count for name, calls in hive.metastore.calls.by_method().items()})


def test_many_tables_are_described_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sample_session(tmp_path) as session:
        hive = session.catalogs.get("hive")
        assert isinstance(hive, HiveConnector)
        before = _counts(hive)
        at_once = relation_rows(session, RelationPattern("hive", "sales", ""), verbose=True)
        asked = _counts(hive)
        asked.subtract(before)
        # items, prices and visits are Hudi tables, whose columns are on storage; no table is locked.
        assert at_once.table.column("table").to_pylist() == [
            "items", "labels", "notes", "prices", "products", "visits",
        ]  # fmt: skip
        assert asked["get_table"] == 3
        assert asked["lock"] == asked["open_transaction"] == 0
        monkeypatch.setattr(HiveMetadata, "list_table_metadata", lambda *_: iter(()))
        one_by_one = relation_rows(session, RelationPattern("hive", "sales", ""), verbose=True)
        assert at_once.table.equals(one_by_one.table)
