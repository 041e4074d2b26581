"""Compactions without Hive: files as Hive's compactor makes them, the same rows before, meanwhile and after."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from connector_spi.errors import MetastoreError, UserError
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive.compaction import keyed_file
from connectors.hive.connector import HiveConnector
from connectors.toolkit.orc.footer import read_orc_footer
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.compaction.compacting import call, clean, compact
from tests.connectors.hive.reading import read_table
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.write.test_acid_inserts import files, new_table
from tests.connectors.hive.write.test_acid_merges import NAME, change, ids, row, rows

_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])
_V = f"_v{2**40:07d}"


def data(*numbers: int, key: str = "x") -> pa.Table:
    return pa.table({"id": numbers, "v": [f"v{n}" for n in numbers], "ds": [key] * len(numbers)}, _SCHEMA)


def kept_ids(hive: HiveConnector) -> dict[object, object]:
    with ReferenceQuery(hive) as query:
        met = query.table(NAME).project_names(["id", "$row_id"]).read().to_pylist()
    return {one["id"]: tuple(one["$row_id"].values()) for one in met}


def aborted_delta(hive: HiveConnector, directory: Path, like: str) -> int:
    """A delta of rows of a transaction that was aborted, as a killed writer leaves it; its write id."""
    client = hive.metastore.transactions
    transaction = client.open_transaction("ann", "killed")
    write_id = client.allocate_write_ids([transaction], "s", "t")[transaction]
    shutil.copytree(directory / like, directory / f"delta_{write_id:07d}_{write_id:07d}_0000")
    client.abort(transaction)
    return write_id


def test_a_major_one_is_a_base_of_the_rows_that_are_left(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1, 2, 3), data(4, 5)])
    insert_rows(hive, NAME, [data(6)])
    change(hive, (2, 4), row(7, "new", "x"))
    before, keys = rows(hive), kept_ids(hive)
    made = compact(hive)
    base = f"base_0000003{_V}"
    assert made | {"bytes": 0} == {
        "compaction": 1,
        "schema_name": "s",
        "table_name": "t",
        "partition": None,
        "type": "major",
        "state": "ready for cleaning",
        "reason": None,
        "files": 3,
        "rows": 5,
        "bytes": 0,
    }
    assert [path for path in files(directory) if path.startswith("base")] == [
        f"{base}/{name}"
        for name in ("_metadata_acid", "_orc_acid_version", "bucket_00000", "bucket_00001", "bucket_00002")
    ]
    assert (directory / base / "_metadata_acid").read_bytes() == b'{"thisFileVersion":"0","dataFormat":"compacted"}'
    # The row of write id 3 is of the third task, a bucket of its own.
    assert orc.ORCFile(str(directory / base / "bucket_00000")).read().drop_columns(["row"]).to_pydict() == {
        "operation": [0, 0, 0],
        "originalTransaction": [1, 1, 2],
        "bucket": [536870912] * 3,
        "rowId": [0, 2, 0],
        "currentTransaction": [1, 1, 2],
    }
    assert (rows(hive), kept_ids(hive)) == (before, keys)
    assert clean(hive)[0]["state"] == "succeeded"
    assert {path.partition("/")[0] for path in files(directory)} == {base}
    assert (rows(hive), kept_ids(hive)) == (before, keys)


def test_a_minor_one_is_a_delta_and_a_delete_delta(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    for numbers in ((1, 2), (3,)):
        insert_rows(hive, NAME, [data(*numbers)])
    change(hive, (1,), row(5, "five", "x"))
    change(hive, (3,))
    before = rows(hive)
    assert compact(hive, "minor")["rows"] == 6
    delta, deletes = f"delta_0000001_0000004{_V}", f"delete_delta_0000001_0000004{_V}"
    assert [path for path in files(directory) if _V in path] == [
        *(f"{deletes}/{name}" for name in ("_orc_acid_version", "bucket_00000")),
        *(f"{delta}/{name}" for name in ("_orc_acid_version", "bucket_00000", "bucket_00001")),
    ]
    assert orc.ORCFile(str(directory / deletes / "bucket_00000")).read().to_pydict() == {
        "operation": [2, 2],
        "originalTransaction": [1, 2],
        "bucket": [536870912] * 2,
        "rowId": [0, 0],
        "currentTransaction": [3, 4],
        "row": [None, None],
    }
    for name, index, counts in ((delta, b"2,536870912,0;", b"3,0,0"), (deletes, b"2,536870912,0;", b"0,0,2")):
        path = str(directory / name / "bucket_00000")
        with FileSystem().open(path) as source:
            metadata = dict(read_orc_footer(source, path).metadata)
        assert metadata == {"hive.acid.key.index": index, "hive.acid.stats": counts, "hive.acid.version": b"2"}
    assert clean(hive)[0]["state"] == "succeeded"
    assert {path.partition("/")[0] for path in files(directory)} == {delta, deletes}
    assert rows(hive) == before
    change(hive, (2, 5), row(9, None, "x"))
    assert ids(hive) == [9]
    assert compact(hive)["rows"] == 1
    assert ids(hive) == [9]


def test_what_was_aborted_goes_and_what_is_open_bounds_it(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1)])
    insert_rows(hive, NAME, [data(2)])
    aborted = aborted_delta(hive, directory, "delta_0000001_0000001_0000")
    client = hive.metastore.transactions
    writer = client.open_transaction("ann", "slow")
    still_open = client.allocate_write_ids([writer], "s", "t")[writer]
    insert_rows(hive, NAME, [data(3)])
    assert (aborted, still_open) == (3, 4)
    assert compact(hive)["rows"] == 2
    assert ids(hive) == [1, 2, 3]
    # The slow writer has begun before the compaction was committed, and may read what it has replaced.
    [waits] = clean(hive)
    assert (waits["state"], waits["deleted"]) == ("ready for cleaning", 0)
    assert f"transaction {writer} has begun before" in str(waits["reason"])
    client.commit(writer)
    assert clean(hive)[0]["deleted"] == 3
    assert sorted(path.partition("/")[0] for path in files(directory) if "bucket" in path) == [
        f"base_0000002{_V}",
        "delta_0000005_0000005_0000",
    ]
    assert ids(hive) == [1, 2, 3]


def test_a_reader_sees_its_rows_until_it_is_done(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1, 2)])
    change(hive, (1,))
    with ReferenceQuery(hive) as query:
        table = query.table(NAME)
        compact(hive)
        change(hive, (2,), row(3, "c", "x"))
        assert clean(hive)[0]["state"] == "ready for cleaning"
        assert table.project_names(["id"]).read().to_pydict() == {"id": [2]}
    assert clean(hive)[0]["state"] == "succeeded"
    assert not (directory / "delta_0000001_0000001_0000").exists()
    assert ids(hive) == [3]


def test_rows_of_files_without_ids_keep_the_ids_that_they_have(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", data(1, 2, 3), file_format="orc", parameters=_FULL)
    record_no_write_ids(hive)
    directory = tmp_path / "s" / "t"
    change(hive, (2,), row(4, "d", "x"))
    keys = kept_ids(hive)
    assert compact(hive)["files"] == 2
    assert kept_ids(hive) == keys
    assert clean(hive)[0]["state"] == "succeeded"
    assert not (directory / "000000_0").exists()
    assert kept_ids(hive) == keys


def record_no_write_ids(hive: HiveConnector) -> None:
    """As of a table that became transactional and was not written since."""
    client = hive.metastore.transactions
    transaction = client.open_transaction("ann", "first")
    client.allocate_write_ids([transaction], "s", "t")
    client.commit(transaction)


def test_files_alone(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", data(1, 2, 3), file_format="orc", parameters=_FULL)
    record_no_write_ids(hive)
    keys = kept_ids(hive)
    assert compact(hive)["rows"] == 3
    assert (tmp_path / "s" / "t" / f"base_-{2**63}{_V}" / "bucket_00000").exists()
    assert kept_ids(hive) == keys
    assert clean(hive)[0]["state"] == "succeeded"
    change(hive, (2,))
    assert ids(hive) == [1, 3]


@pytest.mark.parametrize("kind", ["major", "minor"])
def test_nothing_is_left(hive: HiveConnector, tmp_path: Path, kind: str) -> None:
    new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1)])
    insert_rows(hive, NAME, [data(2)])
    change(hive, (1, 2))
    assert compact(hive, kind)["state"] == "ready for cleaning"
    assert ids(hive) == []
    assert clean(hive)[0]["state"] == "succeeded"
    assert ids(hive) == []
    insert_rows(hive, NAME, [data(3)])
    assert ids(hive) == [3]


def test_partitions_one_by_one(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, True, _FULL)
    for number in (1, 2):
        insert_rows(hive, NAME, [data(number), data(number + 10, key="y")])
    with pytest.raises(UserError, match=r"expected partition => 'ds=\.\.\.'"):
        compact(hive)
    assert compact(hive, partition="ds=x")["rows"] == 2
    assert [path for path in files(directory) if "base" in path and "bucket" in path] == [
        f"ds=x/base_0000002{_V}/bucket_00000"
    ]
    assert ids(hive) == [1, 2, 11, 12]
    assert [one["partition"] for one in clean(hive)] == ["ds=x"]
    assert [path for path in files(directory / "ds=x") if "delta" in path] == []
    assert len([path for path in files(directory / "ds=y") if "bucket" in path]) == 2
    assert ids(hive) == [1, 2, 11, 12]


@pytest.mark.parametrize("file_format", ["orc", "parquet"])
@pytest.mark.parametrize("kind", ["major", "minor"])
def test_insert_only_tables(hive: HiveConnector, tmp_path: Path, kind: str, file_format: str) -> None:
    directory = new_table(hive, tmp_path, False, _INSERT_ONLY, file_format)
    for number in range(3):
        insert_rows(hive, NAME, [data(number), data(number + 10)])
    before = rows(hive)
    target = f"base_0000003{_V}" if kind == "major" else f"delta_0000001_0000003{_V}"
    made = compact(hive, kind)
    assert (made["files"], made["rows"]) == (6, None)
    assert rows(hive) == before
    assert clean(hive)[0]["state"] == "succeeded"
    assert {path.partition("/")[0] for path in files(directory)} == {target}
    assert rows(hive) == before
    insert_rows(hive, NAME, [data(99)])
    assert compact(hive)["files"] == 7
    assert len(rows(hive)) == 7


def test_one_that_waits_is_made(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1)])
    insert_rows(hive, NAME, [data(2)])
    assert call(hive, "run_compaction") == []
    [asked] = call(hive, "compact", schema_name="s", table_name="t", type="minor")
    assert asked == {"compaction": 1, "state": "initiated", "accepted": True}
    with pytest.raises(MetastoreError, match=r"compaction 1 of s\.t is initiated already"):
        compact(hive)
    [made] = call(hive, "run_compaction")
    assert (made["compaction"], made["type"], made["state"]) == (1, "minor", "ready for cleaning")
    [waited] = call(hive, "compact", schema_name="s", table_name="t", type="minor")
    [refused] = call(hive, "run_compaction")
    assert (refused["state"], refused["reason"]) == ("ready for cleaning", "there are not enough directories to merge")
    assert [one["state"] for one in clean(hive)] == ["succeeded", "succeeded"]
    call(hive, "compact", schema_name="s", table_name="t", type="minor")
    [refused] = call(hive, "run_compaction")
    assert refused["state"] == "refused"
    assert waited["accepted"] is True


def test_many_rows_in_many_stripes(hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key index has an entry for each stripe, and readers find deletes by it."""
    monkeypatch.setattr(keyed_file, "_STRIPE_BYTES", 4096)
    directory = new_table(hive, tmp_path, False, {**_FULL, "orc.compress": "NONE"})
    insert_rows(hive, NAME, [data(*range(20_000))])
    insert_rows(hive, NAME, [data(*range(20_000, 30_001))])
    change(hive, tuple(range(0, 20_000, 4000)))
    before = read_table(hive, "s", "t").sort_by("id")
    compact(hive)
    path = str(directory / f"base_0000003{_V}" / "bucket_00000")
    with FileSystem().open(path) as source:
        footer = read_orc_footer(source, path)
    found = orc.ORCFile(path).read(columns=["originalTransaction", "bucket", "rowId"])
    ends, total = [], 0
    for stripe in footer.stripes:
        total += stripe.rows
        ends.append(",".join(str(found.column(at)[total - 1]) for at in range(3)))
    assert len(ends) > 3
    assert dict(footer.metadata)["hive.acid.key.index"].decode() == "".join(f"{end};" for end in ends)
    clean(hive)
    assert read_table(hive, "s", "t").sort_by("id").equals(before)
    change(hive, (3, 25_000))
    assert len(read_table(hive, "s", "t")) == len(before) - 2
