"""The suite for connectors whose tables are what they are: no test can make one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from connector_spi.names import SchemaTableName
from connector_spi.page_source import MAX_BATCH_ROWS
from connector_spi.predicate import TupleDomain
from connector_spi.testing.base import assert_same_rows
from connector_spi.testing.conformance import ConnectorConformance
from connector_spi.testing.other_process import read_in_another_process
from connector_spi.testing.reading import read_table
from connector_spi.testing.shared_checks import (
    assert_filtered,
    assert_pruned,
    assert_read_at_once,
    assert_travels,
)
from connector_spi.testing.strategies import filterable_columns, predicates

__all__ = ["FixedTablesConformance"]


class FixedTablesConformance(ConnectorConformance):
    """All checks that need no table of their own, and those of the tables that there are.

    ``catalog_properties`` chooses a catalog of small tables: some thousand rows at most.
    """

    @abstractmethod
    def fixed_tables(self) -> Mapping[SchemaTableName, pa.Table]:
        """Some tables of ``self.connector``, with all of their rows."""

    def create_table(self, name: SchemaTableName, data: pa.Table, partitioned_by: Sequence[str]) -> None:
        pytest.skip("the tables are fixed")

    def test_fixed_tables_are_listed(self) -> None:
        with self.query() as query:
            for name in self.fixed_tables():
                assert name.schema in query.metadata.list_schema_names(query.session)
                listed = list(query.metadata.list_tables(query.session, name.schema))
                assert name in listed
                assert [one.table for one in listed] == sorted(one.table.lower() for one in listed)

    def test_fixed_tables_have_their_columns_and_rows(self) -> None:
        for name, data in self.fixed_tables().items():
            with self.query() as query:
                table = query.metadata.get_table_metadata(query.session, query.table(name).table)
            met = {column.name: column.type for column in table.visible_columns()}
            assert met == dict(zip(data.schema.names, data.schema.types, strict=True)), f"columns of {name}"
            wrong = [one.name for one in table.visible_columns() if not one.nullable and data[one.name].null_count]
            assert wrong == [], f"columns {wrong} of {name} say nullable=False, and hold NULL"
            backwards = data.column_names[::-1]
            assert_same_rows(read_table(self.connector, name), data)
            assert_same_rows(read_table(self.connector, name, backwards), data.select(backwards))
            assert read_table(self.connector, name, []).num_rows == data.num_rows

    def test_filters_on_fixed_tables(self) -> None:
        for name, data in self.fixed_tables().items():
            if not filterable_columns(data) or not data.num_rows:
                continue
            self._check_filters(name, data)

    def test_fixed_tables_are_read_in_another_process(self) -> None:
        for name, data in self.fixed_tables().items():
            with self.query() as query:
                scan = query.table(name).project_names(data.column_names)
                roots, [met] = read_in_another_process([scan])
                for sent in (scan.table, *scan.columns, *scan.splits()[0]):
                    assert_travels(sent)
            assert_same_rows(met, data)
            barred = self.barred_in_tasks & roots
            assert not barred, f"reading a split imports {sorted(barred)}"

    def test_splits_of_fixed_tables_are_read_in_bounded_batches_again_and_at_once(self) -> None:
        for name, data in self.fixed_tables().items():
            with self.query() as query:
                scan = query.table(name)
                splits, _ = scan.splits()
                for split in splits:
                    rows = scan.read_split(split)
                    assert_same_rows(scan.read_split(split), rows)
                    largest = max((len(chunk) for column in rows.columns for chunk in column.chunks), default=0)
                    assert largest <= MAX_BATCH_ROWS, f"a batch of {largest} rows; expected at most {MAX_BATCH_ROWS}"
            assert_read_at_once(self.connector, name, data)

    def _check_filters(self, name: SchemaTableName, data: pa.Table) -> None:
        @settings(max_examples=self.max_examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(predicates(data))
        def check(predicate: TupleDomain[str]) -> None:
            assert_filtered(self.connector, name, data, predicate)
            assert_pruned(self.connector, name, data, predicate)

        check()
