"""SequenceFiles and RCFiles that are written here the plain way: every cut of a file gives each row once."""

from __future__ import annotations

import bz2
import gzip
import random
from collections.abc import Callable, Sequence

import pytest

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connectors.hive.formats.rcfile.file import rc_groups, read_rc_header
from connectors.hive.formats.sequence import records as sequence_records
from connectors.hive.formats.sequence.file import read_sequence_header, sequence_values
from connectors.hive.formats.sequence.sync_marks import find_mark
from connectors.toolkit.storage.byte_source import MemorySource
from tests.connectors.hive.formats.hadoop_writer import SYNC, deflate, rc_file, sequence_file
from tests.connectors.toolkit.codecs.test_hadoop_codecs import hadoop_frames

Codec = tuple[str, Callable[[bytes], bytes]]
CODECS: dict[str, Codec | None] = {
    "none": None,
    "zlib": ("DefaultCodec", deflate),
    "gzip": ("GzipCodec", gzip.compress),
    "bzip2": ("BZip2Codec", bz2.compress),
    "snappy": ("SnappyCodec", lambda raw: hadoop_frames(raw, "snappy")),
    "lz4": ("Lz4Codec", lambda raw: hadoop_frames(raw, "lz4")),
}
VALUES = [f"row {number} ".encode() * (number % 7) + b"\xff" * (number % 3) for number in range(20)]
CELLS = [[b"", b"x", b"x", b"x", b"long" * 50, b"", b""], [b"%d" % number for number in range(7)], [b""] * 7]


def read_sequence(data: bytes, start: int = 0, end: int | None = None) -> list[bytes]:
    source = MemorySource(data)
    header = read_sequence_header(source, "the file")
    parts = sequence_values(source, header, start, len(data) if end is None else end, "the file")
    return [value for part in parts for value in part.to_pylist()]


def read_rc(data: bytes, start: int = 0, end: int | None = None) -> list[tuple[bytes, ...]]:
    source = MemorySource(data)
    header = read_rc_header(source, "the file")
    rows: list[tuple[bytes, ...]] = []
    for group in rc_groups(source, header, start, len(data) if end is None else end, "the file"):
        columns: list[Sequence[bytes]] = []
        for position in range(header.columns):
            cells = group.column(position)
            assert cells is not None
            bounds = zip(cells.starts.tolist(), cells.ends.tolist(), strict=True)
            columns.append([cells.data[first:behind].tobytes() for first, behind in bounds])
        rows += zip(*columns, strict=True)
        assert group.column(header.columns) is None
    return rows


def sequence_cases() -> dict[str, bytes]:
    made = {}
    for name, codec in CODECS.items():
        made[f"records {name}"] = sequence_file(VALUES, codec=codec)
        if codec:
            made[f"blocks {name}"] = sequence_file(VALUES, codec=codec, blocks=True)
    made["bytes"] = sequence_file(VALUES, value_class="BytesWritable")
    made["version 5"] = sequence_file(VALUES, version=5, codec=CODECS["gzip"])
    made["version 4"] = sequence_file(VALUES, version=4, codec=CODECS["zlib"], blocks=True)
    return made


def rc_cases() -> dict[str, bytes]:
    made = {name: rc_file(CELLS, codec=codec, every=2) for name, codec in CODECS.items()}
    return made | {"old": rc_file(CELLS, old=True, every=2), "old zlib": rc_file(CELLS, codec=CODECS["zlib"], old=True)}


SEQUENCES, RCS = sequence_cases(), rc_cases()
ROWS = list(zip(*CELLS, strict=True))


@pytest.mark.parametrize("case", SEQUENCES)
def test_sequence_files_come_back(case: str) -> None:
    assert read_sequence(SEQUENCES[case]) == VALUES


@pytest.mark.parametrize("case", RCS)
def test_rc_files_come_back(case: str) -> None:
    assert read_rc(RCS[case]) == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("case", ["records none", "records gzip", "blocks zlib"])
def test_every_cut_of_a_sequence_file_gives_each_row_once(case: str) -> None:
    data = SEQUENCES[case]
    for cut in range(1, len(data)):
        assert read_sequence(data, 0, cut) + read_sequence(data, cut) == VALUES
    for step in (7, 50, 120):
        ranges = [(start, start + step) for start in range(0, len(data), step)]
        assert [value for first, behind in ranges for value in read_sequence(data, first, behind)] == VALUES


@pytest.mark.parametrize("case", ["none", "zlib", "old"])
def test_every_cut_of_an_rc_file_gives_each_row_once(case: str) -> None:
    data = RCS[case]
    for cut in range(1, len(data)):
        assert read_rc(data, 0, cut) + read_rc(data, cut) == ROWS


@pytest.mark.parametrize("window", [1, 9, 30, 64, 200])
def test_records_are_found_in_windows_of_any_size(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = SEQUENCES["records none"]
    source = MemorySource(data)
    header = read_sequence_header(source, "the file")
    for start, end in ((0, len(data)), (0, 300), (300, len(data))):
        ranges = (header.mark, header.end, start, end, "the file")
        small = list(sequence_records.record_windows(source, *ranges, window=window))
        (whole,) = sequence_records.record_windows(source, *ranges)
        found = [one.data[a:b].tobytes() for one in small for a, b in zip(one.starts, one.ends, strict=True)]
        assert found == [whole.data[a:b].tobytes() for a, b in zip(whole.starts, whole.ends, strict=True)]


@pytest.mark.parametrize("case", [*SEQUENCES, *(f"rc {name}" for name in RCS)])
def test_damaged_files_end_in_rows_or_in_an_error(case: str) -> None:
    data, read = (RCS[case[3:]], read_rc) if case.startswith("rc ") else (SEQUENCES[case], read_sequence)
    chance = random.Random(case)
    for _ in range(60):
        bad = bytearray(data[: chance.randrange(1, len(data))] if chance.random() < 0.4 else data)
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(bad))
            bad[at] = chance.choice([0, 0x7F, 0x80, 0xFF, bad[at] ^ 1 << chance.randrange(8)])
        try:
            read(bytes(bad))
        except ConnectorError as error:
            assert "the file" in error.message  # noqa: PT017


@pytest.mark.parametrize("cut", [5, 40, 60])
def test_truncated_files_are_errors(cut: int) -> None:
    with pytest.raises(CorruptFileError):
        read_sequence(SEQUENCES["records none"][:-1])
    for data in (SEQUENCES["records none"], RCS["none"]):
        read = read_sequence if data[:3] == b"SEQ" else read_rc
        with pytest.raises(CorruptFileError):
            read(data[:cut])


def test_what_is_not_understood_is_refused_by_name() -> None:
    with pytest.raises(NotSupportedError, match="version 3"):
        read_sequence(sequence_file(VALUES).replace(b"SEQ\6", b"SEQ\3"))
    with pytest.raises(NotSupportedError, match="LongWritable"):
        read_sequence(sequence_file(VALUES, value_class="LongWritable"))
    with pytest.raises(NotSupportedError, match="BrotliCodec"):
        read_sequence(sequence_file(VALUES, codec=("BrotliCodec", bytes)))
    with pytest.raises(NotSupportedError, match="version b'RCF\\\\x02'"):
        read_rc(RCS["none"].replace(b"RCF\1", b"RCF\2"))
    with pytest.raises(CorruptFileError, match="no RCFile"):
        read_rc(b"Obj\1" + bytes(100))
    with pytest.raises(CorruptFileError, match="expected an RCFile"):
        read_rc(sequence_file(VALUES))


def test_marks_are_found_across_steps() -> None:
    mark = b"\xff" * 4 + SYNC
    data = bytes((1 << 20) - 7) + mark + bytes(100)
    assert find_mark(MemorySource(data), mark, 0, len(data)) == (1 << 20) - 7
    assert find_mark(MemorySource(data), mark, 0, (1 << 20) - 7) is None
