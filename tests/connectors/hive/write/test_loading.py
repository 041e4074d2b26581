"""``system.load_data``: files become rows of a table, and are gone from where they were."""

from __future__ import annotations

import dataclasses
import gzip
import os
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, InvalidArgumentError, NotSupportedError, UserError
from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand
from connector_spi.predicate import Value
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows
from connectors.hive.connector import HiveConnector
from connectors.hive.write import handles, loading
from tests.connectors.hive.reading import make_session, read_table
from tests.connectors.hive.table_writer import create_table, write_file

NAME = SchemaTableName("s", "t")
_SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string()), ("ds", pa.string())])
_FULL = {"transactional": "true"}
_INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}
_KINDS = pytest.mark.parametrize("kind", [{}, _FULL, _INSERT_ONLY], ids=["plain", "full", "insert_only"])
_KEYS = pytest.mark.parametrize("partitioned", [False, True])


def rows_of(*numbers: int, ds: str = "x") -> pa.Table:
    return pa.table({"id": numbers, "v": [f"v{n}" for n in numbers], "ds": [ds] * len(numbers)}, _SCHEMA)


def new_table(hive: HiveConnector, folder: Path, kind: dict[str, str], partitioned: bool) -> Path:
    keys = ["ds"] if partitioned else []
    create_table(hive.metastore, folder, "s", "t", rows_of(), keys, file_format="orc", parameters=kind)
    for path in (folder / "s" / "t").rglob("*"):
        path.unlink()
    return folder / "s" / "t"


def incoming(folder: Path, *tables: pa.Table, partitioned: bool) -> Path:
    """A directory of files with these rows."""
    place = folder / "incoming"
    place.mkdir(exist_ok=True)
    for number, table in enumerate(tables):
        data = table.drop_columns(["ds"]) if partitioned else table
        write_file(place / f"part-{number}.orc", data, "orc")
    return place


def load(hive: HiveConnector, path: Path | str, **given: Value) -> tuple[int, int]:
    [procedure] = [one for one in hive.procedures if one.name == "load_data"]
    defaults = {one.name: one.default for one in procedure.arguments}
    arguments = {**defaults, "schema_name": "s", "table_name": "t", "path": str(path), **given}
    [row] = procedure.function(make_session(hive), arguments).to_pylist()
    return row["files"], row["bytes"]


def ids(hive: HiveConnector) -> list[int]:
    return sorted(read_table(hive, "s", "t", ["id"]).column("id").to_pylist())


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


@_KINDS
@_KEYS
def test_files_are_added_and_replace_others(
    hive: HiveConnector, tmp_path: Path, kind: dict[str, str], partitioned: bool
) -> None:
    new_table(hive, tmp_path, kind, partitioned)
    given: dict[str, Value] = {"partition": "ds=x"} if partitioned else {}
    place = incoming(tmp_path, rows_of(1, 2), rows_of(3), partitioned=partitioned)
    sizes = sum(path.stat().st_size for path in place.iterdir())
    assert load(hive, place, **given) == (2, sizes)
    assert list(place.iterdir()) == []
    assert ids(hive) == [1, 2, 3]
    assert load(hive, incoming(tmp_path, rows_of(4), partitioned=partitioned) / "part-0.orc", **given)[0] == 1
    assert ids(hive) == [1, 2, 3, 4]
    insert_rows(hive, NAME, [rows_of(5), rows_of(6, ds="y")])
    load(hive, incoming(tmp_path, rows_of(9), partitioned=partitioned), overwrite=True, **given)
    assert ids(hive) == ([6, 9] if partitioned else [9])


def test_files_are_originals_in_a_delta(hive: HiveConnector, tmp_path: Path) -> None:
    """As Hive leaves them: its own names, no version file, and row ids by the rows' positions."""
    directory = new_table(hive, tmp_path, _FULL, partitioned=False)
    load(hive, incoming(tmp_path, rows_of(1, 2), rows_of(3), partitioned=False))
    assert files(directory) == [f"delta_0000001_0000001_0000/00000{n}_0" for n in (0, 1)]
    met = read_table(hive, "s", "t", ["id", "$row_id"]).sort_by("id").to_pylist()
    # Bucket properties 0 and 1 of statement 0; OrcRawRecordMerger counts from 0 in each file.
    assert [tuple(row["$row_id"].values()) for row in met] == [
        (1, 536870912, 0),
        (1, 536870912, 1),
        (1, 536936448, 0),
    ]
    with ReferenceQuery(hive) as query:
        found = query.table(NAME).project_names(["id", "v", "ds", "$row_id"]).read().sort_by("id")
        merge = ReferenceMerge(query, NAME, MergeCommand.DELETE)
        merge.finish([merge.write(found.slice(1, 1), rows_of())])
    assert ids(hive) == [1, 3]


def test_files_of_the_same_name_are_kept_apart(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, {}, partitioned=False)
    for number in range(3):
        load(hive, incoming(tmp_path, rows_of(number), partitioned=False))
    assert files(directory) == ["part-0.orc", "part-0_copy_1.orc", "part-0_copy_2.orc"]
    assert ids(hive) == [0, 1, 2]


def test_what_cannot_be_loaded_stays_where_it_is(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, _FULL, partitioned=True)
    place = incoming(tmp_path, rows_of(1), partitioned=True)
    broken = tmp_path / "broken.orc"
    broken.write_bytes(b"no orc at all")
    insert_rows(hive, NAME, [rows_of(7)])
    [own] = directory.rglob("bucket_*")
    (tmp_path / "acid.orc").write_bytes(own.read_bytes())
    tried: list[tuple[Path, dict[str, Value], type[ConnectorError], str]] = [
        (place, {}, InvalidArgumentError, "expected partition => 'ds=...'"),
        (place, {"partition": "other=x"}, InvalidArgumentError, "ds=..."),
        (tmp_path / "missing", {"partition": "ds=x"}, ConnectorError, "is not there"),
        (tmp_path, {"partition": "ds=x"}, UserError, "is a directory"),
        (directory, {"partition": "ds=x"}, UserError, "in the directory of s.t itself"),
        (broken, {"partition": "ds=x"}, ConnectorError, "broken.orc"),
        (tmp_path / "acid.orc", {"partition": "ds=x"}, UserError, "with the ids of its rows"),
    ]
    for path, given, error, words in tried:
        with pytest.raises(error) as raised:
            load(hive, path, **given)
        assert words in raised.value.message
    assert [path.name for path in place.iterdir()] == ["part-0.orc"]
    assert ids(hive) == [7]


def test_bucketed_tables_refuse(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path, {}, partitioned=False)
    table = hive.metastore.reads.get_table("s", "t")
    assert table is not None
    storage = dataclasses.replace(table.storage, bucket_count=2, bucket_columns=("id",))
    hive.metastore.writes.alter_table("s", "t", dataclasses.replace(table, storage=storage))
    with pytest.raises(NotSupportedError, match="it is bucketed"):
        load(hive, incoming(tmp_path, rows_of(1), partitioned=False))


def test_compressed_texts_stay_what_they_are(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "t", rows_of(), file_format="text", parameters=_INSERT_ONLY)
    for path in (tmp_path / "s" / "t").rglob("*"):
        path.unlink()
    place = tmp_path / "day.txt.gz"
    place.write_bytes(gzip.compress(b"1\x01v1\x01x\n2\x01v2\x01x\n"))
    load(hive, place)
    assert files(tmp_path / "s" / "t") == ["delta_0000001_0000001_0000/000000_0.gz"]
    assert ids(hive) == [1, 2]


@pytest.mark.parametrize(("given", "reason"), [("k=01", "expected '1'"), ("k=abc", "expected a value of type int32")])
def test_a_partition_has_one_name(hive: HiveConnector, tmp_path: Path, given: str, reason: str) -> None:
    rows = pa.table({"id": pa.array([], pa.int64()), "k": pa.array([], pa.int32())})
    create_table(hive.metastore, tmp_path, "s", "t", rows, ["k"], file_format="orc")
    place = tmp_path / "part.orc"
    write_file(place, pa.table({"id": [1]}), "orc")
    with pytest.raises(InvalidArgumentError, match=reason):
        load(hive, place, partition=given)
    load(hive, place, partition="k=1")
    assert read_table(hive, "s", "t").to_pylist() == [{"id": 1, "k": 1}]


def test_more_files_than_row_ids_have_buckets_get_directories_of_several_statements(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4,096 buckets in truth."""
    for module in (handles, loading):
        monkeypatch.setattr(module, "BUCKETS", 2)
    directory = new_table(hive, tmp_path, _FULL, False)
    load(hive, incoming(tmp_path, *(rows_of(n) for n in range(5)), partitioned=False))
    assert files(directory) == [f"delta_0000001_0000001_000{n // 2}/00000{n % 2}_0" for n in range(5)]
    assert ids(hive) == [0, 1, 2, 3, 4]
    row_ids = read_table(hive, "s", "t", ["$row_id"]).column("$row_id").to_pylist()
    assert len({tuple(one.values()) for one in row_ids}) == 5
    place = incoming(tmp_path, *(rows_of(n) for n in range(3)), partitioned=False)
    with pytest.raises(NotSupportedError, match=r"3 files cannot be loaded into s\.t at once.* expected at most 2"):
        load(hive, place, overwrite=True)
    assert len(list(place.iterdir())) == 3
    assert ids(hive) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_more_than_4096_files(hive: HiveConnector, tmp_path: Path) -> None:
    directory = new_table(hive, tmp_path, _FULL, False)
    place = incoming(tmp_path, rows_of(7), partitioned=False)
    for number in range(1, 4097):
        os.link(place / "part-0.orc", place / f"part-{number}.orc")
    with pytest.raises(NotSupportedError, match="4097 files"):
        load(hive, place, overwrite=True)
    assert load(hive, place)[0] == 4097
    assert (directory / "delta_0000001_0000001_0001" / "000000_0").exists()
    row_ids = read_table(hive, "s", "t", ["$row_id"]).column("$row_id").to_pylist()
    assert len({tuple(one.values()) for one in row_ids}) == 4097
