"""From a split to record batches. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from connector_spi.errors import CorruptFileError, InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive.acid.changes import CHANGE_COLUMNS, RowChanges
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.read.change_page_source import ChangePageSource
from connectors.hive.acid.read.deletes import MAX_DELETE_MEMORY
from connectors.hive.acid.read.page_source import AcidPageSource
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.buckets.validation import FileBucket, bucket_checked
from connectors.hive.formats.file_format import FileRequest, FormatSettings
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.schema.file_columns import declared_columns
from connectors.hive.schema.text_domains import stored_domain
from connectors.hive.schema.text_types import TextRule, apply_text_rule
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HivePageSourceProvider"]


@dataclass(frozen=True, slots=True)
class HivePageSourceProvider(PageSourceProvider):
    """Opens ranges of data files.

    Attributes:
        files: Storage.
        settings: What the catalog says of formats.
    """

    files: FileSystem
    settings: FormatSettings

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if not isinstance(split, HiveSplit) or not isinstance(table, HiveTableHandle):
            raise InternalError(f"expected a Hive split and table, met {type(split).__name__}, {type(table).__name__}")
        rules = dict(table.text_rules)
        predicate = table.constraint.intersect(dynamic_filter)
        predicate = _of_files(predicate, rules, {key.name for key in table.partition_keys})
        used = {column.name for column in (*columns, *dict(predicate.domains or {}))}
        constants = {name: value for name, value in split.constants().items() if name in used}
        request = FileRequest(
            self.files,
            split.path,
            split.start,
            split.length,
            columns,
            constants,
            predicate.keep(lambda column: column not in ACID_HIDDEN_COLUMNS),
            split.storage or table.storage,
            declared_columns(table.data_columns, split.partition_columns, split.partition_types),
            tuple(column.name for column in table.data_columns),
            session.time_zone,
            self.settings,
            split.partition_rules,
            tuple(column.type for column in table.data_columns),
        )
        texts = {column.name: rules[column.name] for column in columns if column.name in rules}
        source = _source(table, split, request, session)
        if table.bucketing is not None and split.bucket is not None:
            every_row: TupleDomain[ColumnHandle] = TupleDomain.all()
            source = bucket_checked(
                split.bucket_check,
                FileBucket(split.path, table.bucketing, split.bucket),
                columns,
                lambda asked: _source(table, split, replace(request, columns=asked, predicate=every_row), session),
                source,
            )
        return _TextPageSource(source, texts, split.path) if texts else source


def _of_files(
    predicate: TupleDomain[ColumnHandle], rules: Mapping[str, TextRule], keys: Set[str]
) -> TupleDomain[ColumnHandle]:
    """The predicate in the texts of files, which are not padded and cut yet; values of keys are."""
    if predicate.domains is None:
        return predicate
    return TupleDomain.with_column_domains(
        {
            column: stored_domain(domain, rules[column.name])
            if column.name in rules and column.name not in keys
            else domain
            for column, domain in predicate.domains.items()
        }
    )


def _source(table: HiveTableHandle, split: HiveSplit, request: FileRequest, session: ConnectorSession) -> PageSource:
    if split.acid is None or table.snapshot is None:
        return format_named(split.format).page_source(request)
    return _acid_source(table, split, split.acid, table.snapshot, request, session)


def _acid_source(
    table: HiveTableHandle,
    split: HiveSplit,
    acid: AcidFile,
    snapshot: AcidSnapshot,
    request: FileRequest,
    session: ConnectorSession,
) -> PageSource:
    """What reads a file of a full ACID table, or what became of its rows."""
    make: Callable[..., PageSource]
    if table.changes is None:
        make = partial(AcidPageSource, visible=snapshot.visible)
    elif isinstance(split.changes, RowChanges):
        visible = snapshot.at(max(table.changes.last, 0)).visible
        make = partial(ChangePageSource, visible=visible, changes=split.changes, span=table.changes)
    else:
        raise InternalError(f"the split of {split.path} tells no changes, and those of {table.name} are read")
    # Hive finds the columns of ACID files by their places, also renamed ones, and so does Trino.
    by_name = request.settings.orc_by_name and acid.original
    return make(
        request.files,
        acid,
        request.start,
        request.length,
        request.columns,
        request.constants,
        request.predicate.keep(lambda column: column not in CHANGE_COLUMNS),
        sources=request.sources(by_name=by_name),
        delete_memory=session.get(MAX_DELETE_MEMORY),
        zone=request.settings.orc_zone or request.zone,
    )


class _TextPageSource(PageSource):
    """Pads and cuts the columns with char and varchar in them."""

    def __init__(self, source: PageSource, rules: Mapping[str, TextRule], path: str) -> None:
        self._source = source
        self._path = path
        self._rules = rules

    @property
    def schema(self) -> pa.Schema:
        return self._source.schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._source)
        try:
            columns = [
                apply_text_rule(column, self._rules[name]) if name in self._rules else column
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
        except pa.ArrowInvalid as error:
            raise CorruptFileError(f"{self._path} has a text in a char or varchar column that is no UTF-8") from error
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def close(self) -> None:
        self._source.close()
