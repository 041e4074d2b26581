"""A table as Spark sees it: one snapshot, loaded once for each use of the name."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.metadata import SupportsPartitionListing
from connector_spi.optional.definitions import PartitionDefinition
from connector_spi.optional.streaming import SupportsStreaming
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.schema import TableMetadata
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.row_batches import MANY_ROWS, are_plain, many_internal_rows
from lakeport.spark.bridge.rows import internal_row, python_value
from lakeport.spark.bridge.types import spark_schema_json, spark_type_json
from lakeport.spark.bridge.versions import v2_columns
from lakeport.spark.catalog.definitions import add_partitions, drop_partitions, java_map
from lakeport.spark.scan.char_scan_builder import scan_builder
from lakeport.spark.scan.read_options import given_options, streamed_table
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_builder import ScanBuilderProxy
from lakeport.spark.streaming.micro_batch import StreamedTable
from lakeport.spark.streaming.options import stream_options
from lakeport.sql.unsupported_statements import read_only

__all__ = ["PartitionedTableProxy", "TableProxy", "table_reads"]

# TimeTravelSpec.fromOptions: the table was loaded as of it already.
_TIME_TRAVEL_OPTIONS = frozenset({"timestampasof", "versionasof"})
_INTERNAL_ROW = "org.apache.spark.sql.catalyst.InternalRow"


class TableProxy(Proxy):
    """A table that is read only."""

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "SupportsRead", CATALOG + "SupportsMetadataColumns"]

    def __init__(self, jvm: Jvm, table: ScannedTable, metadata: TableMetadata, resolved: ResolvedTable) -> None:
        super().__init__(jvm)
        self._table = table
        self._metadata = metadata
        self._resolved = resolved
        self._struct = jvm.data_type(table.schema_json)
        self._columns = v2_columns(jvm, self._struct)

    def name(self) -> str:
        """The full name."""
        return str(self._table.name)

    def id(self) -> None:
        """Tables have no identity but their name."""
        return

    def version(self) -> None:
        """Spark compares versions to refresh a table that it loaded before; ours keep the snapshot they have."""
        return

    def schema(self) -> JavaObject:
        """The visible columns as a struct."""
        return self._struct

    def columns(self) -> JavaObject:
        """The visible columns."""
        return self._columns

    def partitioning(self) -> JavaObject:
        """The partition keys as identity transforms."""
        expressions = self._jvm.cls("org.apache.spark.sql.connector.expressions.Expressions")
        transforms = [expressions.identity(f"`{name}`") for name in self._metadata.partitioned_by]
        return self._jvm.array("org.apache.spark.sql.connector.expressions.Transform", transforms)

    def properties(self) -> JavaObject:
        """What SHOW CREATE TABLE and DESCRIBE EXTENDED show."""
        comment = [("comment", self._metadata.comment)] if self._metadata.comment else []
        return self._jvm.string_map([*self._metadata.properties, *comment])

    def capabilities(self) -> JavaObject:
        """Batch reads, and micro batches of a stream where the connector knows what is new."""
        access = self._table.plan.access
        return table_reads(self._jvm, streams=isinstance(access.metadata, SupportsStreaming))

    def constraints(self) -> JavaObject:
        """None."""
        return self._jvm.array(CATALOG + "constraints.Constraint", [])

    def metadataColumns(self) -> JavaObject:
        """The hidden columns."""
        hidden = [column for column in self._metadata.columns if column.hidden]
        key = ("metadata columns", *((column.name, column.type) for column in hidden))
        if key not in self._jvm.shared:
            proxies = [
                MetadataColumnProxy(self._jvm, column.name, spark_type_json(column.type, column.name))
                for column in hidden
            ]
            # One array serves all tables that have the same hidden columns.
            self._jvm.shared[key] = self._jvm.array(CATALOG + "MetadataColumn", proxies)
        return self._jvm.shared[key]

    def canRenameConflictingMetadataColumns(self) -> bool:
        """No: a table with a column of the name of a hidden one shows its own."""
        return False

    def newScanBuilder(self, options: JavaObject) -> ScanBuilderProxy:
        """A scan, as the read options ask for it; one that the connector does not know could change the rows."""
        access = self._table.plan.access
        given = given_options(options, _TIME_TRAVEL_OPTIONS)
        table = self._table
        if isinstance(access.metadata, SupportsStreaming):
            table = replace(table, stream=self._stream(access.metadata, given))
            assert table.stream is not None
            given = {name: text for name, text in given.items() if name not in table.stream.options.given}
        if not given:
            return scan_builder(self._jvm, table)
        found = access.tables.with_options(access.begun, access.session, self._resolved, given)
        if found.table.visible_columns() != self._metadata.visible_columns():
            # Spark before 4.3 loads tables with no options, and so knows their columns too early.
            raise NotSupportedError(
                f"with the options {', '.join(sorted(given))} table {found.name} has other columns, which Spark "
                f"{self._jvm.version} cannot learn of; use Spark 4.3 or later, or read it with session.arrow"
            )
        plan = replace(self._table.plan, table=found.handle)
        return scan_builder(self._jvm, replace(table, plan=plan))

    def _stream(self, metadata: SupportsStreaming, given: dict[str, str]) -> StreamedTable:
        zone = self._table.plan.access.session.time_zone
        options, rest = stream_options(self._table.name, given, metadata.stream_option_names, zone)
        return streamed_table(self._table, self._metadata, options, tuple(rest), changes=False)

    def _identity(self) -> object:
        return (self._table.name, self._table.plan.table)


class PartitionedTableProxy(TableProxy):
    """A table whose partitions can be listed."""

    class Java:
        implements: ClassVar[list[str]] = [*TableProxy.Java.implements, CATALOG + "SupportsAtomicPartitionManagement"]

    def partitionSchema(self) -> JavaObject:
        """The partition keys as a struct."""
        return self._jvm.data_type(self._key_schema_json())

    def listPartitionIdentifiers(self, names: JavaObject, ident: JavaObject) -> JavaObject:
        """The partitions whose keys ``names`` have the values of the row ``ident``, for SHOW PARTITIONS."""
        access = self._table.plan.access
        metadata = access.metadata
        assert isinstance(metadata, SupportsPartitionListing)
        keys = self._metadata.partitioned_by
        types = self._key_types()
        wanted = self._wanted(self._jvm.texts(names), ident, types)
        constraint = _constraint(wanted, dict(zip(keys, types, strict=True)))
        with access.lock:
            partitions = metadata.list_partitions(access.session, self._table.plan.table, constraint)
        schema = self._jvm.data_type(self._key_schema_json())
        rows = [
            values for values in partitions if all(values[keys.index(name)] == value for name, value in wanted.items())
        ]
        if len(rows) > MANY_ROWS and are_plain(types):
            return many_internal_rows(self._key_schema_json(), pa.schema(list(zip(keys, types, strict=True))), rows)
        return self._jvm.array(_INTERNAL_ROW, [internal_row(self._jvm, schema, types, values) for values in rows])

    def loadPartitionMetadata(self, ident: JavaObject) -> JavaObject:
        """Nothing is known of one partition."""
        return self._jvm.string_map([])

    def createPartitions(self, idents: JavaObject, properties: JavaObject) -> None:
        """``ALTER TABLE ... ADD PARTITION``."""
        given = [java_map(entries) for entries in self._jvm.items(properties)]
        rows = [self._key_values(ident) for ident in self._jvm.items(idents)]
        new = [PartitionDefinition(row, entries.get("location")) for row, entries in zip(rows, given, strict=True)]
        add_partitions(self._table.plan.access, self._table.name, new)

    def dropPartitions(self, idents: JavaObject) -> bool:
        """``ALTER TABLE ... DROP PARTITION``."""
        rows = [self._key_values(ident) for ident in self._jvm.items(idents)]
        drop_partitions(self._table.plan.access, self._table.name, rows)
        return True

    def replacePartitionMetadata(self, ident: JavaObject, properties: JavaObject) -> None:
        """Refused."""
        raise read_only(self._table.name.catalog, "ALTER PARTITION")

    def _key_values(self, ident: JavaObject) -> tuple[object, ...]:
        return tuple(python_value(ident, index, data_type) for index, data_type in enumerate(self._key_types()))

    def _wanted(self, names: list[str], ident: JavaObject, types: list[pa.DataType]) -> dict[str, object]:
        keys = self._metadata.partitioned_by
        return {name: python_value(ident, index, types[keys.index(name)]) for index, name in enumerate(names)}

    def _key_types(self) -> list[pa.DataType]:
        by_name = {column.name: column.type for column in self._metadata.columns}
        return [by_name[name] for name in self._metadata.partitioned_by]

    def _key_schema_json(self) -> str:
        by_name = {column.name: column for column in self._metadata.columns}
        return spark_schema_json(by_name[name] for name in self._metadata.partitioned_by)


class MetadataColumnProxy(Proxy):
    """A hidden column such as ``$path``."""

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "MetadataColumn"]

    def __init__(self, jvm: Jvm, name: str, type_json: str) -> None:
        super().__init__(jvm)
        self._name = name
        self._type = jvm.data_type(type_json)

    def name(self) -> str:
        """The column's name."""
        return self._name

    def dataType(self) -> JavaObject:
        """The column's type."""
        return self._type

    def isNullable(self) -> bool:
        """Always, as far as Spark knows."""
        return True

    def comment(self) -> None:
        """None."""
        return

    def transform(self) -> None:
        """None: it is not derived."""
        return

    def metadataInJSON(self) -> str:
        """No marks."""
        return json.dumps({})


def table_reads(jvm: Jvm, *, streams: bool) -> JavaObject:
    """The set of capabilities of a table that is read in batches, and as a stream."""
    key = ("capabilities", streams)
    if key not in jvm.shared:
        known = jvm.cls(CATALOG + "TableCapability")
        found = jvm.cls("java.util.HashSet")()
        for one in ("BATCH_READ", "MICRO_BATCH_READ")[: 1 + streams]:
            found.add(getattr(known, one))
        jvm.shared[key] = found
    return jvm.shared[key]


def _constraint(wanted: dict[str, object], types: dict[str, pa.DataType]) -> TupleDomain[str]:
    """The partitions of which a connector has to know at least; those of other values are left out later."""
    domains: dict[str, Domain] = {}
    for name, value in wanted.items():
        if value is None:
            domains[name] = Domain.only_null(types[name])
        elif isinstance(value, (bool, int, str, date)) and are_plain([types[name]]):
            domains[name] = Domain.single_value(types[name], value)
    return TupleDomain[str].with_column_domains(domains)
