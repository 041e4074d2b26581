"""From a Spark identifier to a table proxy, within the thread's current statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedSystemTable, ResolvedTable
from connector_spi.errors import InvalidArgumentError, SchemaNotFoundError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import SupportsPartitionListing, TableVersion, VersionKind
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata
from lakeport.planning.redirection import resolve
from lakeport.planning.scan_plan import ScanPlan
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.plan_words.asked_table import AskedTable, AskedVersion
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.catalog.partitioned_table import PartitionedTableProxy
from lakeport.spark.catalog.system_table import SystemTableProxy
from lakeport.spark.catalog.table import TableProxy
from lakeport.spark.scan.scan import ScannedTable
from lakeport.sql.unsupported_statements import write_verb
from lakeport.transactions.statement import CatalogAccess

__all__ = [
    "AskedWrite",
    "asked_write",
    "full_name",
    "instant",
    "load_table",
    "scanned_table",
    "table_name",
    "table_version",
]


_CHANGES = ("DELETE", "MERGE", "UPDATE")


@dataclass(frozen=True, slots=True)
class AskedWrite:
    """What a table is loaded for.

    Attributes:
        statement: The first words of the statement, such as ``MERGE``.
        only_adds: Rows are added, and none is changed.
        changes: Rows are named and changed one by one: a DELETE, UPDATE or MERGE.
        overwrites: Rows are replaced by others.
    """

    statement: str
    only_adds: bool
    changes: bool = False
    overwrites: bool = False


def load_table(
    jvm: Jvm,
    access: CatalogAccess,
    name: CatalogSchemaTableName,
    version: TableVersion | None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> Proxy:
    """The proxy of a table or system table.

    Args:
        jvm: The JVM.
        access: The catalog in its statement.
        name: The table's name.
        version: An older version; ``None`` is the newest.
        options: Read options that change the columns, by name in lower case.

    Raises:
        TableNotFoundError: The table does not exist.
        NotSupportedError: It exists, but cannot be read correctly.
        InvalidArgumentError: An option is unknown or invalid.
    """
    access, resolved = resolve(access, name, version)
    if isinstance(resolved, ResolvedSystemTable):
        return SystemTableProxy(jvm, resolved.name, resolved.system_table, access)
    return _table(jvm, access, resolved, access.tables.with_options(access.begun, access.session, resolved, options))


def table_name(jvm: Jvm, catalog: str, ident: JavaObject) -> CatalogSchemaTableName:
    """The full name of an identifier; raises as ``full_name`` does."""
    return full_name(catalog, jvm.texts(ident.namespace()), str(ident.name()))


def full_name(catalog: str, namespace: Sequence[str], name: str) -> CatalogSchemaTableName:
    """The full name of a table.

    Args:
        catalog: The catalog.
        namespace: Names of the schema, as written.
        name: The table's name, as written.

    Raises:
        SchemaNotFoundError: It does not have exactly one schema.
    """
    if len(namespace) != 1:
        raise SchemaNotFoundError(
            f"'{'.'.join(namespace)}' is not a schema of catalog '{catalog}': expected catalog.schema.table"
        )
    return CatalogSchemaTableName(catalog, namespace[0].lower(), name.lower())


def table_version(asked: AskedVersion | None) -> TableVersion | None:
    """The version of ``VERSION AS OF`` or ``TIMESTAMP AS OF``.

    Raises:
        InvalidArgumentError: Spark asks for another kind of version.
    """
    if asked is None:
        return None
    if asked.kind == "AsOfVersion":
        return TableVersion(VersionKind.VERSION, str(asked.value))
    if asked.kind == "AsOfTimestamp" and asked.value is not None:
        return TableVersion(VersionKind.TIMESTAMP, instant(int(asked.value)))
    raise InvalidArgumentError(f"cannot read a table {asked.text}: expected VERSION AS OF or TIMESTAMP AS OF")


def asked_write(asked: AskedTable) -> AskedWrite | None:
    """The statement that loads a table to write it; ``None`` for a read."""
    if not asked.privileges:
        return None
    # A MERGE that only updates has the privilege of UPDATE. Programs write without SQL.
    verb = None if asked.sql is None else write_verb(asked.sql)
    if asked.privileges == ("INSERT",):
        # A MERGE may do nothing but insert.
        return AskedWrite(verb or "INSERT", only_adds=verb in (None, "INSERT"), changes=verb in _CHANGES)
    if asked.privileges == ("DELETE", "INSERT") and verb in (None, "INSERT", "INSERT OVERWRITE"):
        said = {None: "an overwriting write", "INSERT": "INSERT ... REPLACE"}
        return AskedWrite(said.get(verb, "INSERT OVERWRITE"), only_adds=False, overwrites=True)
    changes = verb in _CHANGES or (verb is None and asked.privileges != ("DELETE",))
    return AskedWrite(verb or " and ".join(asked.privileges), only_adds=False, changes=changes)


def instant(micros: int) -> datetime:
    """Microseconds since 1970 as an aware time, UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def scanned_table(access: CatalogAccess, resolved: ResolvedTable, shown: Sequence[ColumnMetadata]) -> ScannedTable:
    """A resolved table as scans need it, with the columns of ``SELECT *``."""
    columns = tuple(resolved.columns[column.name] for column in shown)
    everything = TupleDomain[ColumnHandle].all()
    plan = ScanPlan(access, resolved.handle, columns, everything, everything)
    keys = resolved.table.partitioned_by
    return ScannedTable(resolved.name, plan, dict(resolved.columns), keys, spark_schema_json(shown, char=True))


def _table(jvm: Jvm, access: CatalogAccess, resolved: ResolvedTable, shown: ResolvedTable) -> TableProxy:
    """The proxy of a table; ``shown`` is the same table with the columns after read options."""
    scanned = scanned_table(access, shown, shown.table.visible_columns())
    if scanned.partition_keys and isinstance(access.metadata, SupportsPartitionListing):
        return PartitionedTableProxy(jvm, scanned, shown.table, resolved)
    return TableProxy(jvm, scanned, shown.table, resolved)
