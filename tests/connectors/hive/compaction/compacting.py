"""Runs the procedures of compactions."""

from __future__ import annotations

from connector_spi.predicate import Value
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session

__all__ = ["call", "clean", "compact"]


def call(hive: HiveConnector, procedure: str, **given: Value) -> list[dict[str, object]]:
    """Rows of a procedure."""
    [found] = [one for one in hive.procedures if one.name == procedure]
    arguments = {one.name: one.default for one in found.arguments} | given
    result = found.function(make_session(hive), arguments)
    assert result.schema == found.result
    rows: list[dict[str, object]] = result.to_pylist()
    return rows


def compact(hive: HiveConnector, kind: str = "major", **given: Value) -> dict[str, object]:
    """Makes a compaction of ``s.t``."""
    [row] = call(hive, "run_compaction", **{"schema_name": "s", "table_name": "t", "type": kind, **given})
    return row


def clean(hive: HiveConnector, **given: Value) -> list[dict[str, object]]:
    """Deletes what compactions of ``s.t`` have replaced."""
    return call(hive, "run_clean", **{"schema_name": "s", "table_name": "t", **given})
