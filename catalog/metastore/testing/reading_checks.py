"""What every metastore answers, whatever it is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from catalog.metastore import error_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, FieldSchema, Partition, StorageDescriptor, Table
from catalog.metastore.testing.base import MetastoreConformanceBase
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_database, new_table
from connector_spi.errors import MetastoreError, SchemaNotFoundError, TableNotFoundError
from connector_spi.partition_names import DEFAULT_PARTITION
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet

__all__ = ["ReadingChecks"]


def _equals(arrow: pa.DataType, *values: object) -> Domain:
    return Domain.multiple_values(arrow, list(values))  # type: ignore[arg-type]  # values of tests


class ReadingChecks(MetastoreConformanceBase):
    """Databases, tables, partitions, filters and statistics come back as they were made."""

    def test_default_database_is_there(self, metastore: Metastore) -> None:
        assert "default" in metastore.reads.get_databases()
        found = metastore.reads.get_database("DEFAULT")
        assert found is not None
        assert found.location is not None

    def test_database_comes_back_as_made(self, metastore: Metastore) -> None:
        name = new_database(metastore)
        found = metastore.reads.get_database(name.upper())
        assert found is not None
        assert (found.name, found.description) == (name, "for a test")
        assert dict(found.parameters) == {"k": "v"}
        assert found.location is not None
        assert found.location.endswith(f"{name}.db")
        databases = metastore.reads.get_databases()
        assert name in databases
        assert databases == sorted(databases)

    def test_missing_things_are_none_or_not_found(self, metastore: Metastore) -> None:
        reads, writes = metastore.reads, metastore.writes
        assert reads.get_database("no_such") is None
        assert reads.get_table("no_such", "t") is None
        assert reads.get_table("default", "no_such") is None
        with pytest.raises(SchemaNotFoundError, match="no_such"):
            reads.get_table_names("no_such")
        with pytest.raises(SchemaNotFoundError, match="no_such"):
            writes.create_table(Table("no_such", "t", STORAGE))
        with pytest.raises(SchemaNotFoundError, match="no_such"):
            writes.drop_database("no_such")
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_partition_names("default", "no_such")
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_partition_names_by_filter("default", "no_such", TupleDomain.all())
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_partition_names_by_filter("default", "no_such", TupleDomain.none())
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_partitions_by_names("default", "no_such", ["p=1"])
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_table_statistics("default", "no_such", ["id"])
        with pytest.raises(TableNotFoundError, match="no_such"):
            reads.get_partition_statistics("default", "no_such", ["p=1"], ["id"])
        with pytest.raises(TableNotFoundError, match="no_such"):
            writes.drop_table("default", "no_such")
        with pytest.raises(TableNotFoundError, match="no_such"):
            writes.add_partitions("default", "no_such", [Partition("default", "no_such", ("1",), STORAGE)])

    def test_tables_come_at_once(self, metastore: Metastore) -> None:
        database = new_database(metastore)
        for name in ("a", "b", "c"):
            metastore.writes.create_table(Table(database, name, STORAGE))
        found = metastore.reads.get_tables(database.upper(), ["A", "c", "no_such"])
        assert sorted(table.name for table in found) == ["a", "c"]
        for table in found:
            alone = metastore.reads.get_table(database, table.name)
            # What a client may do, Hive 4 says of single tables only.
            assert alone is not None
            assert table == replace(alone, access=table.access)
        assert metastore.reads.get_tables(database, []) == []
        assert metastore.reads.get_tables("no_such", ["a"]) == []

    def test_table_comes_back_as_made(self, metastore: Metastore, makes_managed_tables: bool) -> None:
        database = new_database(metastore)
        made = Table(
            database,
            "Orders",
            STORAGE,
            (FieldSchema("ds", "string", "day"), FieldSchema("n", "int")),
            owner="ann",
            create_time=1_700_000_000,
        )
        metastore.writes.create_table(made)
        assert metastore.reads.get_table_names(database.upper()) == ["orders"]
        found = metastore.reads.get_table(database.upper(), "ORDERS")
        assert found is not None
        assert found.storage.location is not None
        assert found.storage.location.endswith(f"{database}.db/orders")
        assert found.partition_keys == made.partition_keys
        assert (found.database, found.name, found.owner) == (database, "orders", "ann")
        if makes_managed_tables:
            assert found.table_type == "MANAGED_TABLE"
        else:
            # Hive 4's MetastoreDefaultTransformer, whose files go with the table all the same.
            assert found.table_type == "EXTERNAL_TABLE"
            assert found.parameters["TRANSLATED_TO_EXTERNAL"] == "TRUE"
            assert found.parameters["external.table.purge"] == "TRUE"
        without_location = StorageDescriptor(
            **{name: getattr(found.storage, name) for name in StorageDescriptor.__slots__ if name != "location"}
        )
        assert without_location == STORAGE
        with pytest.raises(MetastoreError) as raised:
            metastore.writes.create_table(made)
        assert raised.value.code == error_codes.ALREADY_EXISTS

    def test_external_table_keeps_its_place(
        self, metastore: Metastore, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        database = new_database(metastore)
        location = tmp_path_factory.mktemp("outside").as_uri()
        storage = StorageDescriptor(columns=(FieldSchema("a", "int"),), location=location)
        metastore.writes.create_table(Table(database, "t", storage, table_type="EXTERNAL_TABLE"))
        found = metastore.reads.get_table(database, "t")
        assert found is not None
        assert found.table_type == "EXTERNAL_TABLE"
        assert found.parameters["EXTERNAL"] == "TRUE"
        assert found.storage.location is not None
        assert found.storage.location.removeprefix("file:").lstrip("/") == location.removeprefix("file:").lstrip("/")
        assert not found.is_view

    def test_view_has_its_text_and_no_location(self, metastore: Metastore) -> None:
        database = new_database(metastore)
        view = Table(
            database,
            "v",
            StorageDescriptor(columns=(FieldSchema("a", "int"),)),
            table_type="VIRTUAL_VIEW",
            view_original_text="select 1 a",
            view_expanded_text="select 1 as `a`",
        )
        metastore.writes.create_table(view)
        found = metastore.reads.get_table(database, "v")
        assert found is not None
        assert found.is_view
        assert (found.view_original_text, found.view_expanded_text) == ("select 1 a", "select 1 as `a`")
        assert found.storage.location is None

    def test_dropping_a_database_with_tables_wants_cascade(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, ("1",))
        with pytest.raises(MetastoreError):
            metastore.writes.drop_database(table.database)
        metastore.writes.drop_database(table.database, cascade=True)
        assert metastore.reads.get_database(table.database) is None
        assert metastore.reads.get_table(table.database, "t") is None

    def test_dropped_table_leaves_nothing_to_its_successor(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, ("1",))
        metastore.writes.set_table_statistics(
            table.database,
            "t",
            [ColumnStatistics(column="id", type="bigint", null_count=0, distinct_count=1, low=2, high=3)],
        )
        metastore.writes.drop_table(table.database, "T")
        assert metastore.reads.get_table_names(table.database) == []
        metastore.writes.create_table(Table(table.database, "t", STORAGE, table.partition_keys))
        assert metastore.reads.get_partition_names(table.database, "t") == []
        assert metastore.reads.get_table_statistics(table.database, "t", ["id"]) == []

    def test_partitions_come_back_in_the_order_of_the_names(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("ds", "string"), ("n", "int"))
        add_partitions(metastore, table, ("2024-01-02", "1"), ("a b/c=d%", "2"), ("2024-01-01", "3"))
        names = metastore.reads.get_partition_names(table.database, "t")
        assert names == ["ds=2024-01-01/n=3", "ds=2024-01-02/n=1", "ds=a b%2Fc%3Dd%25/n=2"]
        wanted = [names[2], "ds=gone/n=9", names[0], names[2]]
        found = metastore.reads.get_partitions_by_names(table.database, "t", wanted)
        assert [one.values for one in found] == [("a b/c=d%", "2"), ("2024-01-01", "3"), ("a b/c=d%", "2")]
        assert found[0].storage.columns == STORAGE.columns
        assert found[0].storage.location == f"{table.storage.location}/{names[2]}"
        assert found[0].create_time > 0
        assert metastore.reads.get_partitions_by_names(table.database, "t", ["ds=gone/n=9"]) == []

    def test_adding_a_partition_twice_adds_none(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, ("1",))
        with pytest.raises(MetastoreError) as raised:
            add_partitions(metastore, table, ("2",), ("1",))
        assert raised.value.code == error_codes.ALREADY_EXISTS
        assert metastore.reads.get_partition_names(table.database, "t") == ["p=1"]

    @pytest.mark.parametrize(
        ("domains", "expected"),
        [
            ({"ds": _equals(pa.string(), "2024-01-01")}, {"1", "01"}),
            ({"ds": _equals(pa.string(), "x+(y)")}, {"4"}),
            ({"ds": _equals(pa.string(), "a b/c"), "n": _equals(pa.int32(), 3)}, {"3"}),
            ({"ds": _equals(pa.string(), "A.B")}, {"5"}),
            ({"n": _equals(pa.int32(), 1)}, {"1", "01"}),
            ({"ds": _equals(pa.string(), "2024-01-02", "nowhere")}, {"2"}),
            ({"ds": _equals(pa.string(), "nowhere")}, set()),
            ({"ds": Domain.only_null(pa.string())}, {"6"}),
            (
                {"n": Domain.create(ValueSet.of_ranges(pa.int32(), [Range.greater_than(pa.int32(), 3)]), False)},
                {"4", "5", "6"},
            ),
            ({"other": _equals(pa.int32(), 3)}, {"1", "01", "2", "3", "4", "5", "6"}),
        ],
    )
    @pytest.mark.parametrize("tell_keys", [True, False])
    def test_filter_keeps_what_may_match(
        self, metastore: Metastore, domains: dict[str, Domain], expected: set[str], tell_keys: bool
    ) -> None:
        table = new_table(metastore, ("ds", "string"), ("n", "int"))
        values = [("2024-01-01", "1"), ("2024-01-01", "01"), ("2024-01-02", "2"), ("a b/c", "3"), ("x+(y)", "4")]
        add_partitions(metastore, table, *values, ("A.B", "5"), (DEFAULT_PARTITION, "6"))
        predicate = TupleDomain.with_column_domains(domains)
        keys = table.partition_keys if tell_keys else ()
        names = metastore.reads.get_partition_names_by_filter(table.database, "t", predicate, keys)
        assert {name.rpartition("=")[2] for name in names} == expected
        assert names == sorted(names)

    def test_statistics_of_every_type_come_back(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, ("1",), ("2",))
        statistics = [
            ColumnStatistics("i", "bigint", 1, 2, low=-(2**63), high=2**63 - 1),
            ColumnStatistics("d", "double", 0, 3, low=-1.5, high=2.5),
            ColumnStatistics("s", "string", 4, 5, average_length=2.5, max_length=9),
            ColumnStatistics("b", "binary", 6, average_length=1.0, max_length=1),
            ColumnStatistics("t", "boolean", 7, true_count=8, false_count=9),
            ColumnStatistics("c", "decimal(12,2)", 0, 2, low=Decimal("-1234567890.12"), high=Decimal("0.05")),
            ColumnStatistics("a", "date", 0, 2, low=date(1969, 12, 31), high=date(2024, 2, 29)),
            ColumnStatistics(
                "m", "timestamp", 0, 2, low=datetime(1969, 1, 1), high=datetime.fromisoformat("2024-02-29 01:02:03")
            ),
        ]
        database = new_database(metastore)
        columns = tuple(FieldSchema(one.column, one.type) for one in statistics)
        keys = (FieldSchema("p", "int"),)
        for name in ("flat", "parted"):
            storage = StorageDescriptor(columns=columns)
            metastore.writes.create_table(Table(database, name, storage, keys if name == "parted" else ()))
        partitions = [Partition(database, "parted", (str(n),), StorageDescriptor(columns=columns)) for n in range(3)]
        metastore.writes.add_partitions(database, "parted", partitions)
        metastore.writes.set_table_statistics(database, "flat", statistics)
        metastore.writes.set_partition_statistics(database, "parted", {"p=1": statistics, "p=0": statistics[:1]})
        wanted = [one.column for one in reversed(statistics)]
        assert metastore.reads.get_table_statistics(database, "flat", wanted) == statistics[::-1]
        assert metastore.reads.get_table_statistics(database, "parted", wanted) == []
        found = metastore.reads.get_partition_statistics(database, "parted", ["p=2", "p=1", "p=0"], wanted)
        assert dict(found) == {"p=1": statistics[::-1], "p=0": statistics[:1]}

    def test_ten_threads_at_once(self, metastore: Metastore) -> None:
        table = new_table(metastore, ("p", "int"))
        add_partitions(metastore, table, *[(str(n),) for n in range(40)])
        names = metastore.reads.get_partition_names(table.database, "t")

        def ask(thread: int) -> list[list[str]]:
            answers = []
            for turn in range(8):
                some = names[(thread + turn) % 20 :][:10]
                found = metastore.reads.get_partitions_by_names(table.database, "t", some)
                answers.append([f"p={one.values[0]}" for one in found])
                assert metastore.reads.get_table(table.database, "t") == table
                assert answers[-1] == some
            return answers

        with ThreadPoolExecutor(10) as pool:
            assert sum(len(answers) for answers in pool.map(ask, range(10))) == 80
