"""Unpacking the sample: repeatable, and never in the way of what is there."""

from __future__ import annotations

import zipfile
from importlib import resources
from pathlib import Path

import pytest

from catalog.metastore.embedded.factory import open_embedded
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Database, StorageDescriptor, Table
from connector_spi.errors import UserError
from lakeport.demo.sample_warehouse import SCHEMA, TABLES, prepare
from tests.hive_corpus import require_corpus
from tests.lakeport.demo.answers import ANSWERS
from tests.paths import CORPUS

CASES = {
    "products": "ext_orc_zlib",
    "labels": "ext_orc_none_part",
    "notes": "acid_major_writes",
    "items": "v9_manygroups_cow",
    "visits": "v6_multipart_cow",
    "prices": "v9_eventtime_mor",
}
MORE_ANSWERS = {
    "notes.row_ids.json": "hive/acid_major_writes/expected_rowid.json",
    "notes.version_6.json": "hive/acid_major_clean/expected.json",
    "prices.read_optimized.parquet": "hudi/v9_eventtime_mor.expected_read_optimized.parquet",
}


def open_metastore(folder: Path) -> Metastore:
    return open_embedded(folder / "metastore.db")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def add_table(metastore: Metastore, name: str, location: Path) -> None:
    if metastore.reads.get_database(SCHEMA) is None:
        metastore.writes.create_database(Database(SCHEMA))
    metastore.writes.create_table(Table(SCHEMA, name, StorageDescriptor((), f"file://{location}")))


def test_tables_are_what_the_corpus_holds(tmp_path: Path) -> None:
    root = require_corpus().parent
    warehouse = prepare(tmp_path / "w")
    for table in TABLES:
        case = CASES[table.name]
        if table.connector == "hive":
            expected = files(root / "hive" / case / "table")
            answer = CORPUS / "hive" / case / "expected.json"
        else:
            zipfile.ZipFile(root / "hudi" / f"{case}.zip").extractall(tmp_path)
            expected = files(tmp_path / case)
            answer = CORPUS / "hudi" / f"{case}.expected_snapshot.parquet"
        assert files(warehouse.location(table)) == expected
        assert (ANSWERS / f"{table.name}{answer.suffix}").read_bytes() == answer.read_bytes()
    for name, source in MORE_ANSWERS.items():
        assert (ANSWERS / name).read_bytes() == (CORPUS / source).read_bytes()


def test_the_zips_stay_small() -> None:
    data = resources.files("lakeport.demo") / "data"
    assert sum(len((data / f"{table.name}.zip").read_bytes()) for table in TABLES) < 500_000


def test_a_second_time_changes_nothing_on_storage(tmp_path: Path) -> None:
    warehouse = prepare(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (warehouse.folder / SCHEMA).rglob("*")}
    assert prepare(tmp_path) == warehouse
    assert {path: path.stat().st_mtime_ns for path in (warehouse.folder / SCHEMA).rglob("*")} == before


def test_a_stopped_unpacking_leaves_no_half_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", stop)
    with pytest.raises(KeyboardInterrupt):
        prepare(tmp_path)
    assert list((tmp_path / SCHEMA).iterdir()) == []
    monkeypatch.undo()
    prepare(tmp_path)
    assert sorted(path.name for path in (tmp_path / SCHEMA).iterdir()) == sorted(CASES)


def test_tables_of_others_stay(tmp_path: Path) -> None:
    prepare(tmp_path)
    metastore = open_metastore(tmp_path)
    add_table(metastore, "mine", tmp_path / "mine")
    add_table(metastore, "items", tmp_path / SCHEMA / "items")
    metastore.close()
    prepare(tmp_path)
    metastore = open_metastore(tmp_path)
    assert list(metastore.reads.get_table_names(SCHEMA)) == ["mine"]
    metastore.close()


def test_a_table_of_the_same_name_elsewhere_is_not_taken_away(tmp_path: Path) -> None:
    prepare(tmp_path / "w")
    other = tmp_path / "elsewhere" / SCHEMA / "items"
    other.mkdir(parents=True)
    metastore = open_metastore(tmp_path / "w")
    add_table(metastore, "items", other)
    metastore.close()
    with pytest.raises(UserError, match=r"another table sales\.items, at .*elsewhere.* --warehouse"):
        prepare(tmp_path / "w")


def test_a_moved_warehouse_works_again(tmp_path: Path) -> None:
    warehouse = prepare(tmp_path / "old")
    metastore = open_metastore(tmp_path / "old")
    add_table(metastore, "items", warehouse.folder / SCHEMA / "items")
    metastore.close()
    (tmp_path / "old").rename(tmp_path / "new")
    moved = prepare(tmp_path / "new")
    assert str(tmp_path / "new") in (moved.catalogs / "hive.properties").read_text()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write the sample warehouse"):
        prepare(tmp_path / "file")
