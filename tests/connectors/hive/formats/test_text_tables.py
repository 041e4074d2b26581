"""Tables of text files through the connector: splits, headers, codecs, links, partitions of their own SerDe."""

from __future__ import annotations

import bz2
import gzip
import random
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from catalog.metastore.model import (
    Database,
    FieldSchema,
    Parameters,
    Partition,
    SerDeInfo,
    StorageDescriptor,
    Table,
)
from connector_spi.errors import ConnectorError, CorruptFileError, FileMissingError
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.reading import make_session, read_table, scan_table
from tests.hive_corpus import canonical_rows, expected_answer, register_cases, require_corpus

_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_LINKS = "org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_CSV = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
_JSON = "org.apache.hadoop.hive.serde2.JsonSerDe"
_COMMA = {"field.delim": ","}


def _storage(
    location: Path, columns: Mapping[str, str], serde: str = _LAZY, properties: Mapping[str, str] = _COMMA
) -> StorageDescriptor:
    fields = tuple(FieldSchema(name, kind) for name, kind in columns.items())
    return StorageDescriptor(fields, f"file://{location}", _TEXT, serde=SerDeInfo(serde, Parameters.of(properties)))


def _create(
    hive: HiveConnector, storage: StorageDescriptor, parameters: Mapping[str, str] | None = None, key: str = ""
) -> Path:
    hive.metastore.writes.create_database(Database("s"))
    keys = (FieldSchema(key, "string"),) if key else ()
    hive.metastore.writes.create_table(Table("s", "t", storage, keys, Parameters.of(parameters), "EXTERNAL_TABLE"))
    folder = Path(str(storage.location).removeprefix("file://"))
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("size", [7, 64, 1000])
@pytest.mark.parametrize(("header", "footer"), [(0, 0), (3, 0), (0, 2), (2, 1), (500, 0)])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_splits_headers_and_footers(
    hive: HiveConnector, tmp_path: Path, size: int, header: int, footer: int, end: bytes
) -> None:
    counts = {"skip.header.line.count": str(header), "skip.footer.line.count": str(footer)}
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int", "b": "string"}), counts)
    lines = [b"%d,%s" % (at, b"x" * (at % 13)) for at in range(60)]
    (folder / "f").write_bytes(end.join(lines) + (end if header else b""))
    expected = [{"a": at, "b": "x" * (at % 13)} for at in range(60)][header : 60 - footer]
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=size))
    assert sorted(scan.rows.to_pylist(), key=lambda row: row["a"]) == expected
    assert len(scan.splits) == 1 if footer or size == 1000 else len(scan.splits) > 1


@pytest.mark.parametrize("kind", ["gz", "deflate", "snappy", "lz4", "zst"])
def test_compressed_files_are_one_split(hive: HiveConnector, tmp_path: Path, kind: str) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int"}))
    data = b"".join(b"%d\n" % at for at in range(20_000))
    if kind in ("snappy", "lz4"):
        # As Hadoop frames it: bytes of a block, then chunks behind their lengths.
        packed = pa.Codec("lz4_raw" if kind == "lz4" else kind).compress(data, asbytes=True)
        packed = len(data).to_bytes(4, "big") + len(packed).to_bytes(4, "big") + packed
    else:
        makers: dict[str, Callable[[bytes], bytes]] = {
            "gz": gzip.compress,
            "deflate": zlib.compress,
        }
        packed = makers[kind](data) if kind in makers else pa.Codec("zstd").compress(data, asbytes=True)
    (folder / f"000000_0.{kind}").write_bytes(packed)
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=100))
    assert (scan.rows["a"].to_pylist(), len(scan.splits)) == (list(range(20_000)), 1)
    (folder / f"000000_0.{kind}").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(CorruptFileError, match="000000_0"):
        read_table(hive, "s", "t")


@pytest.mark.slow
@pytest.mark.parametrize("size", [5_000, 30_000, 10_000_000])
@pytest.mark.parametrize(
    ("header", "footer", "end"),
    [(0, 0, b"\r\n"), (0, 0, b"\r"), (2, 0, b"\n"), (15_000, 0, b"\n"), (1, 1, b"\n")],
)
def test_bzip2_files_are_split_at_blocks(
    hive: HiveConnector, tmp_path: Path, size: int, header: int, footer: int, end: bytes
) -> None:
    counts = {"skip.header.line.count": str(header), "skip.footer.line.count": str(footer)}
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int", "b": "string"}), counts)
    chance = random.Random(size)
    lines = [b"%d,%s" % (at, chance.randbytes(at % 13).hex().encode()) for at in range(20_000)]
    # One line of many blocks.
    lines[9_000] = b"9000," + b"ab" * 250_000
    text = end.join(lines)
    # Two streams of many blocks, an empty one, and one of a few bytes.
    parts = [text[:300_000], b"", text[300_000:300_010], text[300_010:]]
    (folder / "f.bz2").write_bytes(b"".join(bz2.compress(part, 1) for part in parts))
    expected = [{"a": int(line.split(b",")[0]), "b": line.split(b",")[1].decode()} for line in lines]
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=size))
    assert scan.rows.to_pylist() == expected[header : 20_000 - footer]
    total = (folder / "f.bz2").stat().st_size
    assert len(scan.splits) == 1 if footer or size > total else len(scan.splits) > 3
    bounds = [(split.start, split.length) for split in scan.splits]
    assert [start for start, _ in bounds] == [sum(length for _, length in bounds[:at]) for at in range(len(bounds))]
    assert sum(split.size_bytes for split in scan.splits) == total


@pytest.mark.parametrize(
    ("serde", "properties", "line"),
    [
        (_CSV, {}, b'"%d","%s"'),
        (_JSON, {}, b'{"a":"%d","b":"%s"}'),
        ("org.apache.hadoop.hive.serde2.MultiDelimitSerDe", {"field.delim": "~|~"}, b"%d~|~%s"),
        ("org.apache.hadoop.hive.serde2.RegexSerDe", {"input.regex": "([0-9]+) (.*)"}, b"%d %s"),
    ],
)
def test_every_serde_of_text_reads_blocks_of_bzip2(
    hive: HiveConnector, tmp_path: Path, serde: str, properties: Mapping[str, str], line: bytes
) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "string", "b": "string"}, serde, properties))
    rows = [(at, random.Random(at).randbytes(20).hex()) for at in range(5_000)]
    text = b"".join(line % (at, value.encode()) + b"\n" for at, value in rows)
    (folder / "f.bz2").write_bytes(bz2.compress(text, 1))
    scan = scan_table(hive, "s", "t", session=make_session(hive, max_split_size=30_000))
    assert scan.rows.to_pylist() == [{"a": str(at), "b": value} for at, value in rows]
    assert len(scan.splits) > 3


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.999])
def test_a_bzip2_file_that_is_cut_off_is_an_error(hive: HiveConnector, tmp_path: Path, kept: float) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "string"}))
    packed = bz2.compress(b"\n".join(random.Random(1).randbytes(20).hex().encode() for _ in range(10_000)), 1)
    (folder / "f.bz2").write_bytes(packed[: int(len(packed) * kept)])
    for size in (10_000, 10_000_000):
        with pytest.raises(CorruptFileError, match=r"f\.bz2"):
            scan_table(hive, "s", "t", session=make_session(hive, max_split_size=size))


@pytest.mark.parametrize("size", [1, 40, 100])
def test_rows_of_hives_own_bzip2_file_are_hives_in_splits_of_any_size(hive: HiveConnector, size: int) -> None:
    require_corpus()
    register_cases(hive.metastore.writes, "corpus", ["ext_text_bz2"], hive.metastore.transactions)
    scan = scan_table(hive, "corpus", "ext_text_bz2", session=make_session(hive, max_split_size=size))
    assert len(scan.splits) > 1
    assert canonical_rows(scan.rows) == expected_answer("ext_text_bz2").rows


def test_other_compressions_are_refused_by_name(hive: HiveConnector, tmp_path: Path) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int"}))
    (folder / "f.xz").write_bytes(b"x")
    with pytest.raises(ConnectorError, match=r"\.xz"):
        read_table(hive, "s", "t")


def test_partitions_have_serdes_formats_and_types_of_their_own(hive: HiveConnector, tmp_path: Path) -> None:
    table = _storage(tmp_path / "t", {"a": "bigint", "b": "string"})
    folder = _create(hive, table, {"skip.header.line.count": "1"}, "p")
    kinds = {
        "text": (table, b"a,b\n1,x\n"),
        "csv": (_storage(folder, {"a": "string", "b": "string"}, _CSV, {}), b'a,b\n"2","y,z"\n'),
        "json": (_storage(folder, {"a": "int", "b": "string"}, _JSON, {}), b'-\n{"b":"q","A":3}\n'),
        "pipes": (_storage(folder, {"a": "tinyint", "b": "string"}, _LAZY, {"field.delim": "|"}), b"-\n4|w\n1000|v\n"),
    }
    partitions = []
    for name, (storage, data) in kinds.items():
        location = folder / f"p={name}"
        location.mkdir()
        (location / "f").write_bytes(data)
        partitions.append(Partition("s", "t", (name,), replace(storage, location=f"file://{location}")))
    hive.metastore.writes.add_partitions("s", "t", partitions)
    rows = read_table(hive, "s", "t").sort_by([("p", "ascending"), ("b", "ascending")]).to_pylist()
    assert [(row["a"], row["b"], row["p"]) for row in rows] == [
        (2, "y,z", "csv"),
        (3, "q", "json"),
        (None, "v", "pipes"),
        (4, "w", "pipes"),
        (1, "x", "text"),
    ]


@pytest.mark.parametrize("serde", [_LAZY, "org.apache.hadoop.hive.serde2.MultiDelimitSerDe"])
@pytest.mark.parametrize("charset", ["ISO-8859-1", "GBK", "Shift_JIS", "UTF-8"])
def test_encodings(hive: HiveConnector, tmp_path: Path, serde: str, charset: str) -> None:
    text = "é" if charset == "ISO-8859-1" else "漢字"
    properties = {"field.delim": "|", "serialization.encoding": charset}
    folder = _create(hive, _storage(tmp_path / "t", {"a": "string", "b": "array<string>"}, serde, properties))
    (folder / "f").write_bytes(f"{text}|x\x02{text}\n".encode(charset))
    assert read_table(hive, "s", "t").to_pylist() == [{"a": text, "b": ["x", text]}]


def test_links_to_files_and_folders(hive: HiveConnector, tmp_path: Path) -> None:
    storage = replace(_storage(tmp_path / "t", {"a": "int"}), input_format=_LINKS)
    folder = _create(hive, storage)
    for name, data in (("x/1", b"1\n2\n"), ("x/_2", b"9\n"), ("y/3", b"3\n"), ("y/4", b"9\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (folder / "links").write_text(f"file://{tmp_path}/x\n\n{tmp_path}/y/3\n")
    assert sorted(read_table(hive, "s", "t")["a"].to_pylist()) == [1, 2, 3]
    assert {Path(path).name for path in read_table(hive, "s", "t", ["$path"])["$path"].to_pylist()} == {"1", "3"}
    (tmp_path / "y" / "3").unlink()
    with pytest.raises(FileMissingError, match="y/3"):
        read_table(hive, "s", "t")


# What each line names of these files, by the rules of Hadoop's FileSystem.globStatus.
_LINKED = {"T1.txt": 1, "T2.txt": 2, "T3.txt": 3, "_T4.txt": 4, "a-2015-12-10_03.txt": 5, "a-2015-12-10_04.txt": 6,
           "d1/x": 7, "d1/_y": 8, "d2/x": 9, "d2/e/x": 10, "q{1}": 11, "empty": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        (["T{1,3}.txt"], [1, 3]),
        (["*2015{-,}12{-,}10{_03,03}*.txt"], [5]),
        (["T?.txt"], [1, 2, 3]),
        (["T[12].txt", "T[^12].txt"], [1, 2, 3]),
        (["T[!1-2].txt"], [3]),
        (["T*"], [1, 2, 3]),
        (["d*"], [7, 9]),
        (["d?/x"], [7, 9]),
        (["{T1.txt,d2/x}"], [1, 9]),
        (["d2/{e,none}/x"], [10]),
        (["q\\{1}"], [11]),
        (["empty"], []),
        (["T{1,3}.txt\nT2.txt", "d1"], [1, 2, 3, 7]),
        (["T1.txt\nT1.txt"], [1, 1]),
    ],
)
def test_symlinks_name_patterns(hive: HiveConnector, tmp_path: Path, lists: list[str], expected: list[int]) -> None:
    folder = _create(hive, replace(_storage(tmp_path / "t", {"a": "int"}), input_format=_LINKS))
    _write_linked(tmp_path / "data")
    for number, lines in enumerate(lists):
        paths = [f"{tmp_path}/data/{line}" for line in lines.split("\n")]
        (folder / f"links{number}").write_text("\n".join(paths))
    assert sorted(read_table(hive, "s", "t")["a"].to_pylist()) == expected


@pytest.mark.parametrize(
    ("line", "named"),
    [("T{8,9}.txt", "matches no file"), ("_T4.txt", "matches no file"), ("none/*", "matches no file"),
     ("T1.txt/x", "matches no file"), ("T{1,3.txt", "not closed"), ("T[1", "not closed")],
)  # fmt: skip
def test_symlinks_that_name_nothing_fail(hive: HiveConnector, tmp_path: Path, line: str, named: str) -> None:
    folder = _create(hive, replace(_storage(tmp_path / "t", {"a": "int"}), input_format=_LINKS))
    _write_linked(tmp_path / "data")
    (folder / "links").write_text(f"{tmp_path}/data/{line}")
    with pytest.raises(ConnectorError, match=named):
        read_table(hive, "s", "t")


def _write_linked(folder: Path) -> None:
    for name, number in _LINKED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{number}\n" if number else "")


@pytest.mark.parametrize(
    ("storage", "parameters", "named"),
    [
        ({"input_format": _LINKS, "serde": SerDeInfo("org.apache.hadoop.hive.ql.io.orc.OrcSerde")}, {}, "OrcSerde"),
        ({"serde": SerDeInfo("com.acme.SerDe")}, {}, "com.acme.SerDe"),
        ({}, {"serialization.encoding": "UTF-16"}, "UTF-16"),
        ({}, {"line.delim": "|"}, r"'\|'"),
        ({}, {"timestamp.formats": "yyyy-MM-dd EEE"}, "EEE"),
        ({}, {"skip.header.line.count": "-1"}, "skip.header.line.count"),
        ({"serde": SerDeInfo("org.apache.hadoop.hive.serde2.RegexSerDe")}, {"input.regex": r"(\p{L})"}, r"\\p"),
        ({"serde": SerDeInfo("org.apache.hadoop.hive.serde2.RegexSerDe")}, {"input.regex": "a"}, "0 groups"),
    ],
)
def test_what_is_not_understood_is_refused(
    hive: HiveConnector, tmp_path: Path, storage: dict[str, object], parameters: dict[str, str], named: str
) -> None:
    known = replace(_storage(tmp_path / "t", {"a": "string"}), **storage)  # type: ignore[arg-type]
    _create(hive, known, parameters)
    with pytest.raises(ConnectorError, match=named):
        scan_table(hive, "s", "t")


def test_all_columns_of_csv_are_strings_whatever_is_declared(hive: HiveConnector, tmp_path: Path) -> None:
    """``OpenCSVSerde.initialize``; Hive's DESCRIBE shows them as string, from deserializer."""
    columns = {"a": "int", "b": "char(2)", "c": "array<int>", "d": "date", "e": "uniontype<int,string>"}
    folder = _create(hive, _storage(tmp_path / "t", columns, _CSV, {}))
    (folder / "f").write_text('1,"abc",x,07,0:5\n,,\n')
    rows = read_table(hive, "s", "t")
    assert rows.schema.types == [pa.string()] * 5
    assert rows.to_pylist() == [
        {"a": "1", "b": "abc", "c": "x", "d": "07", "e": "0:5"},
        {"a": "", "b": "", "c": "", "d": None, "e": None},
    ]


def test_csv_may_be_in_another_encoding(hive: HiveConnector, tmp_path: Path) -> None:
    """As in Hive's q-test serde_opencsv; its SerDe is an ``AbstractEncodingAwareSerDe``."""
    told = {"serialization.encoding": "ISO8859_1", "quoteChar": "'"}
    folder = _create(hive, _storage(tmp_path / "t", {"a": "string", "b": "int"}, _CSV, told))
    (folder / "f").write_bytes("Müller,1\n'é, è',2\n".encode("latin-1"))
    assert read_table(hive, "s", "t").to_pylist() == [{"a": "Müller", "b": "1"}, {"a": "é, è", "b": "2"}]


def test_texts_of_a_csv_partition_become_the_types_of_its_table(hive: HiveConnector, tmp_path: Path) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int", "b": "char(2)"}), key="p")
    (folder / "csv").mkdir()
    (folder / "csv" / "f").write_text('"7",xyz\nx,\n')
    own = _storage(folder / "csv", {"a": "int", "b": "char(2)"}, _CSV, {})
    hive.metastore.writes.add_partitions("s", "t", [Partition("s", "t", ("1",), own)])
    rows = read_table(hive, "s", "t").to_pylist()
    assert rows == [{"a": 7, "b": "xy", "p": "1"}, {"a": None, "b": "  ", "p": "1"}]


@pytest.mark.parametrize("data", [b'{"a":1', b"\xff{}", b'{"a":{"b":[}', b"[" * 100_000, b'{"a":' * 100_000, b""])
def test_damaged_json_names_the_file(hive: HiveConnector, tmp_path: Path, data: bytes) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int"}, _JSON, {}))
    (folder / "000000_0").write_bytes(b'{"a":1}\n' + data + b"\n")
    with pytest.raises(CorruptFileError, match="000000_0"):
        read_table(hive, "s", "t")


def test_json_that_arrow_cannot_take(hive: HiveConnector, tmp_path: Path) -> None:
    folder = _create(hive, _storage(tmp_path / "t", {"a": "int", "m": "map<string,int>"}, _JSON, {}))
    (folder / "000000_0").write_bytes(b'{"a":1,"m":{"x":1}}\nnull x {}\n {"A":"2"} null\n')
    assert read_table(hive, "s", "t").to_pylist() == [
        {"a": 1, "m": [("x", 1)]},
        {"a": None, "m": None},
        {"a": 2, "m": None},
    ]
