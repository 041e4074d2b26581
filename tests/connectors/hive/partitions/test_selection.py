"""Which partitions and files a scan reads, and at what cost."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, Table
from catalog.metastore.table_access import TableAccess
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import FileMissingError, NotSupportedError, ResourceError, UserError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connectors.hive import error_codes
from connectors.hive.connector import HiveConnector
from connectors.hive.partitions.selection import key_value
from tests.connectors.hive.reading import make_connector, make_session, open_metadata, scan_table
from tests.connectors.hive.table_writer import add_partition, create_table, storage

_KEYS = pa.table(
    {
        "id": pa.array(range(8), pa.int64()),
        "i": pa.array([1, 1, 2, -3, None, 5, 6, 7], pa.int32()),
        "d": pa.array([date(2024, 1, day + 1) for day in range(7)] + [None], pa.date32()),
        "s": ["a/b", "100%", "ü ñ", "x=y", None, "{}", "plain", "A.B-C_D[1]"],
        "m": pa.array([Decimal("1.50"), Decimal("-2.25"), None, *[Decimal(0)] * 5], pa.decimal128(5, 2)),
        "b": pa.array([True, False, None, True, True, True, True, True]),
    }
)


def _key_table(hive: HiveConnector, folder: Path) -> None:
    create_table(hive.metastore, folder, "s", "t", _KEYS, ["i", "d", "s", "m", "b"])


def _ids(hive: HiveConnector, **domains: Domain) -> tuple[list[int], int | None]:
    scan = scan_table(hive, "s", "t", ["id"], constraint=TupleDomain.with_column_domains(domains))
    assert scan.remaining.is_all
    return sorted(scan.rows["id"].to_pylist()), scan.summary.partitions_kept


def test_keys_of_all_types_come_back_typed(hive: HiveConnector, tmp_path: Path) -> None:
    _key_table(hive, tmp_path)
    rows = scan_table(hive, "s", "t", _KEYS.column_names).rows
    assert sorted(rows.to_pylist(), key=lambda row: row["id"]) == _KEYS.to_pylist()


@pytest.mark.parametrize(
    ("column", "domain", "ids"),
    [
        ("i", Domain.single_value(pa.int32(), 1), [0, 1]),
        ("i", Domain.only_null(pa.int32()), [4]),
        ("i", Domain.create(ValueSet.of_ranges(pa.int32(), [Range.less_than(pa.int32(), 2)]), True), [0, 1, 3, 4]),
        ("d", Domain.single_value(pa.date32(), date(2024, 1, 3)), [2]),
        ("d", Domain.not_null(pa.date32()), [0, 1, 2, 3, 4, 5, 6]),
        ("s", Domain.multiple_values(pa.string(), ["a/b", "100%", "{}"]), [0, 1, 5]),
        ("s", Domain.single_value(pa.string(), "__HIVE_DEFAULT_PARTITION__"), []),
        ("m", Domain.single_value(pa.decimal128(5, 2), Decimal("1.5")), [0]),
        ("b", Domain.single_value(pa.bool_(), False), [1]),
        ("s", Domain.only_null(pa.string()), [4]),
    ],
)
def test_a_filter_on_a_key_is_exact(
    hive: HiveConnector, tmp_path: Path, column: str, domain: Domain, ids: list[int]
) -> None:
    _key_table(hive, tmp_path)
    found, kept = _ids(hive, **{column: domain})
    assert found == ids
    assert kept == len(ids)


def test_system_tables_and_listing(hive: HiveConnector, tmp_path: Path) -> None:
    _key_table(hive, tmp_path)
    session = make_session(hive)
    name = SchemaTableName("s", "t")
    only_five = TupleDomain.with_column_domains({"i": Domain.single_value(pa.int32(), 5)})
    with open_metadata(hive, session) as metadata:
        handle = metadata.get_table_handle(session, name)
        assert handle is not None
        assert metadata.list_partitions(session, handle, only_five) == [(5, date(2024, 1, 6), "{}", Decimal(0), True)]
        partitions = metadata.get_system_table(session, SystemTableName(name, "partitions"))
        properties = metadata.get_system_table(session, SystemTableName(name, "properties"))
        assert metadata.get_system_table(session, SystemTableName(name, "snapshots")) is None
        assert partitions is not None
        assert properties is not None
        rows = pa.Table.from_batches(partitions.read(session, TupleDomain.all())).to_pylist()
        assert sorted(map(repr, rows)) == sorted(repr(row) for row in _KEYS.drop_columns(["id"]).to_pylist())
        assert partitions.metadata.name.table == "t$partitions"
        [told] = pa.Table.from_batches(properties.read(session, TupleDomain.all())).to_pylist()
    assert told["EXTERNAL"] == "TRUE"


def test_what_the_metastore_lets_us_do_with_a_table_is_shown(hive: HiveConnector, tmp_path: Path) -> None:
    _key_table(hive, tmp_path)
    session = make_session(hive)
    name = SchemaTableName("s", "t")
    entry = hive.metastore.reads.get_table("s", "t")
    assert entry is not None
    access = TableAccess(2, (), ("HIVEFULLACIDWRITE",))
    hive.metastore.writes.alter_table("s", "t", replace(entry, access=access))
    with open_metadata(hive, session) as metadata:
        handle = metadata.get_table_handle(session, name)
        properties = metadata.get_system_table(session, SystemTableName(name, "properties"))
        assert handle is not None
        assert properties is not None
        [row] = pa.Table.from_batches(properties.read(session, TupleDomain.all())).to_pylist()
        described = dict(metadata.get_table_metadata(session, handle).properties)
        with pytest.raises(NotSupportedError, match=r"'metastore\.access-type' of s\.t cannot be set"):
            metadata.set_table_properties(session, name, {"metastore.access-type": "read and write"})
    for told in (row, described):
        assert told["metastore.access-type"] == "read only"
        assert told["metastore.required-write-capabilities"] == "HIVEFULLACIDWRITE"
        assert "metastore.required-read-capabilities" not in told


def _register_many(hive: HiveConnector, folder: Path, count: int) -> None:
    """A table of many partitions; their folders are not there, but for the first ten."""
    data = pa.table({"id": pa.array([0], pa.int64()), "ds": ["0"], "hour": pa.array([0], pa.int32())})
    table = create_table(hive.metastore, folder, "s", "many", data, ["ds", "hour"])
    for hour in range(1, 10):
        add_partition(
            hive.metastore, table, ["0", str(hour)], pa.table({"id": pa.array([hour], pa.int64())}), "parquet"
        )
    partitions = [
        Partition(
            "s", "many", (str(n), "0"), replace(table.storage, location=f"{table.storage.location}/ds={n}/hour=0")
        )
        for n in range(1, count - 9)
    ]
    hive.metastore.writes.add_partitions("s", "many", partitions)


def test_ten_of_ten_thousand_partitions_cost_three_calls(hive: HiveConnector, tmp_path: Path) -> None:
    _register_many(hive, tmp_path, 10_000)
    before = hive.metastore.calls.total().count
    scan = scan_table(
        hive,
        "s",
        "many",
        ["id", "hour"],
        constraint=TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "0")}),
    )
    assert sorted(scan.rows["id"].to_pylist()) == list(range(10))
    assert (scan.summary.partitions_kept, scan.summary.partitions_total) == (10, 10_000)
    assert (scan.summary.files_kept, scan.summary.files_total) == (10, 10)
    assert hive.metastore.calls.total().count - before <= 3


@pytest.mark.parametrize("is_explained", [False, True])
def test_explain_counts_what_the_metastore_left_out(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_explained: bool
) -> None:
    """A metastore that filters names only what may match; EXPLAIN asks for all names, and not for both."""
    monkeypatch.setattr(MetastoreClient, "filters_partitions", lambda *_: True)
    _register_many(hive, tmp_path, 30)
    session = replace(make_session(hive), is_explained=is_explained)
    wanted = TupleDomain.with_column_domains({"ds": Domain.single_value(pa.string(), "0")})
    summary = scan_table(hive, "s", "many", ["id"], constraint=wanted, session=session).summary
    assert (summary.partitions_kept, summary.partitions_total) == (10, 30 if is_explained else None)
    assert "partitions found by the metastore" in summary.notes
    asked = [name for name in hive.metastore.calls.by_method() if name.startswith("get_partition_names")]
    assert asked == ["get_partition_names" if is_explained else "get_partition_names_by_filter"]


@pytest.mark.slow
def test_partitions_are_fetched_and_listed_while_splits_are_taken(hive: HiveConnector, tmp_path: Path) -> None:
    _register_many(hive, tmp_path, 8000)
    session = make_session(hive, ignore_absent_partitions=True)
    transaction = hive.begin_transaction(session)
    metadata = hive.get_metadata(transaction)
    handle = metadata.get_table_handle(session, SchemaTableName("s", "many"))
    assert handle is not None
    calls = hive.metastore.calls
    with hive.split_manager.get_splits(transaction, session, handle, (), TupleDomain.all()) as source:
        first = next(iter(source))
        assert len(first) == 10
        # A few batches ahead, not all eight.
        assert calls.by_method()["get_partitions_by_names"].count <= 6
    transaction.rollback()


def test_a_dynamic_filter_prunes_partitions(hive: HiveConnector, tmp_path: Path) -> None:
    _key_table(hive, tmp_path)
    learned = TupleDomain.with_column_domains({ColumnHandle("i", pa.int32()): Domain.single_value(pa.int32(), 2)})
    scan = scan_table(hive, "s", "t", ["id"], dynamic_filter=learned)
    assert scan.rows["id"].to_pylist() == [2]
    assert scan.summary.partitions_kept == 1


def test_hidden_columns_and_filters_on_them(hive: HiveConnector, tmp_path: Path) -> None:
    _key_table(hive, tmp_path)
    columns = ["id", "$path", "$partition", "$file_size", "$file_modified_time"]
    rows = scan_table(hive, "s", "t", columns).rows.to_pylist()
    for row in rows:
        file = Path(row["$path"].removeprefix("file://"))
        assert file.stat().st_size == row["$file_size"]
        since = row["$file_modified_time"] - datetime.fromtimestamp(0, UTC)
        assert file.stat().st_mtime_ns // 1_000_000 == since // timedelta(milliseconds=1)
        assert file.parent == tmp_path / "s" / "t" / row["$partition"]
    chosen = TupleDomain.with_column_domains({"$path": Domain.single_value(pa.string(), rows[0]["$path"])})
    scan = scan_table(hive, "s", "t", ["id"], constraint=chosen)
    assert scan.rows["id"].to_pylist() == [rows[0]["id"]]
    assert (scan.summary.files_kept, scan.summary.files_total) == (1, 8)


def test_a_partition_without_a_folder_is_named_or_ignored(hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"id": pa.array([1, 2], pa.int64()), "p": ["x", "y"]})
    create_table(hive.metastore, tmp_path, "s", "t", data, ["p"])
    (tmp_path / "s/t/p=x/000000_0").unlink()
    (tmp_path / "s/t/p=x").rmdir()
    with pytest.raises(FileMissingError, match=r"partition p=x of s\.t does not exist: .*p=x") as caught:
        scan_table(hive, "s", "t")
    assert caught.value.code.name == "HIVE_MISSING_PARTITION_FOLDER"
    assert scan_table(hive, "s", "t", session=make_session(hive, ignore_absent_partitions=True)).rows.num_rows == 1


def test_too_many_partitions_are_refused(tmp_path: Path) -> None:
    hive = make_connector(tmp_path, hive_max__partitions__per__scan="2")
    create_table(
        hive.metastore,
        tmp_path,
        "s",
        "t",
        pa.table({"id": pa.array([1, 2, 3], pa.int64()), "p": ["x", "y", "z"]}),
        ["p"],
    )
    with pytest.raises(ResourceError, match=r"3 partitions of s\.t") as caught:
        scan_table(hive, "s", "t")
    assert caught.value.code.name == "HIVE_EXCEEDED_PARTITION_LIMIT"
    few = TupleDomain.with_column_domains({"p": Domain.multiple_values(pa.string(), ["x", "y"])})
    assert scan_table(hive, "s", "t", constraint=few).rows.num_rows == 2
    hive.shutdown()


def test_a_key_that_is_no_value_of_its_type_is_null_as_in_hive(hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"id": pa.array([1], pa.int64()), "p": pa.array([1], pa.int32())})
    table = create_table(hive.metastore, tmp_path, "s", "t", data, ["p"])
    for number, text in ((2, "abc"), (3, "7.9"), (4, " 7"), (5, "007"), (6, "99999999999")):
        add_partition(hive.metastore, table, [text], pa.table({"id": pa.array([number], pa.int64())}), "parquet")
    rows = scan_table(hive, "s", "t").rows.to_pylist()
    assert {row["id"]: row["p"] for row in rows} == {1: 1, 2: None, 3: 7, 4: None, 5: 7, 6: None}
    for domain, ids in (
        (Domain.only_null(pa.int32()), [2, 4, 6]),
        (Domain.single_value(pa.int32(), 7), [3, 5]),
        (Domain.not_null(pa.int32()), [1, 3, 5]),
    ):
        scan = scan_table(hive, "s", "t", ["id"], constraint=TupleDomain.with_column_domains({"p": domain}))
        assert sorted(scan.rows["id"].to_pylist()) == ids


# What Hive 4.0.1 makes of texts is kept in hive_coercions.json; these are of each type.
@pytest.mark.parametrize(
    ("hive_type", "text", "value"),
    [
        ("boolean", "false", False),
        ("boolean", "no", False),
        ("boolean", "x", True),
        ("double", "1e3", 1000.0),
        ("double", "1d", 1.0),
        ("double", "x", None),
        ("decimal(10,2)", "1.005", Decimal("1.01")),
        ("decimal(3,1)", "123.4", None),
        ("date", "2024-02-29x", date(2024, 2, 29)),
        ("date", "2023-02-29", None),
        ("timestamp", "2024-02-29", datetime(2024, 2, 29)),
        ("timestamp", "2024-02-29T10:11:12.5 UTC", datetime(2024, 2, 29, 10, 11, 12, 500000)),
        ("timestamp", "12", None),
        ("string", " a ", " a "),
        ("string", "__HIVE_DEFAULT_PARTITION__", None),
        ("binary", "ä", "ä".encode()),
    ],
)
def test_texts_of_keys_are_values_as_in_hive(hive_type: str, text: str, value: object) -> None:
    found = key_value(text, parse_hive_type(hive_type), "k")
    assert found == value
    assert type(found) is type(value)


def test_char_keys_are_padded_and_compared_so(hive: HiveConnector, tmp_path: Path) -> None:
    location = tmp_path / "s" / "t"
    hive.metastore.writes.create_database(Database("s"))
    table = Table(
        "s",
        "t",
        storage([FieldSchema("id", "bigint")], location, "parquet"),
        (FieldSchema("c", "char(3)"),),
        Parameters.of({"EXTERNAL": "TRUE"}),
        "EXTERNAL_TABLE",
    )
    hive.metastore.writes.create_table(table)
    for number, text in enumerate(["a", "abc"]):
        rows = pa.table({"id": pa.array([number], pa.int64())})
        add_partition(hive.metastore, table, [text], rows, "parquet")
    rows = scan_table(hive, "s", "t", ["id", "c"]).rows.to_pylist()
    assert sorted(row["c"] for row in rows) == ["a  ", "abc"]
    assert _ids(hive, c=Domain.single_value(pa.string(), "a  ")) == ([0], 1)


def test_statistics_add_up_the_partitions_that_are_left(hive: HiveConnector, tmp_path: Path) -> None:
    data = pa.table({"id": pa.array(range(10), pa.int64()), "p": ["x"] * 7 + ["y"] * 3})
    create_table(hive.metastore, tmp_path, "s", "t", data, ["p"])
    session = make_session(hive)
    with open_metadata(hive, session) as metadata:
        handle = metadata.get_table_handle(session, SchemaTableName("s", "t"))
        assert handle is not None
        assert metadata.get_table_statistics(session, handle).row_count == 10
        chosen = replace(
            handle,
            constraint=TupleDomain.with_column_domains(
                {ColumnHandle("p", pa.string()): Domain.single_value(pa.string(), "y")}
            ),
        )
        assert metadata.get_table_statistics(session, chosen).row_count == 3


def test_a_filter_on_a_key_may_be_required(tmp_path: Path) -> None:
    required = {
        "hive.query-partition-filter-required": "true",
        "hive.query-partition-filter-required-schemas": "Strict",
    }
    hive = make_connector(tmp_path, **required)
    for schema in ("strict", "lax"):
        create_table(hive.metastore, tmp_path, schema, "t", _KEYS, ["i", "s"])
    only_five = TupleDomain.with_column_domains({"i": Domain.single_value(pa.int32(), 5)})
    only_id = TupleDomain.with_column_domains({"id": Domain.single_value(pa.int64(), 5)})
    assert scan_table(hive, "strict", "t", ["id"], constraint=only_five).rows["id"].to_pylist() == [5]
    assert scan_table(hive, "lax", "t", ["id"]).rows.num_rows == 8
    for constraint in (TupleDomain.all(), only_id):
        with pytest.raises(UserError, match="at least one of i, s") as caught:
            scan_table(hive, "strict", "t", ["id"], constraint=constraint)
        assert caught.value.code == error_codes.HIVE_PARTITION_FILTER_REQUIRED
    hive.shutdown()
