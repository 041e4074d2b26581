"""Log files that real Hudi wrote, against what it says of them elsewhere."""

from __future__ import annotations

import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.hudi.file_group.names import LogFileName, parse_base_file_name, parse_log_file_name
from connectors.hudi.log.block import BlockType, LogBlock
from connectors.hudi.log.data_block import read_data_block
from connectors.hudi.log.delete_block import read_delete_block
from connectors.hudi.log.positions import POSITION
from connectors.hudi.log.reader import block_content, read_log_blocks
from connectors.hudi.log.record_key import virtual_record_keys
from connectors.hudi.log.scan import scan_log_blocks
from tests.connectors.hudi.log.writer import log_block
from tests.paths import CORPUS, TABLES

TABLES_WITH_LOGS = sorted((CORPUS / "hudi").glob("*_mor.zip"))
LOG_ONLY = sorted((CORPUS / "hudi").glob("*_conshash_mor.zip"))

pytestmark = pytest.mark.skipif(not TABLES_WITH_LOGS, reason=f"no tables in {CORPUS}")

Stat = Mapping[str, object]


def blocks_of(data: bytes, path: str) -> list[tuple[LogBlock, pa.Buffer]]:
    file = pa.BufferReader(data)
    return [(block, block_content(file, block)) for block in read_log_blocks(file, path, len(data))]


def rows_and_deletes(data: bytes, path: str) -> tuple[int, int]:
    rows = deletes = 0
    for block, content in blocks_of(data, path):
        if block.type is BlockType.DELETE:
            deletes += read_delete_block(block, content).num_rows
        elif block.type.has_rows:
            table = read_data_block(block, content)
            table.validate(full=True)
            rows += table.num_rows
    return rows, deletes


def written_logs(archive: zipfile.ZipFile, table: str) -> Iterator[tuple[str, Stat]]:
    """What completed delta commits say of the log files that they wrote."""
    for name in archive.namelist():
        if not name.endswith(".deltacommit") or "/metadata/" in name:
            continue
        data = archive.read(name)
        if not data:
            continue
        commit = next(fastavro.reader(io.BytesIO(data))) if data.startswith(b"Obj") else json.loads(data)
        for stats in cast(Mapping[str, object], commit)["partitionToWriteStats"].values():  # type: ignore[attr-defined]
            for stat in stats:
                if stat.get("path") and parse_log_file_name(stat["path"].rpartition("/")[2]):
                    yield f"{table}/{stat['path']}", stat


@pytest.mark.slow
def test_every_log_holds_as_many_rows_and_deletes_as_its_commit_says() -> None:
    compared = 0
    for path in TABLES_WITH_LOGS:
        with zipfile.ZipFile(path) as archive:
            present = set(archive.namelist())
            for name, stat in written_logs(archive, path.stem):
                if name in present:
                    data = archive.read(name)
                    met = (*rows_and_deletes(data, name), len(data))
                    assert met == (stat["numWrites"], stat["numDeletes"], stat["fileSizeInBytes"]), name
                    compared += 1
    assert compared > 150


def test_every_log_is_written_again_byte_for_byte() -> None:
    """The writer of these tests writes what Hudi writes; and every block of every log is found."""
    for path in TABLES_WITH_LOGS:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if parse_log_file_name(name.rpartition("/")[2]):
                    data = archive.read(name)
                    again = [
                        log_block(block.type, block.headers, content.to_pybytes(), footers=block.footers)
                        for block, content in blocks_of(data, name)
                    ]
                    assert b"".join(again) == data, name


@pytest.mark.slow
def test_positions_point_at_the_rows_of_the_same_keys() -> None:
    compared = 0
    for path in TABLES_WITH_LOGS:
        with zipfile.ZipFile(path) as archive:
            bases = {}
            for name in archive.namelist():
                base = parse_base_file_name(name.rpartition("/")[2])
                if base and base.format == "parquet":
                    bases[base.file_id, base.instant] = name
            for name in archive.namelist():
                log = parse_log_file_name(name.rpartition("/")[2])
                if log and not log.change_data and "/metadata/" not in name:
                    for block, content in blocks_of(archive.read(name), name):
                        base_name = bases.get((log.file_id, block.positions_base_instant or ""))
                        if base_name is not None:
                            compared += compare_positions(block, content, archive.read(base_name))
    assert compared > 100


def compare_positions(block: LogBlock, content: pa.Buffer, base: bytes) -> int:
    keys = pq.read_table(io.BytesIO(base), columns=["_hoodie_record_key"]).column(0)
    if block.type is BlockType.DELETE:
        table = read_delete_block(block, content, positions=True)
        met = table.column("record_key")
    else:
        table = read_data_block(block, content, ["_hoodie_record_key"], positions=True)
        met = table.column("_hoodie_record_key")
    if keys.null_count:
        return 0
    assert keys.take(table.column(POSITION)).to_pylist() == met.to_pylist(), block.path
    return len(met)


@pytest.mark.parametrize("path", LOG_ONLY, ids=lambda path: path.stem)
def test_the_last_row_of_each_key_of_logs_alone_is_what_hudi_returns(path: Path) -> None:
    """Consistent hashing writes logs only; the keys' ordering values never fall, so that the last row counts."""
    groups: dict[tuple[str, str], list[tuple[LogFileName, str]]] = defaultdict(list)
    rows: dict[tuple[str, str, str], dict[str, object]] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            folder, _, bare = name.rpartition("/")
            log = parse_log_file_name(bare)
            if log and ".hoodie" not in folder:
                groups[folder, log.file_id].append((log, name))
        for group, logs in groups.items():
            logs.sort(key=lambda entry: (entry[0].instant, entry[0].version))
            found = [pair for _, name in logs for pair in blocks_of(archive.read(name), name)]
            contents = {(block.path, block.offset): content for block, content in found}
            scan = scan_log_blocks(
                (block for block, _ in found), is_committed=lambda _: True, latest_instant="99999999999999999"
            )
            for block in scan.blocks:
                content = contents[block.path, block.offset]
                if block.type is BlockType.DELETE:
                    for key in read_delete_block(block, content).column("record_key").to_pylist():
                        rows.pop((*group, key), None)
                else:
                    for row in read_data_block(block, content).to_pylist():
                        rows[(*group, row["_hoodie_record_key"])] = row
    expected = pq.read_table(path.with_name(f"{path.stem}.expected_snapshot.parquet"))
    met = pa.Table.from_pylist(list(rows.values()), expected.schema)
    order = [("_hoodie_partition_path", "ascending"), ("_hoodie_record_key", "ascending")]
    assert met.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()


@pytest.mark.parametrize("format_", ["parquetlog", "hfilelog"])
def test_blocks_of_other_formats_hold_the_rows_of_the_same_story(format_: str) -> None:
    """The writers ran the same statements; Avro, Parquet and HFile blocks differ in nothing but the format."""
    met, expected = (
        [(row["_hoodie_record_key"], row["name"], row["price"], row["ts"]) for row in user_rows(case)]
        for case in (f"v8_{format_}_mor", "v8_nomdt_mor")
    )
    assert met == expected
    assert [key for key, *_ in met] == ["3", "4"]


def user_rows(case: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with zipfile.ZipFile(CORPUS / "hudi" / f"{case}.zip") as archive:
        for name in archive.namelist():
            if parse_log_file_name(name.rpartition("/")[2]) and "/metadata/" not in name:
                for block, content in blocks_of(archive.read(name), name):
                    if block.type.has_rows:
                        rows += read_data_block(block, content).to_pylist()
    return sorted(rows, key=lambda row: (str(row["_hoodie_record_key"]), str(row["_hoodie_commit_time"])))


@pytest.mark.parametrize(
    ("folder", "kinds", "rows", "deletes"),
    [
        ("valid_log_avro_data", [BlockType.AVRO_DATA], 1, 0),
        ("valid_log_parquet_data", [BlockType.PARQUET_DATA], 1, 0),
        ("valid_log_delete", [BlockType.DELETE], 0, 3),
        ("valid_log_rollback", [BlockType.COMMAND], 0, 0),
    ],
)
def test_single_logs(folder: str, kinds: list[BlockType], rows: int, deletes: int) -> None:
    files = [path for path in (TABLES / "hudi" / "log_files" / folder).glob(".*.log.*") if path.suffix != ".crc"]
    if not files:
        pytest.skip(f"no log files in {TABLES}")
    data = files[0].read_bytes()
    assert [block.type for block, _ in blocks_of(data, "log")] == kinds
    assert rows_and_deletes(data, "log") == (rows, deletes)


@pytest.mark.parametrize("path", sorted((CORPUS / "hudi").glob("*_virtualkeys*_mor.zip")), ids=lambda path: path.stem)
def test_virtual_keys_are_those_that_hudi_deletes_and_updates_by(path: Path) -> None:
    properties = json.loads(path.with_suffix(".json").read_text())["hoodie_properties"]
    fields = properties["hoodie.table.recordkey.fields"].split(",")
    generator = properties.get("hoodie.table.keygenerator.type") or properties["hoodie.table.keygenerator.class"]
    complex_keys = "COMPLEX" in generator.upper()
    in_bases: set[str] = set()
    in_logs: set[str] = set()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            bare = name.rpartition("/")[2]
            base = parse_base_file_name(bare)
            if base and base.format == "parquet":
                rows = pq.read_table(io.BytesIO(archive.read(name)))
                in_bases.update(virtual_record_keys(rows, fields, complex_keys=complex_keys, where="table").to_pylist())
            elif parse_log_file_name(bare) and "/metadata/" not in name:
                for block, content in blocks_of(archive.read(name), name):
                    if block.type is BlockType.DELETE:
                        in_logs.update(read_delete_block(block, content).column("record_key").to_pylist())
                    else:
                        rows = read_data_block(block, content)
                        in_logs.update(
                            virtual_record_keys(rows, fields, complex_keys=complex_keys, where="table").to_pylist()
                        )
    assert in_logs
    # Each of these tables updates and deletes rows of its base files, and inserts none by logs.
    assert in_logs <= in_bases
