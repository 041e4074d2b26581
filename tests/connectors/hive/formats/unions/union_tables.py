"""Tables with columns of uniontype, in each format that has them, of values that Hive's own SerDes wrote."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from shutil import copyfile

import fastavro

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from connectors.hive.connector import HiveConnector
from tests.connectors.hive.formats.hadoop_writer import deflate, rc_file, sequence_file
from tests.connectors.hive.formats.unions.hive_union_answers import UnionCase, union_cases
from tests.connectors.hive.table_writer import ORC_CLASSES

__all__ = ["UNION_KINDS", "make_union_table", "union_columns"]

ROWS = 30
_SERDE = "org.apache.hadoop.hive.serde2."
_MAPRED = "org.apache.hadoop.mapred."
_LAZY, _LAZY_BINARY = f"{_SERDE}lazy.LazySimpleSerDe", f"{_SERDE}lazybinary.LazyBinarySerDe"
_COLUMNAR, _BINARY_COLUMNAR = f"{_SERDE}columnar.ColumnarSerDe", f"{_SERDE}columnar.LazyBinaryColumnarSerDe"
_SEQUENCES = f"{_MAPRED}SequenceFileInputFormat"
_RC = "org.apache.hadoop.hive.ql.io.RCFileInputFormat"
_ORC_COLUMNS = {
    "u": "uniontype<int,string,struct<x:int>>",
    "l": "array<uniontype<int,string,struct<x:int>>>",
    "m": "map<string,uniontype<int,string>>",
    "s": "struct<a:int,u:uniontype<int,array<uniontype<string,double>>>>",
}


def union_columns(binary: bool) -> list[UnionCase]:
    """Columns as Hive wrote them into cells of RCFiles: cells and what they mean."""
    serde = _BINARY_COLUMNAR if binary else _COLUMNAR
    return [case for case in union_cases() if case.written and case.serde == serde]


def make_union_table(hive: HiveConnector, folder: Path, kind: str) -> Path:
    """The table ``s.<kind>``, of one of ``UNION_KINDS``; gives its folder.

    Those of Hive's values have the columns ``c0``, ``c1`` and so on, one for each of ``union_columns``, whose cells are
    taken again from the first one when there are no more.
    """
    location = folder / kind
    location.mkdir(parents=True)
    input_format, serde, write = UNION_KINDS[kind]
    columns = write(location)
    fields = tuple(FieldSchema(name, text) for name, text in columns.items())
    storage = StorageDescriptor(fields, f"file://{location}", input_format, serde=SerDeInfo(serde, Parameters()))
    if hive.metastore.reads.get_database("s") is None:
        hive.metastore.writes.create_database(Database("s"))
    hive.metastore.writes.create_table(Table("s", kind, storage, (), Parameters(), "EXTERNAL_TABLE"))
    return location


def _cells(binary: bool) -> list[list[bytes]]:
    return [[case.rows[at % len(case.rows)][0] for at in range(ROWS)] for case in union_columns(binary)]


def _columns(binary: bool) -> dict[str, str]:
    return {f"c{at}": case.types[0] for at, case in enumerate(union_columns(binary))}


def _lines() -> list[bytes]:
    return [b"\1".join(row) for row in zip(*_cells(False), strict=True)]


def _rows() -> list[bytes]:
    """As ``LazyBinarySerDe`` writes nested values: behind their length, unless they are NULL."""
    rows = []
    for row in zip(*_cells(True), strict=True):
        assert len(row) <= 8
        told = bytes([sum(1 << at for at, cell in enumerate(row) if cell)])
        rows.append(told + b"".join(len(cell).to_bytes(4, "big") + cell for cell in row if cell))
    return rows


def _text(location: Path) -> dict[str, str]:
    (location / "000000_0").write_bytes(b"".join(line + b"\n" for line in _lines()))
    return _columns(False)


def _text_sequence(location: Path) -> dict[str, str]:
    (location / "000000_0").write_bytes(sequence_file(_lines()))
    return _columns(False)


def _binary_sequence(location: Path) -> dict[str, str]:
    content = sequence_file(_rows(), codec=("DefaultCodec", deflate), value_class="BytesWritable")
    (location / "000000_0").write_bytes(content)
    return _columns(True)


def _text_rc(location: Path) -> dict[str, str]:
    (location / "000000_0").write_bytes(rc_file(_cells(False), every=20))
    return _columns(False)


def _binary_rc(location: Path) -> dict[str, str]:
    (location / "000000_0").write_bytes(rc_file(_cells(True), every=20))
    return _columns(True)


def _orc(location: Path) -> dict[str, str]:
    copyfile(Path(__file__).with_name("union_files") / "nested.orc", location / "000000_0")
    return _ORC_COLUMNS


def _avro(location: Path) -> dict[str, str]:
    inner = {"type": "record", "name": "i", "fields": [{"name": "x", "type": "int"}]}
    kinds = {"u": ["null", "int", "string", inner], "l": {"type": "array", "items": ["null", "int", "string"]}}
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    values = [None, 5, "text", {"x": 7}]
    rows = [{"u": values[at % 4], "l": [values[(at + one) % 3] for one in range(at % 5)]} for at in range(ROWS)]
    file = io.BytesIO()
    fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, rows)
    (location / "000000_0").write_bytes(file.getvalue())
    return {"u": "uniontype<int,string,struct<x:int>>", "l": "array<uniontype<int,string>>"}


UNION_KINDS: dict[str, tuple[str, str, Callable[[Path], dict[str, str]]]] = {
    "text": (f"{_MAPRED}TextInputFormat", _LAZY, _text),
    "sequence_text": (_SEQUENCES, _LAZY, _text_sequence),
    "sequence_binary": (_SEQUENCES, _LAZY_BINARY, _binary_sequence),
    "rc_text": (_RC, _COLUMNAR, _text_rc),
    "rc_binary": (_RC, _BINARY_COLUMNAR, _binary_rc),
    "orc": (ORC_CLASSES[0], ORC_CLASSES[2], _orc),
    "avro": (
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
        "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
        _avro,
    ),
}
"""The input format, the SerDe, and what writes a file and tells the columns."""
