"""Tables of LZO files that lzop, aircompressor and lzo-hadoop wrote; ``lzo_files/README.md`` says how."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connector_spi.predicate import Domain, TupleDomain
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.codec_tables import (
    CODEC_CLASSES,
    COLUMNS,
    LAZY_SIMPLE,
    LZO_FILES,
    TEXT_INPUT,
    make_table,
)
from tests.connectors.hive.reading import make_session, read_table, scan_table

_LZO_TEXT = "com.hadoop.mapred.DeprecatedLzoTextInputFormat"
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


def _written(count: int) -> Sequence[Mapping[str, object]]:
    return [{"a": at % 64, "b": f"value {at % 64}"} for at in range(count)]


@pytest.mark.parametrize("name", _NAMES)
def test_rows_are_those_that_were_written(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    make_table(hive, tmp_path / "t", {name: LZO_FILES / name}, *CODEC_CLASSES[name.rpartition(".")[2]])
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=700))
    assert scan.rows.to_pylist() == _written(40 if "record" in name else 20_000)
    assert len(scan.splits) == 1 if ".lzo" in name else len(scan.splits) > 1


@pytest.mark.parametrize("input_format", [_LZO_TEXT, "com.hadoop.mapreduce.LzoTextInputFormat"])
def test_input_formats_of_lzo_pass_over_indexes(hive: HiveConnector, tmp_path: Path, input_format: str) -> None:
    files = {name: LZO_FILES / name for name in ("lzo_hadoop.lzo", "lzo_hadoop.lzo.index", "lzop.lzo")}
    make_table(hive, tmp_path / "t", files, input_format, LAZY_SIMPLE)
    scan = scan_table(hive, "s", "t")
    assert (len(scan.splits), scan.rows.to_pylist()) == (2, [*_written(20_000), *_written(20_000)])


@pytest.mark.parametrize(("input_format", "name"), [(_LZO_TEXT, "000000_0"), (TEXT_INPUT, "lzo_hadoop.lzo.index")])
def test_files_whose_rows_depend_on_settings_are_refused(
    hive: HiveConnector, tmp_path: Path, input_format: str, name: str
) -> None:
    make_table(hive, tmp_path / "t", {name: b"1|x\n", "x.lzo": LZO_FILES / "lzop.lzo"}, input_format, LAZY_SIMPLE)
    with pytest.raises(NotSupportedError, match=name):
        scan_table(hive, "s", "t")


def test_orc_compressed_by_lzo(hive: HiveConnector, tmp_path: Path) -> None:
    columns = COLUMNS | {"t": "timestamp"}
    make_table(hive, tmp_path / "t", {"f": LZO_FILES / "aircompressor.orc"}, *CODEC_CLASSES["orc"], columns)
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
    data = (LZO_FILES / name).read_bytes()
    make_table(hive, tmp_path / "t", {name: b"x"}, *CODEC_CLASSES[name.rpartition(".")[2]])
    for cut in (len(data) // 3, len(data) - 6):
        (tmp_path / "t" / name).write_bytes(data[:cut])
        with pytest.raises(CorruptFileError, match=name):
            read_table(hive, "s", "t")


@pytest.mark.parametrize("name", [*_NAMES, "aircompressor.orc"])
def test_damaged_files_end_in_rows_or_in_an_error(hive: HiveConnector, tmp_path: Path, name: str) -> None:
    data, chance = (LZO_FILES / name).read_bytes(), random.Random(name)
    make_table(hive, tmp_path / "t", {name: b"x"}, *CODEC_CLASSES[name.rpartition(".")[2]])
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
    make_table(hive, tmp_path / "t", {"f": LZO_FILES / "aircompressor_lzop.seq"}, *CODEC_CLASSES["seq"])
    with pytest.raises(CorruptFileError, match="where a file of lzop has to begin"):
        read_table(hive, "s", "t")
