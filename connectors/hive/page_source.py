"""From a split to record batches. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from connector_spi.errors import CorruptFileError, InternalError
from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.optional.aggregation import Aggregation
from connector_spi.optional.native_files import OpenedFile
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain, references
from connector_spi.session import ConnectorSession
from connectors.hive.acid.changes import CHANGE_COLUMNS, RowChanges
from connectors.hive.acid.delete_set import MAX_DELETE_MEMORY
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS
from connectors.hive.acid.read.acid_file import HIDDEN_NAMES, AcidRead
from connectors.hive.acid.read.change_page_source import ChangeRead, change_page_source
from connectors.hive.acid.read.page_source import acid_page_source
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.buckets.layout import BucketCheck
from connectors.hive.buckets.validation import FileBucket
from connectors.hive.formats.coercions.rules import ORC_RULES
from connectors.hive.formats.file_format import FileRequest, FormatSettings
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.hive.schema.file_columns import declared_columns
from connectors.hive.schema.text_domains import stored_domain
from connectors.hive.schema.text_types import TextRule, apply_text_rule
from connectors.toolkit.read.aggregation import AggregatedPageSource, file_columns
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.read.page_source import BatchStage, StagedPageSource
from connectors.toolkit.storage.filesystem import FileSystem
from connectors.toolkit.storage.opened_file import open_native_file

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
        if table.aggregation is not None:
            return self._aggregated(session, split, table, table.aggregation, columns)
        predicate = table.constraint.intersect(dynamic_filter)
        read = _file_read(split, table, columns, predicate, session.time_zone)
        request = self._request(split, table, read)
        open_rows = partial(_open_rows, table, split, session)
        checked, bucket_stages = _bucket_stages(table, split, request, open_rows)
        stages = (*bucket_stages, *_text_stages(table, split, columns))
        source = open_rows(checked)
        return StagedPageSource(source, read.schema, stages) if stages else source

    def open_file(self, session: ConnectorSession, table: TableHandle, file: NativeFile) -> OpenedFile:
        return open_native_file(self.files, file)

    def _aggregated(
        self,
        session: ConnectorSession,
        split: HiveSplit,
        table: HiveTableHandle,
        aggregation: Aggregation,
        columns: tuple[ColumnHandle, ...],
    ) -> PageSource:
        read = file_columns(aggregation, frozenset(table.partition_keys))
        rows = replace(table, aggregation=None)
        source = self.create_page_source(session, split, rows, read, TupleDomain.all())
        return AggregatedPageSource(source, aggregation, columns, dict(split.partition_values))

    def _request(self, split: HiveSplit, table: HiveTableHandle, read: FileRead) -> FileRequest:
        return FileRequest(
            files=self.files,
            read=read,
            storage=split.storage or table.storage,
            declared=declared_columns(table.data_columns, split.partition_columns, split.partition_types),
            table_columns=tuple(column.name for column in table.data_columns),
            settings=self.settings,
            declared_rules=split.partition_rules,
            table_types=tuple(column.type for column in table.data_columns),
        )


def _file_read(
    split: HiveSplit,
    table: HiveTableHandle,
    columns: tuple[ColumnHandle, ...],
    predicate: TupleDomain[ColumnHandle],
    zone: str,
) -> FileRead:
    predicate = _of_files(predicate, dict(table.text_rules), {key.name for key in table.partition_keys})
    changed = {*dict(table.text_rules), *(column.name for column in (*ACID_HIDDEN_COLUMNS, *CHANGE_COLUMNS))}
    looked_at = [(one, [reference.column for reference in references(one)]) for one in table.conditions]
    conditions = [one for one, met in looked_at if not any(column.name in changed for column in met)]
    filtered = [*dict(predicate.domains or {}), *(column for _, met in looked_at for column in met)]
    used = {column.name for column in (*columns, *filtered)}
    return FileRead(
        FileRange(split.path, split.start, split.length),
        columns,
        constants={name: value for name, value in split.constants().items() if name in used},
        predicate=predicate.keep(lambda column: column not in ACID_HIDDEN_COLUMNS),
        conditions=tuple(conditions),
        zone=zone,
    )


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


def _open_rows(table: HiveTableHandle, split: HiveSplit, session: ConnectorSession, request: FileRequest) -> PageSource:
    """What reads the rows of a file, or what became of them."""
    if split.acid is None or table.snapshot is None:
        return format_named(split.format).page_source(request)
    asked = _acid_read(split.acid, table.snapshot, request, session)
    if table.changes is None:
        return acid_page_source(request.files, asked)
    if not isinstance(split.changes, RowChanges):
        raise InternalError(f"the split of {split.path} has no changes, and those of {table.name} are read")
    synthetic = asked.read.synthetic | {column.name for column in CHANGE_COLUMNS}
    visible = table.snapshot.at(max(table.changes.last, 0)).visible
    asked = replace(asked, read=replace(asked.read, synthetic=synthetic), visible=visible, needs_keys=True)
    return change_page_source(request.files, ChangeRead(asked, split.changes, table.changes))


def _acid_read(acid: AcidFile, snapshot: AcidSnapshot, request: FileRequest, session: ConnectorSession) -> AcidRead:
    # Hive finds the columns of ACID files by position, also renamed ones, and so does Trino.
    by_name = request.settings.orc_by_name and acid.original
    read = replace(
        request.read,
        synthetic=HIDDEN_NAMES,
        sources=request.sources(by_name=by_name),
        predicate=request.read.predicate.keep(lambda column: column not in CHANGE_COLUMNS),
        rules=ORC_RULES,
        zone=request.settings.orc_zone or request.read.zone,
        skips_rows=True,
    )
    return AcidRead(read, acid, snapshot.visible, session.get(MAX_DELETE_MEMORY))


def _bucket_stages(
    table: HiveTableHandle, split: HiveSplit, request: FileRequest, open_rows: Callable[[FileRequest], PageSource]
) -> tuple[FileRequest, tuple[BatchStage, ...]]:
    """What to read so that rows can be checked to be of the file's bucket, and what checks them.

    Rows that are skipped are not checked, so a check reads without the filter.
    """
    if table.bucketing is None or split.bucket is None or split.bucket_check is BucketCheck.NONE:
        return request, ()
    bucket = FileBucket(split.path, table.bucketing, split.bucket)
    if split.bucket_check is BucketCheck.FIRST_ROWS:
        probe = open_rows(_every_row(request, table.bucketing.columns))
        return request, (partial(bucket.first_rows_checked, probe),)
    columns = request.read.columns
    more = tuple(column for column in table.bucketing.columns if column not in columns)
    return _every_row(request, (*columns, *more)), (partial(bucket.rows_checked, request.read.schema),)


def _every_row(request: FileRequest, columns: tuple[ColumnHandle, ...]) -> FileRequest:
    return replace(request, read=replace(request.read, columns=columns, predicate=TupleDomain.all(), conditions=()))


def _text_stages(table: HiveTableHandle, split: HiveSplit, columns: tuple[ColumnHandle, ...]) -> tuple[BatchStage, ...]:
    names = {column.name for column in columns}
    rules = {name: rule for name, rule in table.text_rules if name in names}
    return (partial(_cut_texts, rules, split.path),) if rules else ()


def _cut_texts(
    rules: Mapping[str, TextRule], path: str, batches: Iterator[pa.RecordBatch]
) -> Generator[pa.RecordBatch, None, None]:
    """Pads and cuts the columns with char and varchar in them."""
    for batch in batches:
        try:
            columns = [
                apply_text_rule(column, rules[name]) if name in rules else column
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
        except pa.ArrowInvalid as error:
            raise CorruptFileError(f"{path} has a text in a char or varchar column that is no UTF-8") from error
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)
