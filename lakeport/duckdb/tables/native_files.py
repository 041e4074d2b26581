"""The files of a table whose rows are the table's own, but for what is merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from catalog.resolver import ResolvedTable, resolve_column
from connector_spi.handles import ColumnHandle, NativeFile
from connector_spi.optional.native_files import MergedFile, MergedRows, SupportsFileOpening, SupportsMergedFiles
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.arrow.filters.pushed_conditions import pushed_conditions
from lakeport.duckdb.query.table_use import TableUse
from lakeport.duckdb.tables.needed_rows import needed_rows
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, plan_native_splits, plan_splits
from lakeport.plugin_errors import table_words
from lakeport.transactions.statement import CatalogAccess

if TYPE_CHECKING:
    from lakeport.duckdb.tables.opened_files import Opener, OpenFiles

__all__ = ["NativeFiles", "Opening", "native_files", "planned_scan"]

Opening: TypeAlias = "Callable[[Opener, Callable[[], AbstractContextManager[None]]], OpenFiles]"
"""Has DuckDB open files by what opens them on a connector's storage, and what words the connector's defects."""

_OPENED = frozenset({"parquet"})
# All footers are read before the first row, each by a request or two.
_MOST_OPENED = 1_000
_MOST_OPENED_FOR_LIMIT = 16


@dataclass(frozen=True, slots=True)
class NativeFiles:
    """The files of a table.

    Attributes:
        files: All that are read, and how the table's rows differ from theirs.
        plan: The scan.
        splits: What was skipped.
        paths: By which DuckDB reads them, by their locations.
        opened: Those that the connector opens; kept while DuckDB reads.
    """

    files: tuple[MergedFile, ...]
    plan: ScanPlan
    splits: PlannedSplits
    paths: Mapping[str, str]
    opened: OpenFiles | None = None

    @property
    def native(self) -> tuple[NativeFile, ...]:
        """What DuckDB reads itself."""
        return tuple(one.file for one in self.files if one.file is not None)

    @property
    def merged(self) -> int:
        """Number of the files some of whose rows are not the table's."""
        return sum(1 for one in self.files if one.merge is not None)


def native_files(
    access: CatalogAccess, table: ResolvedTable, columns: Sequence[str], use: TableUse, opening: Opening | None
) -> NativeFiles | None:
    """The files whose rows, as they stand, are those of a table; ``None`` where there are others.

    Args:
        access: The catalog of the table.
        table: The table.
        columns: What is read.
        use: What is needed of it. Rows that do not pass its conditions are not needed, but may be in the files.
        opening: Has DuckDB open what a connector opens; ``None`` where it reads local files alone.

    Raises:
        ConnectorError: The catalog or its storage failed.
    """
    provider = access.connector.page_source_provider
    opener = provider if isinstance(provider, SupportsFileOpening) and opening is not None else None
    if opener is not None:
        access = replace(access, session=replace(access.session, opened_formats=_OPENED))
    plan = planned_scan(access, table, columns, use.conditions)
    found = _files(plan, provider)
    if found is None:
        return None
    files, splits = found
    native = {one.file.path: one.file for one in files if one.file is not None}
    far = [file for path, file in native.items() if _local_path(path) is None]
    if len(far) > (_MOST_OPENED if use.limit is None else _MOST_OPENED_FOR_LIMIT):
        return None
    paths = {path: _local_path(path) or "" for path in native}
    opened = None
    if far:
        if opener is None or opening is None:
            return None
        errors = partial(access.origin.errors, f"read the files of table {table_words(plan.table)}")
        opened = opening(partial(opener.open_file, access.session, plan.table), errors)
        paths |= {file.path: opened.path(file) for file in far}
    return NativeFiles(files, plan, splits, paths, opened)


def planned_scan(
    access: CatalogAccess, table: ResolvedTable, columns: Sequence[str], conditions: Sequence[str]
) -> ScanPlan:
    """The scan of a table; see ``native_files``."""
    handles = tuple(table.columns[name] for name in columns)
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, table.handle, handles, everything, everything)
    return plan.with_filter(_constraint(table, conditions)).with_columns(handles)


def _files(plan: ScanPlan, provider: PageSourceProvider) -> tuple[tuple[MergedFile, ...], PlannedSplits] | None:
    """The files of all splits; ``None`` where page sources have to read one of them."""
    if not isinstance(provider, SupportsMergedFiles):
        native = plan_native_splits(plan)
        if native is None or not native.splits:
            return None
        return tuple(MergedFile(split.native_file) for split in native.splits), native
    splits = plan_splits(plan)
    with plan.access.origin.errors(f"merge the files of table {table_words(plan.table)}"):
        files = provider.merged_files(plan.access.session, splits.splits, plan.table, plan.columns)
    if files is None or all(one.file is None for one in files):
        return None
    return tuple(_guarded(plan, one) for one in files), splits


def _local_path(location: str) -> str | None:
    """The path of a local file; ``None`` for files on other storage."""
    path = location.removeprefix("file://").removeprefix("file:")
    return path if path.startswith("/") else None


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
