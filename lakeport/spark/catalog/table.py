"""A table as Spark sees it: one snapshot, loaded once for each use of the name."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.guard.handles import seen_part
from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.optional.streaming import SupportsStreaming, SupportsStreamingInsert
from connector_spi.optional.writing import SupportsInsert, SupportsOverwrite
from connector_spi.schema import ColumnMetadata, TableMetadata
from lakeport.arrow.write.merging import row_id_columns
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import CALLED_IN_WORDS, digest
from lakeport.spark.bridge.session_settings import FileSettings, file_settings
from lakeport.spark.bridge.versions import v2_columns
from lakeport.spark.catalog.metadata_columns import known_metadata_columns, metadata_columns
from lakeport.spark.scan.char_scan_builder import scan_builder
from lakeport.spark.scan.read_options import given_options, streamed_table
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_builder import ScanBuilderProxy
from lakeport.spark.streaming.micro_batch import StreamedTable
from lakeport.spark.streaming.options import stream_options
from lakeport.spark.transforms import known_transforms, table_transforms
from lakeport.spark.write.changed_table import ChangedTable
from lakeport.spark.write.distribution import insert_layout
from lakeport.spark.write.insert import SparkInsert
from lakeport.spark.write.write_builder import AskedRows, WriteBuilderProxy, WriteStarts

__all__ = ["TableProxy", "table_abilities"]

_OVERWRITES = ("OVERWRITE_BY_FILTER", "OVERWRITE_DYNAMIC", "TRUNCATE")
# TimeTravelSpec.fromOptions: the table was loaded as of it already.
_TIME_TRAVEL_OPTIONS = frozenset({"timestampasof", "versionasof"})


class TableProxy(ChangedTable):
    """A table, to which rows can be added where its connector writes."""

    class Java:
        implements: ClassVar[list[str]] = [
            CATALOG + "SupportsRead",
            CATALOG + "SupportsWrite",
            CATALOG + "SupportsMetadataColumns",
            CATALOG + "SupportsRowLevelOperations",
            CATALOG + "SupportsDeleteV2",
            CALLED_IN_WORDS,
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable, metadata: TableMetadata, resolved: ResolvedTable) -> None:
        super().__init__(jvm, table, resolved)
        self._metadata = metadata

    def name(self) -> str:
        """The full name."""
        return str(self._table.name)

    def id(self) -> str | None:
        """Which part of the table is seen; ``None`` for all of it.

        Spark takes a table of ``CACHE TABLE`` for any other of the same name and id, whoever asks.
        """
        part = seen_part(self._table.plan.table)
        return None if part is None else digest(part)

    def version(self) -> None:
        """Spark compares versions to refresh a table that it loaded before; ours keep the snapshot they have."""
        return

    def schema(self) -> JavaObject:
        """The visible columns as a struct."""
        return self._jvm.data_type(self._table.schema_json)

    def columns(self) -> JavaObject:
        """The visible columns."""
        return v2_columns(self._jvm, self.schema())

    def partitioning(self) -> JavaObject:
        """The partition keys as identity transforms, and the buckets."""
        return table_transforms(self._jvm, self._metadata)

    def properties(self) -> JavaObject:
        """What SHOW CREATE TABLE and DESCRIBE EXTENDED show."""
        return self._jvm.string_map(self._shown_properties())

    def capabilities(self) -> JavaObject:
        """Batch reads, micro batches of a stream where the connector knows what is new, writes where it has sinks."""
        return table_abilities(self._jvm, self._capabilities())

    def constraints(self) -> JavaObject:
        """None."""
        return self._jvm.array(CATALOG + "constraints.Constraint", [])

    def metadataColumns(self) -> JavaObject:
        """The hidden columns."""
        return metadata_columns(self._jvm, self._hidden(), self._row_ids())

    def canRenameConflictingMetadataColumns(self) -> bool:
        """No: a table with a column of the name of a hidden one shows its own."""
        return False

    def newScanBuilder(self, options: JavaObject) -> ScanBuilderProxy:
        """A scan, as the read options ask for it; one that the connector does not know could change the rows."""
        return self._scan_builder(given_options(options, _TIME_TRAVEL_OPTIONS), None)

    def _called_in_words(self, name: str, words: str) -> object:
        if name not in ("newScanBuilder", "newWriteBuilder"):
            return super()._called_in_words(name, words)
        asked = json.loads(words)
        if name == "newWriteBuilder":
            return self._write_builder(AskedRows(asked["columns"], asked["query"]))
        options = {key.lower(): text for key, text in asked["options"].items()}
        given = {key: text for key, text in options.items() if key not in _TIME_TRAVEL_OPTIONS}
        return self._scan_builder(given, file_settings(asked["files"]))

    def _scan_builder(self, given: dict[str, str], files: FileSettings | None) -> ScanBuilderProxy:
        access = self._table.plan.access
        table = self._table
        if isinstance(access.metadata, SupportsStreaming):
            table = replace(table, stream=self._stream(access.metadata, given))
            assert table.stream is not None
            given = {name: text for name, text in given.items() if name not in table.stream.options.given}
        if not given:
            return scan_builder(self._jvm, table, files)
        found = access.tables.with_options(access.begun, access.session, self._resolved, given)
        if found.table.visible_columns() != self._metadata.visible_columns():
            # Spark before 4.3 loads tables with no options, and so knows their columns too early.
            raise NotSupportedError(
                f"with the options {', '.join(sorted(given))} table {found.name} has other columns, which Spark "
                f"{self._jvm.version} cannot learn of; use Spark 4.3 or later, or read it with session.arrow"
            )
        plan = replace(self._table.plan, table=found.handle)
        return scan_builder(self._jvm, replace(table, plan=plan), files)

    def newWriteBuilder(self, info: JavaObject) -> WriteBuilderProxy:
        """Rows to be added, or to replace others."""
        return self._write_builder(AskedRows(str(info.schema().json()), str(info.queryId())))

    def _write_builder(self, rows: AskedRows) -> WriteBuilderProxy:
        statement = self._table.plan.access.statement
        begin = partial(SparkInsert.into, statement, self._resolved, self._metadata.visible_columns())
        layout = insert_layout(self._table.plan.access, self._resolved)
        return WriteBuilderProxy(self._jvm, self._resolved, WriteStarts(begin, self._begin_epoch), rows, layout)

    def _begin_epoch(self) -> SparkInsert:
        """Of a streaming query, which has the table loaded for as long as it runs."""
        statement = self._table.plan.access.statement
        statement.lease.release_if_unread()
        return SparkInsert.into(statement.apart(), self._resolved, self._metadata.visible_columns())

    def _stream(self, metadata: SupportsStreaming, given: dict[str, str]) -> StreamedTable:
        zone = self._table.plan.access.session.time_zone
        options, rest = stream_options(self._table.name, given, metadata.stream_option_names, zone)
        return streamed_table(self._table, self._metadata, options, tuple(rest), changes=False)

    def _known(self) -> KnownAnswers:
        found = {
            "name": answers.plain(self.name()),
            "id": answers.plain(self.id()),
            "version": answers.plain(None),
            "schema": answers.spark_type(self._table.schema_json),
            "columns": answers.columns(self._table.schema_json),
            "partitioning": known_transforms(self._metadata),
            "properties": answers.string_map(self._shown_properties()),
            "capabilities": answers.constants(CATALOG + "TableCapability", self._capabilities()),
            "constraints": answers.array(CATALOG + "constraints.Constraint"),
            "metadataColumns": known_metadata_columns(self._hidden(), self._row_ids()),
            "canRenameConflictingMetadataColumns": answers.plain(False),
        }
        return KnownAnswers({**self._named(), **found}, in_words=frozenset({"newScanBuilder", "newWriteBuilder"}))

    def _shown_properties(self) -> list[tuple[str, str]]:
        comment = [("comment", self._metadata.comment)] if self._metadata.comment else []
        return [*self._metadata.properties, *comment]

    def _is_streamed(self) -> bool:
        return isinstance(self._table.plan.access.metadata, SupportsStreaming)

    def _capabilities(self) -> tuple[str, ...]:
        metadata = self._table.plan.access.metadata
        writes = ["BATCH_WRITE"] if isinstance(metadata, SupportsInsert) else []
        if isinstance(metadata, SupportsStreamingInsert):
            writes.append("STREAMING_WRITE")
        overwrites = _OVERWRITES if isinstance(metadata, SupportsOverwrite) else ()
        return ("BATCH_READ", *(["MICRO_BATCH_READ"] if self._is_streamed() else []), *writes, *overwrites)

    def _hidden(self) -> list[ColumnMetadata]:
        return [column for column in self._metadata.columns if column.hidden]

    def _row_ids(self) -> frozenset[str]:
        """The hidden columns by which rows can be changed; none where they cannot."""
        try:
            return frozenset(column.name for column in row_id_columns(self._table.plan.access, self._resolved))
        except NotSupportedError:
            return frozenset()

    def _identity(self) -> object:
        return (self._table.name, self._table.plan.table)


def table_abilities(jvm: Jvm, abilities: tuple[str, ...]) -> JavaObject:
    """Names of capabilities of a table as Spark's set."""
    key = ("capabilities", abilities)
    if key not in jvm.shared:
        known = jvm.cls(CATALOG + "TableCapability")
        found = jvm.cls("java.util.HashSet")()
        for one in abilities:
            found.add(getattr(known, one))
        jvm.shared[key] = found
    return jvm.shared[key]
