"""Plain Parquet files of a table as DuckDB's own ``read_parquet``, where that gives the table's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from sqlglot import exp

from catalog.resolver import ResolvedTable, resolve_column
from connector_spi.handles import ColumnHandle, NativeFile
from connector_spi.optional.merged_files import MergedFile, MergedRows, SupportsMergedFiles
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.arrow.filters.pushed_conditions import pushed_conditions
from lakeport.duckdb.kinds import column_type_name
from lakeport.duckdb.tables.file_columns import FileColumns, Footers, KnownFile
from lakeport.duckdb.tables.needed_rows import needed_rows
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, plan_native_splits, plan_splits
from lakeport.plugin_errors import table_words
from lakeport.transactions.statement import CatalogAccess

__all__ = ["NativeFiles", "NativeQuery", "local_path", "native_files", "native_query", "planned_scan"]

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
class NativeFiles:
    """The files of a table.

    Attributes:
        files: All that are read, and how the table's rows differ from theirs.
        plan: The scan.
        splits: What was skipped.
    """

    files: tuple[MergedFile, ...]
    plan: ScanPlan
    splits: PlannedSplits

    @property
    def native(self) -> tuple[NativeFile, ...]:
        """What DuckDB reads itself."""
        return tuple(one.file for one in self.files if one.file is not None)

    @property
    def merged(self) -> int:
        """Number of the files some of whose rows are not the table's."""
        return sum(1 for one in self.files if one.merge is not None)


@dataclass(frozen=True, slots=True)
class NativeQuery:
    """How DuckDB reads files.

    Attributes:
        text: The query. Of files that are merged it names two views: ``VIEW_removed`` has the columns ``file`` and
            ``position``, and ``VIEW_added`` those that are read.
        numbers: What ``file`` is, by the paths of the files.
    """

    text: str
    numbers: Mapping[str, int]


def native_files(
    access: CatalogAccess, table: ResolvedTable, columns: Sequence[str], conditions: Sequence[str]
) -> NativeFiles | None:
    """The files whose rows, as they stand, are those of a table; ``None`` where there are others.

    Args:
        access: The catalog of the table.
        table: The table.
        columns: What is read.
        conditions: In Spark's SQL; rows that do not pass them all are not needed, but may be in the files.

    Raises:
        ConnectorError: The catalog or its storage failed.
    """
    plan = planned_scan(access, table, columns, conditions)
    provider = access.connector.page_source_provider
    if not isinstance(provider, SupportsMergedFiles):
        native = plan_native_splits(plan)
        if native is None or not native.splits:
            return None
        return NativeFiles(tuple(MergedFile(split.native_file) for split in native.splits), plan, native)
    splits = plan_splits(plan)
    with access.origin.errors(f"merge the files of table {table_words(plan.table)}"):
        files = provider.merged_files(access.session, splits.splits, plan.table, plan.columns)
    if files is None or all(one.file is None for one in files):
        return None
    return NativeFiles(tuple(_guarded(plan, one) for one in files), plan, splits)


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
    parts = _parts(files.native, columns)
    if not parts or len(parts) > _MOST_PARTS:
        return None
    known = [file for part in parts for file in part.files]
    if len(known) > _MOST_FILES:
        return None
    given = {name for part in parts for name, _ in part.constants}
    if any(_PATTERN.intersection(file.path) or not file.path.startswith("/") for file in known):
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
    numbers = {file.path: number for number, file in enumerate(known)}
    changed = {local_path(one.file) for one in files.files if one.file is not None and one.merge is not None}
    selects = [_select(part, columns, _left(part, numbers, changed, view), alike=alike) for part in parts]
    if files.merged:
        selects.append(f"SELECT {', '.join(map(_quoted, columns))} FROM {view}_added")
    return NativeQuery(" UNION ALL ".join(selects), numbers)


def local_path(file: NativeFile) -> str:
    """The path of a local file."""
    return file.path.removeprefix("file://").removeprefix("file:")


def planned_scan(
    access: CatalogAccess, table: ResolvedTable, columns: Sequence[str], conditions: Sequence[str]
) -> ScanPlan:
    """The scan of a table; see ``native_files``."""
    handles = tuple(table.columns[name] for name in columns)
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, table.handle, handles, everything, everything)
    return plan.with_filter(_constraint(table, conditions)).with_columns(handles)


def _guarded(plan: ScanPlan, file: MergedFile) -> MergedFile:
    """The same; errors of the connector that do not say what is wrong name the table."""
    merge = file.merge
    if merge is None:
        return file

    def merged() -> MergedRows:
        with plan.access.origin.errors(f"merge the files of table {table_words(plan.table)}"):
            return merge()

    return MergedFile(file.file, merged)


def _constraint(table: ResolvedTable, conditions: Sequence[str]) -> Constraint:
    known = pa.schema([(handle.name, handle.type) for handle in table.columns.values()])

    def find(written: str) -> tuple[str, pa.DataType]:
        handle = resolve_column(table, written)
        return handle.name, handle.type

    needed = needed_rows(conditions, known, find)
    pushed = pushed_conditions(needed, {handle.name: handle for handle in table.columns.values()})
    summary = needed.domain().transform_keys(lambda name: table.columns[name])
    return Constraint(summary, tuple(map(str, pushed)), pushed)


def _parts(files: Iterable[NativeFile], columns: Iterable[str]) -> list[_Part]:
    """Files by what they do not hold; none where one is no Parquet, or is not read as a whole."""
    asked = set(columns)
    found: dict[tuple[tuple[str, object], ...], dict[KnownFile, int]] = {}
    for file in files:
        constants = tuple(sorted((name, value) for name, value in file.constants if name in asked))
        known = KnownFile(local_path(file), file.file_size, file.modified_millis)
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
    if not any(file.path in changed for file in part.files):
        return ""
    first = numbers[part.files[0].path]
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
