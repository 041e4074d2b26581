"""Plain Parquet files of a table as DuckDB's own ``read_parquet``, where that gives the table's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from sqlglot import exp

from lakeport.duckdb.kinds import column_type_name
from lakeport.duckdb.tables.file_columns import FileColumns, Footers, KnownFile
from lakeport.duckdb.tables.native_files import NativeFiles

__all__ = ["NativeQuery", "native_query"]

# Each combination of values of partition keys is a part of a UNION ALL.
_MOST_PARTS = 64
# All footers are read before the first row: of 3,000 files 0.4 ms of CPU each. Files that are read through Arrow cost
# 1.3 ms each, but their first rows come at once.
_MOST_FILES = 20_000
_PATTERN = frozenset("*?[]")
# What DuckDB calls the number of a file in its list, and that of a row in its file.
_OF_ROWS = ("file_index", "file_row_number")
_NAMES = {
    pa.bool_(): ("BOOLEAN",),
    pa.int8(): ("TINYINT",),
    pa.int16(): ("SMALLINT", "TINYINT"),
    pa.int32(): ("INTEGER", "SMALLINT", "TINYINT"),
    pa.int64(): ("BIGINT", "INTEGER", "SMALLINT", "TINYINT"),
    pa.float32(): ("FLOAT",),
    pa.float64(): ("DOUBLE",),
    pa.string(): ("VARCHAR",),
    pa.date32(): ("DATE",),
}


@dataclass(frozen=True, slots=True)
class _Part:
    """Files that have the same values of the columns that they do not hold."""

    constants: tuple[tuple[str, object], ...]
    files: tuple[KnownFile, ...]


@dataclass(frozen=True, slots=True)
class NativeQuery:
    """How DuckDB reads files.

    Attributes:
        text: The query. Of files that are merged it names two views: ``VIEW_removed`` has the columns ``file`` and
            ``position``, and ``VIEW_added`` those that are read.
        numbers: What ``file`` is, by the locations of the files.
    """

    text: str
    numbers: Mapping[str, int]


def native_query(
    connection: duckdb.DuckDBPyConnection,
    footers: Footers,
    files: NativeFiles,
    columns: Mapping[str, pa.DataType],
    view: str,
) -> NativeQuery | None:
    """The query of DuckDB that reads files; ``None`` where it would read something else than the table's values.

    Args:
        connection: Reads the files' footers.
        footers: Those that are known.
        files: All of one table.
        columns: What is read, by name; with at least one.
        view: Begins the names of the views that the query needs.
    """
    parts = _parts(files, columns)
    if not parts or len(parts) > _MOST_PARTS:
        return None
    known = [file for part in parts for file in part.files]
    if len(known) > _MOST_FILES:
        return None
    given = {name for part in parts for name, _ in part.constants}
    if any(_PATTERN.intersection(file.path) for file in known):
        return None
    held = {name: arrow for name, arrow in columns.items() if name not in given}
    wanted = {name.lower(): _duckdb_types(arrow) for name, arrow in held.items()}
    if not all(wanted.values()):
        return None
    try:
        found = footers.columns(connection, known)
    except duckdb.Error:
        # The connector says what is wrong with the file.
        return None
    has_dates = any(pa.types.is_date(arrow) for arrow in held.values())
    if not all(_are_as_declared(one, wanted) and not (has_dates and one.may_have_old_dates) for one in found):
        return None
    if files.merged and any(name.lower() in _OF_ROWS for one in found for name, _ in one.fields):
        return None
    alike = all(_are_the_same(one, wanted) for one in found)
    numbers = {file.location: number for number, file in enumerate(known)}
    changed = {one.file.path for one in files.files if one.file is not None and one.merge is not None}
    selects = [_select(part, columns, _left(part, numbers, changed, view), alike=alike) for part in parts]
    if files.merged:
        selects.append(f"SELECT {', '.join(map(_quoted, columns))} FROM {view}_added")
    return NativeQuery(" UNION ALL ".join(selects), numbers)


def _parts(files: NativeFiles, columns: Iterable[str]) -> list[_Part]:
    """Files by what they do not hold; none where one is no Parquet, or is not read as a whole."""
    asked = set(columns)
    found: dict[tuple[tuple[str, object], ...], dict[KnownFile, int]] = {}
    for file in files.native:
        constants = tuple(sorted((name, value) for name, value in file.constants if name in asked))
        known = KnownFile(file.path, file.file_size, file.modified_millis, files.paths[file.path])
        read = found.setdefault(constants, {})
        read[known] = read.get(known, 0) + file.length
        if file.format != "parquet" or len({name for name, _ in constants}) < len(constants):
            return []
    if any(length != known.size for read in found.values() for known, length in read.items()):
        return []
    if len({tuple(name for name, _ in constants) for constants in found}) > 1:
        return []
    return [_Part(constants, tuple(read)) for constants, read in found.items()]


def _are_as_declared(file: FileColumns, wanted: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a file has the columns in types that every reader takes for the table's, or lacks them."""
    found = [(name.lower(), written) for name, written in file.fields if name.lower() in wanted]
    return len({name for name, _ in found}) == len(found) and all(written in wanted[name] for name, written in found)


def _are_the_same(file: FileColumns, wanted: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a file has all columns in the table's own types, each under a name that DuckDB gives no other one.

    Of names that are there twice, in any letters, DuckDB calls the second one ``name_1``.
    """
    times = Counter(name.lower() for name, _ in file.fields)
    found = {name.lower(): written for name, written in file.fields}
    if any(found.get(name) != types[0] for name, types in wanted.items()):
        return False
    twice = tuple(f"{name}_" for name, number in times.items() if number > 1)
    return not any(name.startswith(twice) for name in wanted)


def _duckdb_types(arrow: pa.DataType) -> tuple[str, ...]:
    if pa.types.is_decimal(arrow):
        return (f"DECIMAL({arrow.precision},{arrow.scale})",)
    return _NAMES.get(arrow, ())


def _left(part: _Part, numbers: Mapping[str, int], changed: Collection[str], view: str) -> str:
    """What leaves out rows of some files."""
    if not any(file.location in changed for file in part.files):
        return ""
    first = numbers[part.files[0].location]
    return (
        f" AS f ANTI JOIN {view}_removed AS r"
        f" ON r.file = CAST(f.file_index AS BIGINT) + {first} AND r.position = f.file_row_number"
    )


def _select(part: _Part, columns: Mapping[str, pa.DataType], left: str, *, alike: bool) -> str:
    """The rows of some files; of files that are alike, DuckDB finds out itself how many rows they have.

    It does not with a schema, and joins in a bad order then.
    """
    constants = dict(part.constants)
    types = {name: column_type_name(arrow) for name, arrow in columns.items()}
    held = [name for name in columns if name not in constants]
    fields = ", ".join(
        f"{_text(name)}: {{name: {_text(name)}, type: {_text(types[name])}, default_value: NULL}}" for name in held
    )
    shown = ", ".join(
        f"CAST({exp.convert(constants[name]).sql('duckdb')} AS {types[name]}) AS {_quoted(name)}"
        if name in constants
        else f"{_quoted(name)} AS {_quoted(name)}"
        for name in columns
    )
    schema = f", schema = MAP {{{fields}}}" if held and not alike else ""
    paths = ", ".join(_text(file.path) for file in part.files)
    return f"SELECT {shown} FROM read_parquet([{paths}], hive_partitioning = false, can_have_nan = true{schema}){left}"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
