"""Tables whose columns are not those of their files, and the SQL that asks Hive for their rows.

``python cases.py FORMAT`` prints a script for HiveServer2 4.0.1, ``FORMAT`` being ORC, PARQUET, AVRO, TEXTFILE, RCFILE
or JSONFILE. Each row of its answers begins with the mode and the case. ``@{hw.base}`` stands for a folder; what Hive
writes to ``num``, ``mixed`` and ``nested`` in it are the files that are kept here.
"""

from __future__ import annotations

import sys
from typing import NamedTuple


class Case(NamedTuple):
    """A table. Columns are as SQL declares them; ``partition`` is ``None`` for a table without partitions."""

    name: str
    file: str
    partition: str | None
    table: str


FILES = {
    "num": ("a int, b int, c int", "SELECT 1, 2, 3 UNION ALL SELECT 4, 5, 6"),
    "mixed": ("a int, b string, c double", "SELECT 1, 'one', 1.5D UNION ALL SELECT 2, 'two', 2.5D"),
    "nested": (
        "k int, s struct<x:int,y:string>, l array<struct<x:int,y:string>>",
        "SELECT 1, named_struct('x', 10, 'y', 'ten'), array(named_struct('x', 11, 'y', 'eleven'))",
    ),
}

_NUM, _MIXED, _NESTED = (columns for columns, _ in FILES.values())
_TABLES = {
    "num": {
        "same": _NUM,
        "renamed": "c int, d int, e int",
        "moved": "c int, a int, b int",
        "fewer": "a int, c int",
        "second": "b int, c int",
        "more": "z int, a int, b int, c int",
        "inserted": "a int, z int, b int, c int",
    },
    "mixed": {
        "renamed": "a int, bb string, c double",
        "moved": "c double, a int, b string",
        "upper": "A int, B string, C double",
        "wider": "a bigint, b varchar(2), cc string",
        "added": "a int, b string, c double, d string",
        "last": "c double",
        "extended": "d string, a int, b string, c double",
    },
    "nested": {
        "fields": "k int, s struct<y:string,x:int>, l array<struct<y:string,x:int>>",
        "fields_renamed": "k int, s struct<xx:int,y:string>, l array<struct<x:int,yy:string>>",
        "fields_more": "k int, s struct<w:int,x:int,y:string>, l array<struct<w:int,y:string>>",
        "both": "kk int, ss struct<y:string,x:int>, ll array<struct<x:int,y:string,z:int>>",
    },
}
_PARTITIONS = {
    "own_renamed_moved": (_NUM, "cc int, aa int, b int"),
    "own_file": ("c int, a int, b int", _NUM),
    "own_file_fewer": ("c int, a int", _NUM),
    "own_more": ("a int, b int, c int, d int", "d int, a int, b int, c int"),
    "own_short": ("a int", _NUM),
    "own_short_moved": ("b int", _NUM),
    "own_renamed": ("a int, bb int, c int", _NUM),
}
CASES = (
    *(Case(f"u_{file}_{name}", file, None, table) for file in FILES for name, table in _TABLES[file].items()),
    *(Case(f"p_{file}_{name}", file, table, table) for file in FILES for name, table in _TABLES[file].items()),
    *(Case(f"q_{file}_{name}", file, FILES[file][0], table) for file in FILES for name, table in _TABLES[file].items()),
    *(Case(f"q_num_{name}", "num", own, table) for name, (own, table) in _PARTITIONS.items()),
)
_ROWS = {"hive.fetch.task.conversion": "none", "hive.vectorized.execution.enabled": "false"}
_WRITING = {
    "hive.metastore.disallow.incompatible.col.type.changes": "false",
    # Cells of the other SerDe are bytes that any type is made of.
    "hive.default.rcfile.serde": "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe",
}
_MODES = {"fetch": {}, "vectors": {"hive.fetch.task.conversion": "none"}, "rows": _ROWS}
_OTHER_WAYS = {
    "ORC": {"orc.force.positional.evolution": "false"},
    "PARQUET": {"parquet.column.index.access": "true"},
}


def script(file_format: str) -> list[str]:
    """The statements for the files of one format."""
    lines = [f"SET {key}={value}" for key, value in _WRITING.items()]
    for file, (columns, rows) in FILES.items():
        lines.append(_table(file, columns, file, file_format))
        lines.append(f"INSERT INTO {file} {rows}")
    for case in CASES:
        lines += _statements(case, file_format)
    other = {"other": _OTHER_WAYS[file_format]} if file_format in _OTHER_WAYS else {}
    for mode, settings in (_MODES | other).items():
        lines += ["RESET", "SET hive.compute.query.using.stats=false"]
        lines += [f"SET {key}={value}" for key, value in settings.items()]
        lines += [f"SELECT '{mode}', '{case.name}', t.* FROM {case.name} t" for case in CASES]
    return lines


def _table(name: str, columns: str, folder: str, file_format: str, keys: str = "") -> str:
    where = f"LOCATION '@{{hw.base}}/external/{folder}'"
    return f"CREATE EXTERNAL TABLE {name} ({columns}) {keys} STORED AS {file_format} {where}"


def _statements(case: Case, file_format: str) -> list[str]:
    if case.partition is None:
        return [_table(case.name, case.table, case.file, file_format)]
    # Hive refuses to move columns of an ORC table, so it becomes one last.
    lines = [_table(case.name, case.partition, case.name, "TEXTFILE", "PARTITIONED BY (p int)")]
    lines.append(f"ALTER TABLE {case.name} ADD PARTITION (p=1) LOCATION '@{{hw.base}}/external/{case.file}'")
    if case.table != case.partition:
        lines.append(f"ALTER TABLE {case.name} REPLACE COLUMNS ({case.table})")
    lines.append(f"ALTER TABLE {case.name} SET FILEFORMAT {file_format}")
    lines.append(f"ALTER TABLE {case.name} PARTITION (p=1) SET FILEFORMAT {file_format}")
    return lines


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line};\n" for line in script(sys.argv[1])))
