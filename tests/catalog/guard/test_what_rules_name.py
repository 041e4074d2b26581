"""What rules hide, deny or mask stays so under other names, in filters, statistics and new partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from catalog.access_control.file_access_control import FileAccessControl
from catalog.guard.checks import Checks
from catalog.guard.compiler import compile_mask
from catalog.guard.metadata import GuardedMetadata, guarded_table
from catalog.guard.optional_metadata import READING
from catalog.guard.writing_metadata import WRITING
from connector_spi.errors import AccessDeniedError, NotSupportedError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import SupportsFooterStatistics, SupportsStatistics
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import PartitionDefinition, SupportsPartitionDefinition
from connector_spi.optional.read_options import SupportsReadOptions
from connector_spi.predicate import Constraint, Domain, TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.security import Identity
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connectors.memory.metadata import MemoryMetadata, MemoryTransaction
from tests.lakeport.access_control.guarded_sessions import RULES, memory_with_orders, write_rules

ORDERS = SchemaTableName("s", "orders")
FEED = SchemaTableName("s", "feed")
CLERK = Identity("clerk")
CLERKS_RULE = {
    "user": "clerk",
    "schema": "s",
    "table": "orders",
    "privileges": ["SELECT", "INSERT"],
    "columns": [{"name": "region", "allow": False}],
}


class _Metadata(MemoryMetadata):
    """Orders also come as a feed of rows as JSON, and take partitions."""

    def apply_read_options(
        self, session: ConnectorSession, table: TableHandle, options: Mapping[str, str]
    ) -> TableHandle:
        found = self.get_table_handle(session, FEED)
        assert found is not None
        return found

    def get_footer_statistics(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], columns: Sequence[ColumnHandle]
    ) -> TableStatistics:
        return TableStatistics(7.0)

    def add_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[PartitionDefinition]
    ) -> None:
        return


def guarded(folder: Path, ability: type, rules: Sequence[Mapping[str, object]] = ()) -> GuardedMetadata:
    """The guard of an ability over the tables in memory."""
    memory = memory_with_orders()
    memory.create_table(FEED, pa.table({"op": ["i"], "after": ['{"ssn": "111-22-3333"}']}), [])
    hudi = pa.table({"key": ["k"], "_hoodie_record_key": ["k"]})
    memory.create_table(SchemaTableName("s", "hudi"), hudi, [])
    path = write_rules(folder, {**RULES, "tables": [*rules, *RULES["tables"]]})
    metadata = _Metadata(memory._store, MemoryTransaction(memory._store))
    made: type[GuardedMetadata] = dict((*READING, *WRITING))[ability]
    return made(metadata, Checks("mem", FileAccessControl(path)))


def session(identity: Identity) -> ConnectorSession:
    return ConnectorSession("q", identity.user, "UTC", datetime(2024, 1, 1, tzinfo=UTC), groups=identity.groups)


@pytest.mark.parametrize(
    "rule", [{"columns": [{"name": "note", "allow": False}]}, {"columns": [{"name": "ssn", "mask": "'x'"}]}]
)
def test_a_form_without_columns_that_rules_name_is_denied(tmp_path: Path, rule: Mapping[str, object]) -> None:
    """Hudi's change feed has op, ts_ms, before and after: the rows are in it as JSON."""
    one = {"user": "clerk", "table": "orders|feed", "privileges": ["SELECT"], **rule}
    metadata = guarded(tmp_path, SupportsReadOptions, [one])
    table = metadata.get_table_handle(session(CLERK), ORDERS)
    assert table is not None
    with pytest.raises(AccessDeniedError, match="in this form: it lacks the columns"):
        cast(SupportsReadOptions, metadata).apply_read_options(session(CLERK), table, {})


def test_a_partition_elsewhere_needs_what_a_new_table_needs(tmp_path: Path) -> None:
    rule = {"user": "clerk", "table": "orders", "privileges": ["SELECT", "INSERT"]}
    metadata = cast(SupportsPartitionDefinition, guarded(tmp_path, SupportsPartitionDefinition, [rule]))
    metadata.add_partitions(session(CLERK), ORDERS, [PartitionDefinition(("fr",))])
    with pytest.raises(AccessDeniedError, match="Cannot create table"):
        metadata.add_partitions(session(CLERK), ORDERS, [PartitionDefinition(("fr",), "/data/secret")])


def test_a_filter_of_a_denied_column_is_denied_beside_other_privileges(tmp_path: Path) -> None:
    metadata = guarded(tmp_path, SupportsStatistics, [CLERKS_RULE])
    table = metadata.get_table_handle(session(CLERK), ORDERS)
    assert table is not None
    region = metadata.metadata.get_column_handles(session(CLERK), guarded_table(table).table)["region"]
    asked = Constraint(TupleDomain({region: Domain.single_value(pa.string(), "us")}))
    with pytest.raises(AccessDeniedError, match="Cannot select from columns"):
        metadata.apply_filter(session(CLERK), table, asked)


@pytest.mark.parametrize(
    "rule",
    [
        {"filter": "key = 'x'"},
        {"columns": [{"name": "key", "mask": "'x'"}]},
        {"columns": [{"name": "key", "allow": False}], "privileges": ["SELECT", "INSERT"]},
    ],
)
def test_columns_of_hudi_that_repeat_keys_are_hidden_with_them(tmp_path: Path, rule: Mapping[str, object]) -> None:
    one = {"user": "clerk", "table": "hudi", "privileges": ["SELECT"], **rule}
    metadata = guarded(tmp_path, SupportsStatistics, [one])
    table = metadata.get_table_handle(session(CLERK), SchemaTableName("s", "hudi"))
    assert table is not None
    assert list(metadata.get_column_handles(session(CLERK), table)) == ["key"]


def test_statistics_need_select(tmp_path: Path) -> None:
    writer = session(Identity("writer"))
    metadata = guarded(tmp_path, SupportsStatistics)
    table = metadata.get_table_handle(writer, ORDERS)
    assert table is not None
    with pytest.raises(AccessDeniedError, match="Cannot select from"):
        cast(SupportsStatistics, metadata).get_table_statistics(writer, table)


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ({}, 7.0),
        ({"filter": "id > 1"}, None),
        ({"columns": [{"name": "ssn", "mask": "'x'"}]}, None),
        ({"columns": [{"name": "ssn", "allow": False}]}, None),
    ],
)
def test_footers_know_nothing_of_filters_and_masks(
    tmp_path: Path, rule: Mapping[str, object], rows: float | None
) -> None:
    one = {"user": "clerk", "table": "orders", "privileges": ["SELECT"], **rule}
    metadata = guarded(tmp_path, SupportsFooterStatistics, [one])
    table = metadata.get_table_handle(session(CLERK), ORDERS)
    assert table is not None
    found = cast(SupportsFooterStatistics, metadata).get_footer_statistics(session(CLERK), table, (), ())
    assert (None if found is None else found.row_count) == rows


@pytest.mark.parametrize(
    "text",
    [rf"regexp_replace(s, '{one}', '*')" for one in (r"\d", r"\w+", r"\D", r"\W", r"[\d]", "a$")]
    + ["replace(s, '', 'x')"],
)
def test_patterns_that_mean_less_in_the_reader_are_refused(text: str) -> None:
    column = ColumnMetadata("s", pa.string())
    with pytest.raises(NotSupportedError, match="understood"):
        compile_mask(text, column, [column], "ann")
