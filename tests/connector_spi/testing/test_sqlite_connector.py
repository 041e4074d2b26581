"""The connector that is broken elsewhere keeps the contract where it is whole."""

from __future__ import annotations

from tests.connector_spi.testing.sqlite_suite import SqliteConformance


class TestSqliteConformance(SqliteConformance):
    pass
