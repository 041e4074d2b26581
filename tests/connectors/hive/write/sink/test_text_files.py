"""Text files that are written: the lines that Hive's SerDes know, and values that they cannot hold."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde
from connectors.hive.formats.text.lines import cut_lines
from connectors.hive.write.sink.text.file import TextFileWriter, check_text_storage
from connectors.hive.write.sink.text.leaves import base64_texts
from connectors.hive.write.sink.text.same_values import same_values

LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
CSV = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
JSON = "org.apache.hadoop.hive.serde2.JsonSerDe"
PAIR = pa.struct([("u", pa.int64()), ("v", pa.string())])
MAP = pa.map_(pa.string(), pa.int32())
NESTED = pa.list_(pa.struct([("k", MAP), ("n", pa.float64())]))


def storage(serde: str, **properties: str) -> FileStorage:
    given = tuple(sorted((key.replace("_", "."), text) for key, text in properties.items()))
    return FileStorage("textfile", "org.apache.hadoop.mapred.TextInputFormat", serde, given)


def written(rows: pa.Table, where: FileStorage) -> bytes:
    sink = pa.BufferOutputStream()
    writer = TextFileWriter(where, sink, rows.schema)
    writer.write(rows)
    writer.close()
    return bytes(sink.getvalue())


def read(content: bytes, schema: pa.Schema, where: FileStorage) -> list[pa.Array]:
    decode = find_row_serde(where.serde, "t").decoder(
        RowLayout(schema, tuple(range(len(schema))), dict(where.properties), "UTC", "t")
    )
    records = pa.concat_arrays(list(cut_lines(pa.BufferReader(content).read, "t")))
    return list(decode(records))


ROWS = pa.table(
    {
        "b": [True, False, None],
        "i": pa.array([1, -(2**31), None], pa.int32()),
        "d": [0.1, float("-inf"), None],
        "p": pa.array([Decimal("1.50"), Decimal("-0.01"), None], pa.decimal128(9, 2)),
        "day": [dt.date(2024, 2, 29), dt.date(1999, 1, 1), None],
        "at": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1999, 1, 1), None], pa.timestamp("us")),
        "s": ["a b", "", None],
        "raw": pa.array([b"\x00\xff\n", b"", None], pa.binary()),
        "m": pa.array([[("x", 1), ("y", None)], [], None], MAP),
        "l": pa.array([[["q"], ["r", ""]], [], None], pa.list_(pa.list_(pa.string()))),
        "r": pa.array(
            [{"u": 1, "v": "w"}, {"u": None, "v": None}, None], pa.struct([("u", pa.int64()), ("v", pa.string())])
        ),
    }
)


def test_lines_of_delimited_text() -> None:
    lines = written(ROWS, storage(LAZY)).split(b"\n")
    assert lines[0].split(b"\x01") == [
        b"true",
        b"1",
        b"0.1",
        b"1.50",
        b"2024-02-29",
        b"2024-02-29 01:02:03.000004",
        b"a b",
        b"AP8K",
        b"x\x031\x02y\x03\\N",
        b"q\x02r\x03",
        b"1\x02w",
    ]
    assert lines[2] == b"\x01".join([b"\\N"] * 11)
    assert lines[3:] == [b""]


def test_escapes_of_delimited_text() -> None:
    rows = pa.table({"s": ["a,b", "c\\d", "\\N", "e|f"], "l": [["x,|"], ["y"], [], None]})
    where = storage(LAZY, field_delim=",", escape_delim="\\", colelction_delim="|")
    assert written(rows, where).split(b"\n")[:4] == [rb"a\,b,x\,\|", rb"c\\d,y", rb"\\N,", rb"e\|f,\N"]


def test_lines_of_csv() -> None:
    rows = pa.table({"a": ["x", 'say "y"', "back\\slash"], "b": ["1,2", "", " "]})
    assert written(rows, storage(CSV)) == b'"x","1,2"\n"say \\"y\\"",""\n"back\\\\slash"," "\n'


def test_lines_of_json() -> None:
    rows = pa.table(
        {
            "A": ['q"\\\n\x01', None],
            "r": [{"u": 1, "v": [0.5]}, None],
            "m": pa.array([[("k", 1)], []], MAP),
        }
    )
    assert written(rows, storage(JSON)).decode().split("\n") == [
        '{"a":"q\\"\\\\\\u000a\\u0001","r":{"u":1,"v":[0.5]},"m":{"k":1}}',
        '{"a":null,"r":null,"m":{}}',
        "",
    ]


@pytest.mark.parametrize(
    ("serde", "column"),
    [
        (LAZY, pa.array(["line\nfeed"])),
        (LAZY, pa.array(["carriage\rreturn"])),
        (LAZY, pa.array(["\\N"])),
        (LAZY, pa.array(["\x01"])),
        (LAZY, pa.array([["a\x02b"]])),
        (LAZY, pa.array([[None]], pa.list_(pa.string()))),
        (LAZY, pa.array([[""]])),
        (LAZY, pa.array(["\ufeffmark"])),
        (LAZY, pa.array([[["a"], []]])),
        (LAZY, pa.array([{"l": []}], pa.struct([("l", pa.list_(pa.string()))]))),
        (CSV, pa.array(["line\nfeed"])),
        (CSV, pa.array([None, "a"])),
        (JSON, pa.array([float("nan")])),
        (JSON, pa.array([[("k", 1), ("k", 2)]], MAP)),
    ],
)
def test_what_would_be_read_as_another_value_is_refused(serde: str, column: pa.Array) -> None:
    rows = pa.table({"c": column, "after": ["x"] * len(column)})
    with pytest.raises(NotSupportedError, match="text files of this table do not hold such values"):
        written(rows, storage(serde))


@pytest.mark.parametrize(
    ("where", "words"),
    [
        (storage(LAZY, **{"skip.header.line.count": "1"}), "skip.header.line.count=1"),
        (storage(LAZY, **{"serialization.encoding": "GBK"}), "serialization.encoding=GBK"),
        (storage(LAZY, **{"line.delim": "|"}), "do not end with a line feed"),
        (storage("org.apache.hadoop.hive.serde2.RegexSerDe"), "RegexSerDe"),
    ],
)
def test_tables_that_are_not_written(where: FileStorage, words: str) -> None:
    with pytest.raises(NotSupportedError, match=words):
        check_text_storage(where, "rows cannot be added to s.t")


TEXTS = st.one_of(st.none(), st.text(st.sampled_from('ab,|"\\\x01\x02\x03\x04N é\t😀'), max_size=5))
KEYS = st.text("xy,\x04\\", min_size=1, max_size=3)
VALUES = {
    "s": (pa.string(), TEXTS),
    "d": (pa.float64(), st.one_of(st.none(), st.floats())),
    "p": (pa.decimal128(20, 10), st.one_of(st.none(), st.decimals(-(10**9), 10**9, places=10))),
    "nested": (
        NESTED,
        st.one_of(
            st.none(),
            st.lists(
                st.one_of(
                    st.none(),
                    st.fixed_dictionaries(
                        {
                            "k": st.dictionaries(KEYS, st.integers(-9, 9)).map(lambda one: list(one.items())),
                            "n": st.one_of(st.none(), st.floats(allow_nan=False)),
                        }
                    ),
                ),
                max_size=3,
            ),
        ),
    ),
}


@given(data=st.data())
@pytest.mark.parametrize(
    "where",
    [
        storage(LAZY),
        storage(LAZY, escape_delim="\\"),
        storage(LAZY, field_delim=",", escape_delim="\\", serialization_null_format=""),
        storage(JSON),
    ],
    ids=["lazy", "escaped", "commas", "json"],
)
def test_rows_are_read_as_they_were_given_or_refused(where: FileStorage, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))
    drawn = {name: data.draw(st.lists(one, min_size=count, max_size=count)) for name, (_, one) in VALUES.items()}
    rows = pa.table({name: pa.array(drawn[name], kind) for name, (kind, _) in VALUES.items()})
    try:
        content = written(rows, where)
    except NotSupportedError:
        return
    found = read(content, rows.schema, where)
    assert all(same_values(one.combine_chunks(), other) for one, other in zip(rows.columns, found, strict=True))


@given(st.lists(st.one_of(st.none(), st.binary(max_size=9)), max_size=9), st.integers(0, 3))
def test_base64(values: list[bytes | None], skipped: int) -> None:
    import base64

    array = pa.array(values, pa.binary()).slice(skipped)
    expected = [None if one is None else base64.b64encode(one).decode() for one in values[skipped:]]
    assert base64_texts(array).to_pylist() == expected
