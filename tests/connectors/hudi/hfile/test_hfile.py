from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connectors.hudi.hfile.reader import HFile
from connectors.toolkit.avro.records import read_avro_dicts
from connectors.toolkit.codecs.hadoop_vints import read_vint
from connectors.toolkit.storage.byte_source import MemorySource
from tests.connectors.hudi.hfile.writer import hfile
from tests.paths import CORPUS, TABLES
from tests.sampling import examples

REAL = sorted((TABLES / "hudi" / "hfile").glob("*.hfile"))

keys = st.binary(max_size=4) | st.binary(min_size=200, max_size=300)
cells = st.lists(st.tuples(keys, st.binary(max_size=5)), max_size=40).map(
    lambda pairs: sorted(pairs, key=lambda p: p[0])
)
shapes = st.fixed_dictionaries(
    {
        "per_block": st.integers(1, 6),
        "levels": st.integers(1, 3),
        "codec": st.sampled_from([1, 2]),
        "fake_keys": st.booleans(),
    }
)


class CountingSource(MemorySource):
    """Counts the bytes that are read."""

    bytes_read = 0

    def read(self, offset: int, length: int) -> bytes:
        data = super().read(offset, length)
        self.bytes_read += len(data)
        return data


def opened(data: bytes) -> HFile:
    return HFile(MemorySource(data), "file.hfile")


@pytest.mark.skipif(not REAL, reason=f"no HFiles in {TABLES}")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_files_of_hbase(path: Path) -> None:
    entries = path.stem.rpartition("_")[2]
    count = int(entries) if entries.isdigit() else 0
    file = opened(path.read_bytes())
    names, values = file.read_all()
    assert names == [b"hudi-key-%09d" % at for at in range(count)]
    assert values == [b"hudi-value-%09d" % at for at in range(count)]
    assert file.entry_count == count
    info = "hudi_hfile_testing.custom_key" if count else "schema"
    assert info in file.file_info


@pytest.mark.skipif(not REAL, reason=f"no HFiles in {TABLES}")
def test_few_keys_read_few_bytes() -> None:
    path = next(path for path in REAL if path.stem.endswith("20000"))
    source = CountingSource(path.read_bytes())
    file = HFile(source, "file.hfile")
    asked = [b"hudi-key-%09d" % at for at in (19_999, 3, 10_000)] + [b"", b"hudi-key-000000003x", b"zzz"]
    assert [key for key, _ in file.seek(asked)] == [b"hudi-key-%09d" % at for at in (3, 10_000, 19_999)]
    assert source.bytes_read < source.size / 4
    assert [value for _, value in file.prefix(b"hudi-key-00001234")] == [
        b"hudi-value-%09d" % at for at in range(12340, 12350)
    ]
    assert source.bytes_read < source.size / 4


@settings(deadline=None)
@given(cells, shapes, st.lists(keys, max_size=6), st.data())
def test_every_cell_is_found(
    written: list[tuple[bytes, bytes]], shape: dict[str, int], others: list[bytes], data: st.DataObject
) -> None:
    file = opened(hfile(written, info={"schema": b"x" * 300}, meta={"a": b"1", "b": b"2"}, **shape))  # type: ignore[arg-type]
    names, values = file.read_all()
    assert list(zip(names, values, strict=True)) == written
    assert file.file_info["schema"] == b"x" * 300
    asked = {*others, *data.draw(st.lists(st.sampled_from(names), max_size=5) if names else st.just([]))}
    assert list(file.seek(asked)) == [cell for cell in written if cell[0] in asked]
    for prefix in {b"", *others, *(name[:2] for name in asked)}:
        assert list(file.prefix(prefix)) == [cell for cell in written if cell[0].startswith(prefix)]


def test_keys_are_compared_as_unsigned_bytes() -> None:
    written = [(b"\x01", b"a"), (b"\x7f", b"b"), (b"\x80", b"c"), (b"\xff", b"d")]
    file = opened(hfile(written, per_block=1))
    assert list(file.seek([b"\xff", b"\x01", b"\x80"])) == [written[0], written[2], written[3]]


@pytest.mark.parametrize(
    ("encoded", "number"),
    [
        (b"\x05", 5),
        (b"\xff", -1),
        (b"\x90", -112),
        (b"\x8f\x80", 128),
        (b"\x8e\x01\x00", 256),
        # WritableUtils.writeVLong complements negative numbers.
        (b"\x87\x80", -129),
        (b"\x86\x01\x00", -257),
    ],
)
def test_numbers_of_hadoop(encoded: bytes, number: int) -> None:
    assert read_vint(encoded + b"\x07", 0) == (number, len(encoded))
    with pytest.raises(ValueError, match="data ends"):
        read_vint(encoded[:-1], 0)


@pytest.mark.parametrize(("codec", "name"), [(0, "LZO"), (3, "SNAPPY"), (6, "ZSTD"), (9, "codec 9")])
def test_other_compressions_are_refused_by_name(codec: int, name: str) -> None:
    with pytest.raises(NotSupportedError, match=name):
        opened(hfile([(b"a", b"b")], codec=codec))


def test_another_version_is_refused() -> None:
    data = hfile([(b"a", b"b")])
    with pytest.raises(NotSupportedError, match="version 2"):
        opened(data[:-1] + b"\x02")


def test_a_file_cut_anywhere_is_an_error() -> None:
    data = hfile([(b"key%d" % at, b"value") for at in range(9)], levels=2)
    for cut in range(0, len(data), 7):
        with pytest.raises(CorruptFileError):
            opened(data[:cut]).read_all()


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from([1, 2]), st.integers(0, 2000), st.integers(0, 255), st.integers(1, 4))
def test_a_damaged_file_ends_in_an_error_or_in_other_values(codec: int, position: int, byte: int, width: int) -> None:
    written = [(b"key%03d" % at, b"value") for at in range(20)]
    data = bytearray(hfile(written, levels=2, codec=codec))
    position = position % (len(data) - 4000)
    data[position : position + width] = bytes([byte]) * width
    try:
        names, _ = opened(bytes(data)).read_all()
    except ConnectorError:
        return
    # Without compression nothing shows a changed byte of a key or value; but there are as many.
    assert len(names) == len(written)
    if codec == 1:
        assert names == [name for name, _ in written]


@pytest.mark.skipif(not (CORPUS / "hudi").exists(), reason=f"no tables in {CORPUS}")
def test_base_files_of_metadata_tables() -> None:
    """Of both writers: of HBase up to Hudi 1.0, and Hudi's own. Keys are sorted, and each value is a record."""
    met = 0
    for path in sorted((CORPUS / "hudi").glob("*_mdt_all_*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".hfile") and "/metadata/" in name:
                    file = opened(archive.read(name))
                    names, values = file.read_all()
                    assert names == sorted(names)
                    rows = read_avro_dicts(file.file_info["schema"].decode(), values)
                    assert all(row["type"] in range(1, 8) for row in rows)
                    if names:
                        assert file.file_info["minRecordKey"] == names[0]
                        assert file.file_info["maxRecordKey"] == names[-1]
                        assert next(iter(file.seek([names[-1]])))[0] == names[-1]
                    met += len(names)
    assert met > 50
