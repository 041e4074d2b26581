"""Metadata that does what an identity may: definitions, rows and statistics that are written. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from catalog.guard.grants import GuardedGrants
from catalog.guard.metadata import GuardedMetadata, guarded_table
from connector_spi.errors import AccessDeniedError, NotSupportedError
from connector_spi.handles import TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.creating import NewTable, SupportsCreateTableAs, SupportsTableReplacement
from connector_spi.optional.definitions import (
    PartitionDefinition,
    SupportsPartitionDefinition,
    SupportsSchemaDefinition,
    SupportsTableDefinition,
    TableDefinition,
)
from connector_spi.optional.grants import SupportsGrants
from connector_spi.optional.page_sink import Fragment, InsertHandle, MergeHandle
from connector_spi.optional.statistics_collection import (
    CollectedStatistics,
    StatisticsCollection,
    SupportsFileStatistics,
    SupportsStatisticsCollection,
)
from connector_spi.optional.streaming import StreamEpoch, SupportsStreamingInsert
from connector_spi.optional.writing import (
    InsertLayout,
    MergeCommand,
    Overwrite,
    SupportsDelete,
    SupportsInsert,
    SupportsInsertLayout,
    SupportsMerge,
    SupportsOverwrite,
)
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["WRITING"]


class _SchemaDefinition(GuardedMetadata):
    def create_schema(self, session: ConnectorSession, schema: str, properties: Mapping[str, str]) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_create_schema(session.identity, checks.catalog, schema))
        self._schemas.create_schema(session, schema, properties)

    def set_schema_properties(self, session: ConnectorSession, schema: str, changes: Mapping[str, str | None]) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_set_schema_properties(session.identity, checks.catalog, schema))
        self._schemas.set_schema_properties(session, schema, changes)

    def drop_schema(self, session: ConnectorSession, schema: str, cascade: bool) -> None:
        checks = self.checks
        checks.check(lambda control: control.check_can_drop_schema(session.identity, checks.catalog, schema))
        for name in self.metadata.list_tables(session, schema) if cascade else ():
            self.check_table_drop(session, name)
        self._schemas.drop_schema(session, schema, cascade)

    def check_table_drop(self, session: ConnectorSession, name: SchemaTableName) -> None:
        """Checks that a table may be dropped."""
        self.checks.check(lambda control: control.check_can_drop_table(session.identity, self.checks.full(name)))

    @property
    def _schemas(self) -> SupportsSchemaDefinition:
        return cast(SupportsSchemaDefinition, self.metadata)


class _TableDefinition(GuardedMetadata):
    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        name = self.checks.full(definition.name)
        self.checks.check(lambda control: control.check_can_create_table(session.identity, name))
        self._tables.create_table(session, definition)

    def drop_table(self, session: ConnectorSession, name: SchemaTableName, purge: bool) -> None:
        self.checks.check(lambda control: control.check_can_drop_table(session.identity, self.checks.full(name)))
        self._tables.drop_table(session, name, purge)

    def rename_table(self, session: ConnectorSession, name: SchemaTableName, new_name: SchemaTableName) -> None:
        old, new = self.checks.full(name), self.checks.full(new_name)
        self.checks.check(lambda control: control.check_can_rename_table(session.identity, old, new))
        self._tables.rename_table(session, name, new_name)

    def set_table_properties(
        self, session: ConnectorSession, name: SchemaTableName, changes: Mapping[str, str | None]
    ) -> None:
        full = self.checks.full(name)
        self.checks.check(lambda control: control.check_can_set_table_properties(session.identity, full))
        self._tables.set_table_properties(session, name, changes)

    def set_column_comment(
        self, session: ConnectorSession, name: SchemaTableName, column: str, comment: str | None
    ) -> None:
        full = self.checks.full(name)
        self.checks.check(lambda control: control.check_can_set_column_comment(session.identity, full))
        self._tables.set_column_comment(session, name, column, comment)

    @property
    def _tables(self) -> SupportsTableDefinition:
        return cast(SupportsTableDefinition, self.metadata)


class _CreateTableAs(GuardedMetadata):
    def begin_create_table(self, session: ConnectorSession, definition: TableDefinition) -> NewTable:
        name = self.checks.full(definition.name)
        self.checks.check(lambda control: control.check_can_create_table(session.identity, name))
        return cast(SupportsCreateTableAs, self.metadata).begin_create_table(session, definition)

    def finish_create_table(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]
    ) -> None:
        cast(SupportsCreateTableAs, self.metadata).finish_create_table(session, insert, fragments)


class _TableReplacement(GuardedMetadata):
    def begin_replace_table(self, session: ConnectorSession, definition: TableDefinition) -> SchemaTableName | None:
        self._check(session, definition.name)
        self.refuse_part_of(session, definition.name, "replace")
        made = self._replacing.begin_replace_table(session, definition)
        if made is not None:
            try:
                # It is written as any table, under a name of its own.
                self._check(session, made)
            except AccessDeniedError:
                cast(SupportsTableDefinition, self.metadata).drop_table(session, made, purge=True)
                raise
        return made

    def finish_replace_table(
        self, session: ConnectorSession, name: SchemaTableName, replacement: SchemaTableName
    ) -> None:
        self._check(session, name)
        self._replacing.finish_replace_table(session, name, replacement)

    def _check(self, session: ConnectorSession, name: SchemaTableName) -> None:
        full = self.checks.full(name)
        self.checks.check(lambda control: control.check_can_create_table(session.identity, full))
        self.checks.check(lambda control: control.check_can_drop_table(session.identity, full))

    @property
    def _replacing(self) -> SupportsTableReplacement:
        return cast(SupportsTableReplacement, self.metadata)


class _PartitionDefinition(GuardedMetadata):
    def add_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[PartitionDefinition]
    ) -> None:
        full = self.checks.full(name)
        self.checks.check(lambda control: control.check_can_insert_into_table(session.identity, full))
        if any(partition.location is not None for partition in partitions):
            # Its rows come from any directory, like those of a table that is created there.
            self.checks.check(lambda control: control.check_can_create_table(session.identity, full))
        self.refuse_part_of(session, name, "change partitions of")
        cast(SupportsPartitionDefinition, self.metadata).add_partitions(session, name, partitions)

    def drop_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[tuple[object, ...]]
    ) -> None:
        full = self.checks.full(name)
        self.checks.check(lambda control: control.check_can_delete_from_table(session.identity, full))
        self.refuse_part_of(session, name, "change partitions of")
        cast(SupportsPartitionDefinition, self.metadata).drop_partitions(session, name, partitions)


class _Insert(GuardedMetadata):
    def begin_insert(self, session: ConnectorSession, table: TableHandle) -> InsertHandle:
        guarded = guarded_table(table)
        full = self.checks.full(guarded.name)
        self.checks.check(lambda control: control.check_can_insert_into_table(session.identity, full))
        self.refuse_part(session, guarded, "insert into")
        return cast(SupportsInsert, self.metadata).begin_insert(session, guarded.table)

    def finish_insert(self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]) -> None:
        cast(SupportsInsert, self.metadata).finish_insert(session, insert, fragments)

    def abort_insert(self, session: ConnectorSession, insert: InsertHandle) -> None:
        cast(SupportsInsert, self.metadata).abort_insert(session, insert)


class _StreamingInsert(GuardedMetadata):
    def finish_stream_insert(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment], epoch: StreamEpoch
    ) -> bool:
        metadata = cast(SupportsStreamingInsert, self.metadata)
        return metadata.finish_stream_insert(session, insert, fragments, epoch)


class _InsertLayout(GuardedMetadata):
    def get_insert_layout(self, session: ConnectorSession, table: TableHandle) -> InsertLayout | None:
        return cast(SupportsInsertLayout, self.metadata).get_insert_layout(session, guarded_table(table).table)


class _Overwrite(GuardedMetadata):
    def begin_overwrite(self, session: ConnectorSession, table: TableHandle, overwrite: Overwrite) -> InsertHandle:
        guarded = guarded_table(table)
        full = self.checks.full(guarded.name)
        self.checks.check(lambda control: control.check_can_insert_into_table(session.identity, full))
        self.checks.check(lambda control: control.check_can_delete_from_table(session.identity, full))
        self.refuse_part(session, guarded, "overwrite")
        seen = None if overwrite.seen is None else guarded_table(overwrite.seen).table
        metadata = cast(SupportsOverwrite, self.metadata)
        return metadata.begin_overwrite(session, guarded.table, replace(overwrite, seen=seen))


class _Delete(GuardedMetadata):
    def apply_delete(
        self, session: ConnectorSession, table: TableHandle, rows: TupleDomain[str], seen: TableHandle | None = None
    ) -> None:
        guarded = guarded_table(table)
        full = self.checks.full(guarded.name)
        self.checks.check(lambda control: control.check_can_delete_from_table(session.identity, full))
        self.refuse_part(session, guarded, "delete rows of")
        before = None if seen is None else guarded_table(seen).table
        cast(SupportsDelete, self.metadata).apply_delete(session, guarded.table, rows, before)


class _Merge(GuardedMetadata):
    def get_merge_row_id_columns(self, session: ConnectorSession, table: TableHandle) -> Sequence[str]:
        guarded = guarded_table(table)
        if not guarded.is_whole:
            # The engine asks for any table whether its rows can be changed.
            raise NotSupportedError(
                f"Access Denied: Cannot change rows of table {self.checks.full(guarded.name)}: user {session.user} "
                "does not see all of its rows, columns and values",
                AccessDeniedError.default_code,
            )
        return cast(SupportsMerge, self.metadata).get_merge_row_id_columns(session, guarded.table)

    def begin_merge(self, session: ConnectorSession, table: TableHandle, command: MergeCommand) -> MergeHandle:
        guarded = guarded_table(table)
        identity, full, check = session.identity, self.checks.full(guarded.name), self.checks.check
        # What a MERGE does is not known here: it may do all three.
        if command is not MergeCommand.UPDATE:
            check(lambda control: control.check_can_delete_from_table(identity, full))
        if command is not MergeCommand.DELETE:
            check(lambda control: control.check_can_update_table_columns(identity, full))
        if command is MergeCommand.MERGE:
            check(lambda control: control.check_can_insert_into_table(identity, full))
        self.refuse_part(session, guarded, "change rows of")
        return cast(SupportsMerge, self.metadata).begin_merge(session, guarded.table, command)

    def finish_merge(self, session: ConnectorSession, merge: MergeHandle, fragments: Sequence[Fragment]) -> None:
        cast(SupportsMerge, self.metadata).finish_merge(session, merge, fragments)

    def abort_merge(self, session: ConnectorSession, merge: MergeHandle) -> None:
        cast(SupportsMerge, self.metadata).abort_merge(session, merge)


class _StatisticsCollection(GuardedMetadata):
    def get_statistics_collection(self, session: ConnectorSession, table: TableHandle) -> StatisticsCollection:
        guarded = guarded_table(table)
        full = self.checks.full(guarded.name)
        self.checks.check(lambda control: control.check_can_insert_into_table(session.identity, full))
        self.refuse_part(session, guarded, "analyze")
        metadata = cast(SupportsStatisticsCollection, self.metadata)
        return metadata.get_statistics_collection(session, guarded.table)

    def finish_statistics_collection(
        self, session: ConnectorSession, table: TableHandle, collected: Sequence[CollectedStatistics]
    ) -> None:
        guarded = guarded_table(table)
        self.refuse_part(session, guarded, "analyze")
        metadata = cast(SupportsStatisticsCollection, self.metadata)
        metadata.finish_statistics_collection(session, guarded.table, collected)


class _FileStatistics(GuardedMetadata):
    def collect_file_statistics(self, session: ConnectorSession, table: TableHandle) -> None:
        guarded = guarded_table(table)
        full = self.checks.full(guarded.name)
        self.checks.check(lambda control: control.check_can_insert_into_table(session.identity, full))
        self.refuse_part(session, guarded, "analyze")
        cast(SupportsFileStatistics, self.metadata).collect_file_statistics(session, guarded.table)


WRITING: tuple[tuple[type, type[GuardedMetadata]], ...] = (
    (SupportsSchemaDefinition, _SchemaDefinition),
    (SupportsTableDefinition, _TableDefinition),
    (SupportsPartitionDefinition, _PartitionDefinition),
    (SupportsCreateTableAs, _CreateTableAs),
    (SupportsTableReplacement, _TableReplacement),
    (SupportsInsert, _Insert),
    (SupportsStreamingInsert, _StreamingInsert),
    (SupportsInsertLayout, _InsertLayout),
    (SupportsOverwrite, _Overwrite),
    (SupportsDelete, _Delete),
    (SupportsMerge, _Merge),
    (SupportsGrants, GuardedGrants),
    (SupportsStatisticsCollection, _StatisticsCollection),
    (SupportsFileStatistics, _FileStatistics),
)
"""What metadata may offer beside reading, and the class that guards it."""
