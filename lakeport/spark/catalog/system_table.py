"""System tables such as ``orders$partitions``: made on the driver, handed to one task as Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.handles import ColumnHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.system_tables import SystemTable
from lakeport.spark.bridge.jvm import CATALOG, READ, Jvm
from lakeport.spark.bridge.plan_words.reading import read_predicates
from lakeport.spark.bridge.proxies import Proxy, digest
from lakeport.spark.bridge.python_tasks import TaskRows, arrow_partitions, arrow_reader_factory
from lakeport.spark.bridge.types import arrow_schema, spark_schema_json, task_schema
from lakeport.spark.bridge.versions import rows_need_a_column, v2_columns
from lakeport.spark.catalog.procedures import LocalRowsProxy
from lakeport.spark.catalog.table import table_abilities
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.scan.read_options import refuse_options
from lakeport.spark.scan.scan_proxy import PREDICATE
from lakeport.spark.tasks.task import spark_batch
from lakeport.transactions.statement import CatalogAccess

__all__ = ["ArrowScanProxy", "SystemTableProxy"]


class SystemTableProxy(Proxy):
    """A system table."""

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "SupportsRead"]

    def __init__(self, jvm: Jvm, name: CatalogSchemaTableName, table: SystemTable, access: CatalogAccess) -> None:
        super().__init__(jvm)
        self._name = name
        self._system_table = table
        self._access = access
        self._struct = jvm.data_type(spark_schema_json(table.metadata.visible_columns()))
        self._columns = v2_columns(jvm, self._struct)

    def name(self) -> str:
        """The full name."""
        return str(self._name)

    def id(self) -> str:
        """Who asks, since such tables show each user what is theirs; see ``TableProxy.id``."""
        who = self._access.session.identity
        return digest((who.user, who.groups, who.roles, who.catalog_role, who.for_others))

    def schema(self) -> JavaObject:
        """The columns as a struct."""
        return self._struct

    def columns(self) -> JavaObject:
        """The columns."""
        return self._columns

    def capabilities(self) -> JavaObject:
        """Batch reads only."""
        return table_abilities(self._jvm, ("BATCH_READ",))

    def newScanBuilder(self, options: JavaObject) -> SystemScanBuilderProxy:
        """A scan of all rows, narrowed to the columns used."""
        refuse_options(self._name, options)
        return SystemScanBuilderProxy(self._jvm, self.name(), _Rows(self._system_table, self._access))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Reads a system table."""

    table: SystemTable
    access: CatalogAccess

    def handles(self) -> dict[str, ColumnHandle]:
        """The columns by name."""
        return {column.name: ColumnHandle(column.name, column.type) for column in self.table.metadata.columns}

    def read(self, needed: TupleDomain[str]) -> pa.Table:
        """The rows; those outside of ``needed`` may be left out."""
        metadata = self.table.metadata
        schema = pa.schema([(column.name, column.type) for column in metadata.visible_columns()])
        with self.access.lock.asking(f"read the system table {metadata.name}"):
            batches = list(self.table.read(self.access.session, needed))
        # Connectors need not mark the same columns as never NULL.
        return pa.Table.from_batches([spark_batch(batch.select(schema.names), schema) for batch in batches], schema)


class SystemScanBuilderProxy(Proxy):
    """Takes the columns that the query reads, and its filters, which Spark checks again."""

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            READ + "SupportsPushDownV2Filters",
        ]

    def __init__(self, jvm: Jvm, title: str, rows: _Rows) -> None:
        super().__init__(jvm)
        self._title = title
        self._rows = rows
        self._names: list[str] | None = None
        self._needed = TupleDomain[str].all()

    def pushPredicates(self, predicates: JavaObject) -> JavaObject:
        """Looks at all filters, and gives all of them back."""
        handles = self._rows.handles()
        for predicate in read_predicates(self._jvm, predicates):
            found = translate(predicate, handles).domain
            self._needed = self._needed.intersect(found.transform_keys(lambda column: column.name))
        return predicates

    def pushedPredicates(self) -> JavaObject:
        """None that Spark may leave out."""
        return self._jvm.array(PREDICATE, [])

    def pruneColumns(self, schema: JavaObject) -> None:
        """The columns that the query reads."""
        self._names = arrow_schema(str(schema.json())).names

    def build(self) -> ArrowScanProxy | LocalRowsProxy:
        """The scan."""
        rows = self._rows.read(self._needed)
        if self._rows.table.is_local:
            return LocalRowsProxy(self._jvm, rows if self._names is None else rows.select(self._names))
        return ArrowScanProxy(self._jvm, self._title, rows, self._names)


class ArrowScanProxy(Proxy):
    """A scan of rows that the driver has."""

    class Java:
        implements: ClassVar[list[str]] = [READ + "Scan", READ + "Batch"]

    def __init__(self, jvm: Jvm, title: str, rows: pa.Table, names: list[str] | None = None) -> None:
        super().__init__(jvm)
        self._title = title
        self._rows = rows
        # A table of no columns would forget its row count on the way: the task drops columns, not the driver.
        self._schema = pa.schema([f for f in rows.schema if names is None or f.name in names])
        if not self._schema.names and rows_need_a_column(jvm):
            self._schema = pa.schema([rows.schema.field(0)])
        self._schema_json = spark_schema_json(ColumnMetadata(f.name, f.type) for f in self._schema)
        self._read_schema = jvm.data_type(self._schema_json)

    def readSchema(self) -> JavaObject:
        """The columns."""
        return self._read_schema

    def description(self) -> str:
        """What EXPLAIN shows."""
        return f"{self._title}, rows: {self._rows.num_rows} from the driver"

    def toBatch(self) -> ArrowScanProxy:
        """The scan is its own batch."""
        return self

    def columnarSupportMode(self) -> JavaObject:
        """Spark gives rows to the plan from Python tasks."""
        return self._jvm.cls(READ + "Scan.ColumnarSupportMode").UNSUPPORTED

    def planInputPartitions(self) -> JavaObject:
        """One task with all rows."""
        return arrow_partitions(self._jvm, self._rows)

    def createReaderFactory(self) -> JavaObject:
        """Unpacks the rows."""
        schema = task_schema(self._schema)
        return arrow_reader_factory(self._jvm, schema, TaskRows(self._schema_json, columnar=False))
