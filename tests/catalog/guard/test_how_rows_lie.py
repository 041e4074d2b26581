"""A guarded catalog says how rows lie where all of a table is shown: else keys and order would be of hidden values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import pyarrow as pa
import pytest

from catalog.guard.checks import Checks
from catalog.guard.handles import GuardedTable
from catalog.guard.optional_metadata import READING
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connector_spi.optional.partitioning import SupportsSortOrder, SupportsTablePartitioning, TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession

_SESSION = ConnectorSession("q", "ada", "UTC", datetime(2026, 1, 1, tzinfo=UTC))
_NAME = SchemaTableName("s", "t")
_ORDER = (SortItem(ColumnHandle("id", pa.int64()), ascending=True, nulls_first=True),)
_KEYS = TablePartitioning(("id",))


@dataclass(frozen=True, slots=True)
class _Table(TableHandle):
    name: str = "t"


class _Laid:
    def get_table_partitioning(self, session: ConnectorSession, table: TableHandle) -> TablePartitioning:
        assert isinstance(table, _Table)
        return _KEYS

    def get_partition_keys(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], asked: TablePartitioning
    ) -> Sequence[tuple[Value | None, ...]]:
        assert isinstance(table, _Table)
        return [(1,)]

    def get_sort_order(
        self, session: ConnectorSession, table: TableHandle, groups: Sequence[Sequence[Split]]
    ) -> Sequence[SortItem]:
        assert isinstance(table, _Table)
        return _ORDER


@pytest.mark.parametrize(
    ("table", "is_told"),
    [
        (GuardedTable(_NAME, _Table()), True),
        (GuardedTable(_NAME, _Table(), hidden=frozenset({"salary"})), False),
        (GuardedTable(_NAME, _Table(), unreadable=frozenset({"salary"})), False),
    ],
    ids=["whole", "hidden", "unreadable"],
)
def test_of_what_is_seen_in_part_nothing_is_said(table: GuardedTable, is_told: bool) -> None:
    guarded = dict(READING)
    metadata, checks = cast(ConnectorMetadata, _Laid()), cast(Checks, None)
    order = cast(SupportsSortOrder, guarded[SupportsSortOrder](metadata, checks))
    assert tuple(order.get_sort_order(_SESSION, table, [])) == (_ORDER if is_told else ())
    keys = cast(SupportsTablePartitioning, guarded[SupportsTablePartitioning](metadata, checks))
    assert keys.get_table_partitioning(_SESSION, table) == (_KEYS if is_told else None)
    assert keys.get_partition_keys(_SESSION, table, [], _KEYS) == ([(1,)] if is_told else None)
