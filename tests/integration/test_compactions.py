"""Compactions that real metastores of Hive are asked for, as another client sees them. No worker runs there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pymetastore.hive_metastore import ttypes

from catalog.metastore.compactions import CompactionKind, RequestedCompaction
from connector_spi.errors import MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.predicate import Value
from connector_spi.schema import ColumnMetadata
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive import error_codes
from connectors.hive.transactions.compactions import compact_procedure
from tests.connectors.hive.compaction.compacting import call
from tests.connectors.hive.reading import make_session
from tests.integration.conftest import RunningRelease
from tests.integration.servers import RELEASES
from tests.integration.test_transactional_inserts import Warehouse, opened_warehouse, warehouse
from tests.integration.test_transactions import make_hive

__all__ = ["warehouse"]

_ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "ds": ["a", "b"]})


def compact(warehouse: Warehouse, table: str, **given: Value) -> dict[str, object]:
    procedure = compact_procedure(warehouse.hive.metastore)
    defaults = {one.name: one.default for one in procedure.arguments}
    arguments = {**defaults, "schema_name": warehouse.schema, "table_name": table, **given}
    [row] = procedure.function(make_session(warehouse.hive), arguments).to_pylist()
    return dict(row)


def shown(warehouse: Warehouse, table: str) -> list[tuple[str | None, int, str]]:
    found = warehouse.other.show_compact(ttypes.ShowCompactRequest()).compacts
    of = [one for one in found if (one.dbname, one.tablename) == (warehouse.schema, table)]
    return sorted((one.partitionname, one.type, one.state) for one in of)


@pytest.fixture
def each_release(metastore_release: RunningRelease, tmp_path: Path) -> Iterator[Warehouse]:
    with opened_warehouse(metastore_release, tmp_path) as opened:
        yield opened


def test_every_release_keeps_the_list(metastore_release: RunningRelease) -> None:
    hive = make_hive(metastore_release.uri)
    client, schema = hive.metastore.transactions, f"c{uuid4().hex[:8]}"
    made = client.request_compaction(schema, "t", "ds=a", CompactionKind.MINOR)
    assert (made.state, made.accepted) == ("initiated", True)
    again = client.request_compaction(schema, "t", "ds=a", CompactionKind.MINOR)
    assert again == RequestedCompaction(made.compaction, "initiated", accepted=False)
    later = client.request_compaction(schema, "t", "ds=b", CompactionKind.MAJOR)
    client.request_compaction(schema, "other", None, CompactionKind.MAJOR)
    found = [(one.compaction, one.partition, one.kind, one.state) for one in client.show_compactions(schema, "T")]
    assert found == [
        (later.compaction, "ds=b", "major", "initiated"),
        (made.compaction, "ds=a", "minor", "initiated"),
    ]
    assert [one.partition for one in client.show_compactions(schema, "other")] == [None]
    hive.shutdown()


def test_another_client_sees_what_was_asked_for(warehouse: Warehouse) -> None:
    for name, keys in (("flat", ()), ("parted", ("ds",))):
        insert_rows(warehouse.hive, warehouse.create(name, keys), [_ROWS])
    assert compact(warehouse, "flat")["accepted"] is True
    assert compact(warehouse, "flat", type="minor")["accepted"] is False
    assert compact(warehouse, "parted", partition="ds=b", type="minor")["accepted"] is True
    assert shown(warehouse, "flat") == [(None, ttypes.CompactionType.MAJOR, "initiated")]
    assert shown(warehouse, "parted") == [("ds=b", ttypes.CompactionType.MINOR, "initiated")]


def test_a_wait_ends(warehouse: Warehouse) -> None:
    insert_rows(warehouse.hive, warehouse.create("waiting"), [_ROWS])
    with pytest.raises(MetastoreError, match="is initiated after 1 s, by worker None") as raised:
        compact(warehouse, "waiting", wait=True, max_wait_seconds=1)
    assert raised.value.code == error_codes.HIVE_COMPACTION_FAILED
    assert shown(warehouse, "waiting") == [(None, ttypes.CompactionType.MAJOR, "initiated")]


def test_compactions_of_our_own(warehouse: Warehouse) -> None:
    """Hive 3 has no calls for it, and nothing stays asked for; Hive 4 counts ours among its own."""
    name = warehouse.create("own")
    for start in (1, 3):
        insert_rows(
            warehouse.hive, name, [pa.table({"id": pa.array([start, start + 1], pa.int64()), "ds": ["a", "b"]})]
        )
    before = warehouse.rows(name)
    given = {"schema_name": warehouse.schema, "table_name": "own", "type": "major"}
    if warehouse.old:
        with pytest.raises(NotSupportedError, match="they came with Hive 4"):
            call(warehouse.hive, "run_compaction", **given)
        assert shown(warehouse, "own") == []
        return
    [made] = call(warehouse.hive, "run_compaction", **given)
    assert (made["state"], made["rows"]) == ("ready for cleaning", 4)
    assert shown(warehouse, "own") == [(None, ttypes.CompactionType.MAJOR, "ready for cleaning")]
    assert warehouse.rows(name) == before
    [cleaned] = call(warehouse.hive, "run_clean", schema_name=warehouse.schema, table_name="own")
    assert (cleaned["state"], cleaned["reason"], cleaned["deleted"]) == ("succeeded", None, 2)
    assert shown(warehouse, "own") == [(None, ttypes.CompactionType.MAJOR, "succeeded")]
    assert warehouse.rows(name) == before


def two_rows(start: int) -> pa.Table:
    """A row of each of two partitions."""
    return pa.table({"id": pa.array([start, start + 1], pa.int64()), "ds": ["a", "b"]})


def define(warehouse: Warehouse, kind: str) -> SchemaTableName:
    """A table where the metastore wants tables of its own to be."""
    name = SchemaTableName(warehouse.schema, kind)
    columns = (ColumnMetadata("id", pa.int64()), ColumnMetadata("ds", pa.string()))
    properties = (("transactional", "true"), ("transactional_properties", kind))
    with ReferenceQuery(warehouse.hive) as query:
        assert isinstance(query.metadata, SupportsTableDefinition)
        definition = TableDefinition(name, columns, ("ds",), provider="orc", properties=properties)
        query.metadata.create_table(query.session, definition)
    return name


@pytest.mark.parametrize("metastore_release", RELEASES[2:], ids=lambda release: release.version, indirect=True)
def test_compactions_of_our_own_in_newer_releases(each_release: Warehouse) -> None:
    given = {"schema_name": each_release.schema}
    for kind in ("insert_only", "default"):
        name = define(each_release, kind)
        given |= {"table_name": name.table, "partition": "ds=a"}
        insert_rows(each_release.hive, name, [two_rows(1)])
        for count, made_of in ((2, "minor"), (3, "major")):
            insert_rows(each_release.hive, name, [two_rows(2 * count - 1)])
            before = each_release.rows(name)
            [made] = call(each_release.hive, "run_compaction", **given, type=made_of)
            # Files of insert-only tables are copied, and no rows counted.
            assert (made["state"], made["rows"]) == ("ready for cleaning", count if kind == "default" else None), made
            assert each_release.rows(name) == before
            [cleaned] = call(each_release.hive, "run_clean", schema_name=name.schema, table_name=name.table)
            assert (cleaned["state"], cleaned["reason"]) == ("succeeded", None)
            assert each_release.rows(name) == before
        kinds = [ttypes.CompactionType.MINOR, ttypes.CompactionType.MAJOR]
        assert sorted(shown(each_release, name.table)) == sorted(("ds=a", one, "succeeded") for one in kinds)
        insert_rows(each_release.hive, name, [pa.table({"id": pa.array([7], pa.int64()), "ds": ["a"]})])
        assert [row["id"] for row in each_release.rows(name)] == [1, 2, 3, 4, 5, 6, 7]
