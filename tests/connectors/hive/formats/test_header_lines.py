"""Header and footer lines, as HiveServer2 4.0.1 passed over them in a fetch task.

Asked by ``SELECT c`` of tables of one column ``c string`` in text files, with ``skip.header.line.count`` and
``skip.footer.line.count``; of the large file by ``count(*), max(c), sum(cast(c as int))``. Hive's tasks give one line
more or less where a file has no more lines than are passed over, or ends in an empty one.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from tests.connectors.hive.reading import make_connector, read_table

_COUNTS = ((1, 0), (1, 1), (0, 1), (2, 2), (3, 0))
_FILES: dict[str, list[bytes]] = {
    "five": [b"h1\n1\n2\n3\nf1\n"],
    "short": [b"h1\nf1\n"],
    "one": [b"h1\n"],
    "two files": [b"h\n1\n2\nf\n", b"h\n3\n4\nf\n"],
    "gzip": [gzip.compress(b"h1\n1\n2\nf1\n")],
    "crlf": [b"h1\r\n1\r\n2\r\nf1\r\n"],
    "empty lines": [b"\n\n1\n\n2\n\n"],
    "empty file": [b"h\n1\nf\n", b"", b"h\n"],
    "no line feed at the end": [b"h\n1\n2\nf"],
}
_ANSWERS: dict[str, list[str | None]] = {
    "five": ["1 2 3 f1", "1 2 3", "1 2 3 h1", "2", "3 f1"],
    "short": ["f1", None, "h1", None, None],
    "one": [None, None, None, None, None],
    "two files": ["1 2 3 4 f f", "1 2 3 4", "1 2 3 4 h h", None, "f f"],
    "gzip": ["1 2 f1", "1 2", "1 2 h1", None, "f1"],
    "crlf": ["1 2 f1", "1 2", "1 2 h1", None, "f1"],
    "empty lines": ["   1 2", "  1 2", "   1 2", " 1", "  2"],
    "empty file": ["1 f", "1", "1 h", None, None],
    "no line feed at the end": ["1 2 f", "1 2", "1 2 h", None, "f"],
}
"""Lines in order, a blank between two, for each of the counts; ``None`` where there is none."""
_LARGE = [(20001, "foot"), (20000, "9999"), (20001, "head"), (19998, "9999"), (19999, "foot")]
_SUMS = [200010000, 200010000, 200010000, 199989999, 200009997]


def _read(folder: Path, files: list[bytes], skipped: tuple[int, int], split_size: str = "64MB") -> list[str]:
    location = folder / "t"
    location.mkdir()
    for number, content in enumerate(files):
        suffix = ".gz" if content.startswith(b"\x1f\x8b") else ""
        (location / f"{number}{suffix}").write_bytes(content)
    hive = make_connector(folder, hive_max__split__size=split_size)
    try:
        serde = SerDeInfo("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", Parameters())
        input_format = "org.apache.hadoop.mapred.TextInputFormat"
        told = StorageDescriptor((FieldSchema("c", "string"),), f"file://{location}", input_format, serde=serde)
        counts = {"skip.header.line.count": str(skipped[0]), "skip.footer.line.count": str(skipped[1])}
        hive.metastore.writes.create_database(Database("s"))
        hive.metastore.writes.create_table(Table("s", "t", told, (), Parameters.of(counts), "EXTERNAL_TABLE"))
        return [str(text) for text in read_table(hive, "s", "t").column("c").to_pylist()]
    finally:
        hive.shutdown()


@pytest.mark.parametrize("at", range(len(_COUNTS)), ids=[f"{header}-{footer}" for header, footer in _COUNTS])
@pytest.mark.parametrize("case", _FILES)
def test_lines_are_passed_over_as_in_hive(tmp_path: Path, case: str, at: int) -> None:
    answer = _ANSWERS[case][at]
    found = sorted(_read(tmp_path, _FILES[case], _COUNTS[at]))
    assert found == ([] if answer is None else answer.split(" "))


@pytest.mark.parametrize("at", range(len(_COUNTS)), ids=[f"{header}-{footer}" for header, footer in _COUNTS])
def test_a_large_file_in_splits(tmp_path: Path, at: int) -> None:
    lines = b"".join(b"%d\n" % number for number in range(1, 20001))
    found = _read(tmp_path, [b"head\n" + lines + b"foot\n"], _COUNTS[at], split_size="10kB")
    assert (len(found), max(found)) == _LARGE[at]
    assert sum(int(text) for text in found if text.isdigit()) == _SUMS[at]
