"""What every metastore changes, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from catalog.metastore import error_codes
from catalog.metastore.factory import Metastore
from catalog.metastore.model import ColumnStatistics, Database, FieldSchema, Parameters, Table
from catalog.metastore.testing.base import MetastoreConformanceBase
from catalog.metastore.testing.objects import STORAGE, add_partitions, new_database, new_table
from connector_spi.errors import MetastoreError, SchemaNotFoundError, TableNotFoundError

__all__ = ["WritingChecks"]

_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


class WritingChecks(MetastoreConformanceBase):
    """Databases, tables and partitions that are changed, renamed and dropped."""

    def test_a_changed_database(self, metastore: Metastore) -> None:
        name = new_database(metastore)
        before = metastore.reads.get_database(name)
        assert before is not None
        # Hive 2 and 3 do not change the description.
        metastore.writes.alter_database(replace(before, parameters=Parameters.of({"a": "b"})))
        after = metastore.reads.get_database(name)
        assert after is not None
        assert (after.description, dict(after.parameters), after.location) == (
            "for a test",
            {"a": "b"},
            before.location,
        )
        with pytest.raises(SchemaNotFoundError, match="no_such"):
            metastore.writes.alter_database(Database("no_such", "x"))

    def test_a_changed_table_keeps_partitions_and_statistics(self, metastore: Metastore) -> None:
        made = new_table(metastore, ("ds", "string"))
        add_partitions(metastore, made, ("a",), ("b",))
        statistics = {"ds=a": [ColumnStatistics("id", "bigint", null_count=1, distinct_count=2)]}
        metastore.writes.set_partition_statistics(made.database, "t", statistics)
        made = _table(metastore, made.database)
        columns = (FieldSchema("id", "bigint", "other words"), *made.storage.columns[1:])
        changed = replace(
            made,
            storage=replace(made.storage, columns=columns),
            parameters=made.parameters.with_entries({"comment": "of it"}),
        )
        metastore.writes.alter_table(made.database, "T", changed)
        after = _table(metastore, made.database)
        assert after.storage.columns[0].comment == "other words"
        assert after.parameters["comment"] == "of it"
        assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a", "ds=b"]
        assert metastore.reads.get_partition_statistics(made.database, "t", ["ds=a"], ["id"])["ds=a"][0].null_count == 1

    def test_a_renamed_table(self, metastore: Metastore) -> None:
        made = replace(new_table(metastore, ("ds", "string")), table_type="EXTERNAL_TABLE")
        add_partitions(metastore, made, ("a",))
        metastore.writes.alter_table(made.database, "t", replace(_table(metastore, made.database), name="u"))
        assert metastore.reads.get_table_names(made.database) == ["u"]
        assert metastore.reads.get_partition_names(made.database, "u") == ["ds=a"]
        metastore.writes.create_table(Table(made.database, "t", STORAGE))
        with pytest.raises(MetastoreError):
            metastore.writes.alter_table(made.database, "t", replace(_table(metastore, made.database), name="u"))
        with pytest.raises(TableNotFoundError, match="no_such"):
            metastore.writes.alter_table(made.database, "no_such", made)

    @pytest.mark.parametrize("kind", [{}, _INSERT_ONLY], ids=["plain", "insert_only"])
    def test_the_planned_location_is_where_a_table_is_made(
        self, metastore: Metastore, has_write_ids: bool, kind: Mapping[str, str], tmp_path: Path
    ) -> None:
        if kind and not has_write_ids:
            return
        own = new_table(metastore).database
        elsewhere = f"e{uuid4().hex[:12]}"
        metastore.writes.create_database(Database(elsewhere, location=(tmp_path / "own").as_uri()))
        for database in (own, elsewhere):
            storage = replace(STORAGE, location=None)
            table = Table(database, "Planned", storage, parameters=Parameters.of(kind), table_type="MANAGED_TABLE")
            planned = metastore.writes.planned_location(table)
            assert metastore.reads.get_table(database, "planned") is None
            metastore.writes.create_table(table)
            found = metastore.reads.get_table(database, "planned")
            assert found is not None
            assert _path(found.storage.location) == _path(planned)
        with pytest.raises(SchemaNotFoundError, match="no_such"):
            metastore.writes.planned_location(replace(table, database="no_such"))

    def test_changed_properties_of_partitions(self, metastore: Metastore) -> None:
        made = new_table(metastore, ("ds", "string"))
        add_partitions(metastore, made, ("a/b",), ("c",))
        statistics = {"ds=c": [ColumnStatistics("id", "bigint", null_count=1, distinct_count=2)]}
        metastore.writes.set_partition_statistics(made.database, "t", statistics)
        before = metastore.reads.get_partitions_by_names(made.database, "t", ["ds=a%2Fb", "ds=c"])
        entries = Parameters.of({"numRows": "7", "k": "v"})
        metastore.writes.set_partition_parameters(made.database, "T", {"ds=c": entries})
        after = metastore.reads.get_partitions_by_names(made.database, "t", ["ds=a%2Fb", "ds=c"])
        assert after[0] == before[0]
        assert {key: after[1].parameters.get(key) for key in entries} == dict(entries)
        assert after[1].storage == before[1].storage
        assert metastore.reads.get_partition_statistics(made.database, "t", ["ds=c"], ["id"])["ds=c"][0].null_count == 1
        with pytest.raises(MetastoreError, match="gone"):
            metastore.writes.set_partition_parameters(made.database, "t", {"ds=c": Parameters(), "ds=gone": entries})
        again = metastore.reads.get_partitions_by_names(made.database, "t", ["ds=c"])
        assert again == after[1:]
        with pytest.raises(TableNotFoundError, match="no_such"):
            metastore.writes.set_partition_parameters(made.database, "no_such", {"ds=c": entries})

    def test_statistics_of_infinite_values(self, metastore: Metastore) -> None:
        """A metastore may have no bounds of them; what else is known it takes."""
        database = new_database(metastore)
        storage = replace(STORAGE, columns=(FieldSchema("d", "double"),), bucket_columns=(), sort_columns=())
        metastore.writes.create_table(Table(database, "t", storage))
        infinite = ColumnStatistics("d", "double", null_count=1, distinct_count=2, low=float("-inf"), high=1.0)
        metastore.writes.set_table_statistics(database, "t", [infinite])
        [found] = metastore.reads.get_table_statistics(database, "t", ["d"])
        assert (found.null_count, found.distinct_count) == (1, 2)
        assert (found.low, found.high) in ((None, None), (float("-inf"), 1.0))

    def test_dropped_statistics(self, metastore: Metastore) -> None:
        made = new_table(metastore, ("ds", "string"))
        add_partitions(metastore, made, ("a/b",), ("c",), ("d",))
        some = [ColumnStatistics(one.name, one.type, 1, 2) for one in made.storage.columns[:2]]
        names, columns = ["ds=a%2Fb", "ds=c", "ds=d"], [one.name for one in made.storage.columns]
        metastore.writes.set_table_statistics(made.database, "t", some)
        metastore.writes.set_partition_statistics(made.database, "t", {names[0]: some, names[1]: some[:1]})
        metastore.writes.set_partition_statistics(made.database, "t", {names[2]: some})
        gone = [names[0], names[1], "ds=never"]
        for _ in range(2):
            metastore.writes.drop_partition_statistics(made.database, "T", columns, gone)
        assert metastore.reads.get_partition_statistics(made.database, "t", names, columns).keys() == {names[2]}
        assert len(metastore.reads.get_table_statistics(made.database, "t", columns)) == len(some)
        for _ in range(2):
            metastore.writes.drop_table_statistics(made.database, "T", columns)
        assert metastore.reads.get_table_statistics(made.database, "t", columns) == []
        assert metastore.reads.get_partition_statistics(made.database, "t", names, columns).keys() == {names[2]}

    def test_dropped_partitions(self, metastore: Metastore) -> None:
        made = new_table(metastore, ("ds", "string"), ("n", "int"))
        add_partitions(metastore, made, ("a/b", "1"), ("a/b", "2"), ("c", "1"))
        metastore.writes.drop_partitions(made.database, "t", ["ds=a%2Fb/n=1", "ds=c/n=1"])
        assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a%2Fb/n=2"]
        with pytest.raises(MetastoreError) as met:
            metastore.writes.drop_partitions(made.database, "t", ["ds=a%2Fb/n=2", "ds=gone/n=1"])
        assert met.value.code == error_codes.REFUSED_REQUEST
        assert metastore.reads.get_partition_names(made.database, "t") == ["ds=a%2Fb/n=2"]
        with pytest.raises(TableNotFoundError, match="no_such"):
            metastore.writes.drop_partitions(made.database, "no_such", ["ds=a/n=1"])


def _table(metastore: Metastore, database: str, name: str = "t") -> Table:
    found = metastore.reads.get_table(database, name)
    assert found is not None
    return found


def _path(location: str | None) -> str:
    """A local path; metastores write ``file:/`` and ``file:///``."""
    return urlsplit(str(location)).path.rstrip("/")
