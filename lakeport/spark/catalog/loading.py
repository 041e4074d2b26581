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
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.catalog.partitioned_table import PartitionedTableProxy
from lakeport.spark.catalog.system_table import SystemTableProxy
from lakeport.spark.catalog.table import TableProxy
from lakeport.spark.scan.read_options import given_options
from lakeport.spark.scan.scan import ScannedTable
from lakeport.sql.unsupported_statements import write_verb
from lakeport.transactions.statement import CatalogAccess

__all__ = [
    "AskedWrite",
    "asked_write",
    "instant",
    "load_table",
    "loading_options",
    "scanned_table",
    "table_name",
    "table_version",
]


@dataclass(frozen=True, slots=True)
class AskedWrite:
    """What a table is loaded for.

    Attributes:
        statement: The first words of the statement, such as ``MERGE``.
        only_adds: Rows are added, and none is changed.
        overwrites: Rows are replaced by others.
    """

    statement: str
    only_adds: bool
    overwrites: bool = False


def load_table(
    jvm: Jvm,
    access: CatalogAccess,
    ident: JavaObject,
    version: TableVersion | None,
    options: Mapping[str, str] = MappingProxyType({}),
) -> Proxy:
    """The proxy of a table or system table.

    Args:
        jvm: The JVM.
        access: The catalog in its statement.
        ident: The table's name.
        version: An older version; ``None`` is the newest.
        options: Read options that change the columns, by name in lower case.

    Raises:
        TableNotFoundError: The table does not exist, or its name has more than one schema.
        NotSupportedError: It exists, but cannot be read correctly.
        InvalidArgumentError: An option is unknown or invalid.
    """
    access, resolved = resolve(access, table_name(jvm, access.catalog, ident), version)
    if isinstance(resolved, ResolvedSystemTable):
        return SystemTableProxy(jvm, resolved.name, resolved.system_table, access)
    return _table(jvm, access, resolved, access.tables.with_options(access.begun, access.session, resolved, options))


def table_name(jvm: Jvm, catalog: str, ident: JavaObject) -> CatalogSchemaTableName:
    """The full name of an identifier.

    Raises:
        SchemaNotFoundError: It does not have exactly one schema.
    """
    namespace = jvm.texts(ident.namespace())
    if len(namespace) != 1:
        raise SchemaNotFoundError(
            f"'{'.'.join(namespace)}' is not a schema of catalog '{catalog}': expected catalog.schema.table"
        )
    return CatalogSchemaTableName(catalog, namespace[0].lower(), str(ident.name()).lower())


def table_version(jvm: Jvm, context: tuple[object, ...]) -> TableVersion | None:
    """The version of ``VERSION AS OF`` or ``TIMESTAMP AS OF``, from any form of arguments of ``loadTable``.

    Raises:
        InvalidArgumentError: The form is unknown.
    """
    if not context:
        return None
    first = context[0]
    if isinstance(first, str):
        return TableVersion(VersionKind.VERSION, first)
    if isinstance(first, int):
        return TableVersion(VersionKind.TIMESTAMP, instant(first))
    assert isinstance(first, JavaObject)
    # A single argument is a set of write privileges; these are refused when the write comes.
    if len(context) == 1:
        return None
    travel = first.timeTravel()
    if not travel.isPresent():
        return None
    asked = travel.get()
    kind = jvm.class_name(asked)
    if kind == "AsOfVersion":
        return TableVersion(VersionKind.VERSION, str(asked.version()))
    if kind == "AsOfTimestamp":
        return TableVersion(VersionKind.TIMESTAMP, instant(int(asked.micros())))
    raise InvalidArgumentError(f"cannot read a table {asked.toString()}: expected VERSION AS OF or TIMESTAMP AS OF")


def asked_write(jvm: Jvm, context: tuple[object, ...]) -> AskedWrite | None:
    """The statement that loads a table to write it; ``None`` for a read."""
    first = context[0] if context else None
    if not isinstance(first, JavaObject):
        return None
    # Spark 4.2 and later put the set of privileges next to the time travel.
    privileges = first if len(context) == 1 else first.writePrivileges()
    if not privileges:
        return None
    names = sorted(str(privileges.toString()).strip("[]").split(", "))
    # A MERGE that only updates has the privilege of UPDATE. Programs write without SQL.
    text = jvm.cls("org.apache.spark.sql.catalyst.trees.CurrentOrigin").get().sqlText()
    verb = write_verb(str(text.get())) if text.isDefined() else None
    if names == ["INSERT"]:
        # A MERGE may do nothing but insert.
        return AskedWrite(verb or "INSERT", verb in (None, "INSERT"))
    if names == ["DELETE", "INSERT"] and verb in (None, "INSERT", "INSERT OVERWRITE"):
        said = {None: "an overwriting write", "INSERT": "INSERT ... REPLACE"}
        return AskedWrite(said.get(verb, "INSERT OVERWRITE"), only_adds=False, overwrites=True)
    return AskedWrite(verb or " and ".join(names), False)


def loading_options(context: tuple[object, ...]) -> dict[str, str]:
    """The read options that Spark 4.3 and later passes to ``loadTable``, by name in lower case."""
    if len(context) < 2:
        return {}
    options = context[1]
    assert isinstance(options, JavaObject)
    return given_options(options, frozenset())


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
