"""Tables of LZO files that lzop, aircompressor and lzo-hadoop wrote; ``lzo_files/README.md`` says how."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from shutil import copyfile

import pyarrow as pa
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session, read_table, scan_table
from tests.connectors.hive.table_writer import ORC_CLASSES

_FILES = Path(__file__).with_name("lzo_files")
_LZO_TEXT = "com.hadoop.mapred.DeprecatedLzoTextInputFormat"
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_KINDS = {
    "lzo": (_TEXT, _LAZY),
    "lzo_deflate": (_TEXT, _LAZY),
    "seq": ("org.apache.hadoop.mapred.SequenceFileInputFormat", _LAZY),
    "rc": ("org.apache.hadoop.hive.ql.io.RCFileInputFormat", "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"),
    "orc": (ORC_CLASSES[0], ORC_CLASSES[2]),
}
_COLUMNS = {"a": "int", "b": "string"}
_NAMES = (
    "lzop.lzo",
    "aircompressor.lzo",
    "lzo_hadoop.lzo",
    "aircompressor.lzo_deflate",
    "lzo_hadoop.lzo_deflate",
    "aircompressor.seq",
    "lzo_hadoop.seq",
    "lzo_hadoop_record.seq",
    "aircompressor.rc",
    "lzo_hadoop.rc",
)


def _table(
    hive: HiveConnector,
    folder: Path,
    files: Mapping[str, bytes | Path],
    input_format: str,
    serde: str,
    columns: Mapping[str, str] = _COLUMNS,
) -> None:
    folder.mkdir()
    for name, content in files.items():
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            copyfile(content, folder / name)
    if hive.metastore.reads.get_database("s") is None:
        hive.metastore.writes.create_database(Database("s"))
    storage = StorageDescriptor(
        tuple(FieldSchema(name, kind) for name, kind in columns.items()),
        f"file://{folder}",
        input_format,
        serde=SerDeInfo(serde, Parameters.of({"field.delim": "|"})),
    )
    hive.metastore.writes.create_table(Table("s", "t", storage, (), Parameters(), "EXTERNAL_TABLE"))


def _written(count: int) -> Sequence[Mapping[str, object]]:
    return [{"a": at % 64, "b": f"value {at % 64}"} for at in range(count)]


@pytest.mark.parametrize("name", _NAMES)
def test_rows_are_those_that_were_written(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    _table(hive, tmp_path / "t", {name: _FILES / name}, *_KINDS[name.rpartition(".")[2]])
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=700))
    assert scan.rows.to_pylist() == _written(40 if "record" in name else 20_000)
    assert len(scan.splits) == 1 if ".lzo" in name else len(scan.splits) > 1


@pytest.mark.parametrize("input_format", [_LZO_TEXT, "com.hadoop.mapreduce.LzoTextInputFormat"])
def test_input_formats_of_lzo_pass_over_indexes(hive: HiveConnector, tmp_path: Path, input_format: str) -> None:
    files = {name: _FILES / name for name in ("lzo_hadoop.lzo", "lzo_hadoop.lzo.index", "lzop.lzo")}
    _table(hive, tmp_path / "t", files, input_format, _LAZY)
    scan = scan_table(hive, "s", "t")
    assert (len(scan.splits), scan.rows.to_pylist()) == (2, [*_written(20_000), *_written(20_000)])


@pytest.mark.parametrize(("input_format", "name"), [(_LZO_TEXT, "000000_0"), (_TEXT, "lzo_hadoop.lzo.index")])
def test_files_whose_rows_depend_on_settings_are_refused(
    hive: HiveConnector, tmp_path: Path, input_format: str, name: str
) -> None:
    _table(hive, tmp_path / "t", {name: b"1|x\n", "x.lzo": _FILES / "lzop.lzo"}, input_format, _LAZY)
    with pytest.raises(NotSupportedError, match=name):
        scan_table(hive, "s", "t")


def test_orc_compressed_by_lzo(hive: HiveConnector, tmp_path: Path) -> None:
    columns = _COLUMNS | {"t": "timestamp"}
    _table(hive, tmp_path / "t", {"f": _FILES / "aircompressor.orc"}, *_KINDS["orc"], columns)
    start = datetime(2020, 9, 13, 12, 26, 40)
    expected = [{"a": at, "b": f"value {at % 64}", "t": start + timedelta(seconds=at // 100)} for at in range(3000)]
    assert read_table(hive, "s", "t").to_pylist() == expected
    # The row index tells which of three row groups has the row.
    seven = TupleDomain.with_column_domains({"a": Domain.single_value(pa.int32(), 7)})
    found = scan_table(hive, "s", "t", constraint=seven).rows.to_pylist()
    assert expected[7] in found
    assert len(found) < 3000


@pytest.mark.parametrize("name", ["lzop.lzo", "aircompressor.lzo_deflate", "lzo_hadoop.rc", "aircompressor.orc"])
def test_files_that_are_cut_off_are_an_error(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    data = (_FILES / name).read_bytes()
    _table(hive, tmp_path / "t", {name: b"x"}, *_KINDS[name.rpartition(".")[2]])
    for cut in (len(data) // 3, len(data) - 6):
        (tmp_path / "t" / name).write_bytes(data[:cut])
        with pytest.raises(CorruptFileError, match=name):
            read_table(hive, "s", "t")


@pytest.mark.parametrize("name", [*_NAMES, "aircompressor.orc"])
def test_damaged_files_end_in_rows_or_in_an_error(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    data, chance = (_FILES / name).read_bytes(), random.Random(name)
    _table(hive, tmp_path / "t", {name: b"x"}, *_KINDS[name.rpartition(".")[2]])
    for _ in range(20):
        bad = bytearray(data)
        bad[chance.randrange(len(bad))] ^= 1 << chance.randrange(8)
        (tmp_path / "t" / name).write_bytes(bad)
        try:
            rows = read_table(hive, "s", "t").num_rows
        except ConnectorError:
            continue
        assert rows <= 60_000


def test_files_of_lzop_without_header_inside_of_a_file_are_an_error(hive: HiveConnector, tmp_path: Path) -> None:
    """No reader of Hadoop's reads what aircompressor's ``LzopCodec`` leaves in a SequenceFile."""
    _table(hive, tmp_path / "t", {"f": _FILES / "aircompressor_lzop.seq"}, *_KINDS["seq"])
    with pytest.raises(CorruptFileError, match="where a file of lzop has to begin"):
        read_table(hive, "s", "t")
