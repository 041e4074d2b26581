"""What every metastore answers, whatever it is made of."""

from __future__ import annotations

import pyarrow as pa
import pytest

from catalog.metastore.factory import Metastore
from catalog.metastore.testing import ReadingChecks
from catalog.metastore.testing.objects import add_partitions, new_table
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from tests.hms import HiveMetastoreServer


class TestThrift(ReadingChecks):
    @pytest.fixture
    def metastore(self, thrift_metastore: Metastore) -> Metastore:
        return thrift_metastore

    @pytest.fixture
    def makes_managed_tables(self, hive_metastore_server: HiveMetastoreServer) -> bool:
        return not hive_metastore_server.release.startswith("4.")


class TestEmbedded(ReadingChecks):
    @pytest.fixture
    def metastore(self, embedded_metastore: Metastore) -> Metastore:
        return embedded_metastore


def test_planning_ten_thousand_partitions_takes_three_calls(embedded_metastore: Metastore) -> None:
    table = new_table(embedded_metastore, ("ds", "string"), ("n", "int"))
    add_partitions(embedded_metastore, table, *[(f"2024-{n % 7}", str(n)) for n in range(10_000)])
    before = embedded_metastore.calls.total().count
    found = embedded_metastore.reads.get_table(table.database, "t")
    assert found is not None
    predicate = TupleDomain.with_column_domains(
        {"n": Domain.create(ValueSet.of_ranges(pa.int32(), [Range.less_than(pa.int32(), 5000)]), False)}
    )
    names = embedded_metastore.reads.get_partition_names_by_filter(table.database, "t", predicate, found.partition_keys)
    partitions = embedded_metastore.reads.get_partitions_by_names(table.database, "t", names)
    assert len(partitions) == 5000
    assert embedded_metastore.calls.total().count - before == 3
