"""What changed in a table, for Spark's ``CHANGES`` clause and ``DataFrameReader.changes`` (Spark 4.2 and later)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.changes import ChangeRange
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.schema import ColumnMetadata
from lakeport.redirection import resolve_with_changes
from lakeport.spark.jvm import CATALOG, Jvm
from lakeport.spark.loading import instant, scanned_table, table_name
from lakeport.spark.proxies import Proxy
from lakeport.spark.scan import ScannedTable
from lakeport.spark.scan_builder import ScanBuilderProxy
from lakeport.spark.table import refuse_options
from lakeport.spark.versions import v2_columns
from lakeport.statement import CatalogAccess

__all__ = ["ChangelogProxy", "asked_range", "load_changes"]

_EXPRESSIONS = "org.apache.spark.sql.connector.expressions."

# ChangelogContextUtils takes these for itself, and hands them on with all others.
_SPARKS_OPTIONS = frozenset(
    {
        "startingversion",
        "endingversion",
        "startingtimestamp",
        "endingtimestamp",
        "startingboundinclusive",
        "endingboundinclusive",
        "deduplicationmode",
        "computeupdates",
    }
)


class ChangelogProxy(Proxy):
    """The changes of one range of one table, at the snapshot of the statement."""

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "Changelog"]

    def __init__(self, jvm: Jvm, table: ScannedTable, row_id: tuple[str, ...]) -> None:
        super().__init__(jvm)
        self._table = table
        self._row_id = row_id
        self._columns = v2_columns(jvm, jvm.data_type(table.schema_json))

    def name(self) -> str:
        """The full name of the table."""
        return str(self._table.name)

    def columns(self) -> JavaObject:
        """Those of the table, and those that tell the change."""
        return self._columns

    def containsCarryoverRows(self) -> bool:
        """Never: connectors leave rows out that were rewritten unchanged."""
        return False

    def containsIntermediateChanges(self) -> bool:
        """Every version's changes come; with row identities Spark can make the net changes of them."""
        return bool(self._row_id)

    def representsUpdateAsDeleteAndInsert(self) -> bool:
        """Never so that Spark could pair them by the row's identity."""
        return False

    def rowId(self) -> JavaObject:
        """The columns that tell a row from every other."""
        column = self._jvm.cls(_EXPRESSIONS + "Expressions").column
        return self._jvm.array(_EXPRESSIONS + "NamedReference", [column(_quoted(name)) for name in self._row_id])

    def newScanBuilder(self, options: JavaObject) -> ScanBuilderProxy:
        """A scan; read options of ours are not known, and one that is not understood could change the rows."""
        refuse_options(self._table.name, options, _SPARKS_OPTIONS)
        return ScanBuilderProxy(self._jvm, self._table)

    def _identity(self) -> object:
        return ("changes", self._table.name, self._table.plan.table, self._row_id)


def load_changes(
    jvm: Jvm, access: CatalogAccess, ident: JavaObject, change_range: ChangeRange, context: JavaObject
) -> ChangelogProxy:
    """The proxy of a table's changes.

    Raises:
        TableNotFoundError: There is no such table, or its name has more than one schema.
        NotSupportedError: The table tells no changes, or not in the form that is asked for.
        InvalidArgumentError: The range is not one of the table, or is no longer there; says what is.
    """
    access, resolved, changes = resolve_with_changes(access, table_name(jvm, access.catalog, ident), change_range)
    if context.computeUpdates() and not changes.pairs_updates:
        raise NotSupportedError(
            f"table {resolved.name} tells an update as a delete and an insert that nothing pairs; "
            "leave out the option computeUpdates"
        )
    is_net = str(context.deduplicationMode().name()) == "NET_CHANGES"
    if is_net and not changes.row_id:
        raise NotSupportedError(
            f"the rows of table {resolved.name} have no identity by which net changes could be told; "
            "leave out the option deduplicationMode"
        )
    row_id = changes.row_id if is_net else ()
    return ChangelogProxy(jvm, scanned_table(access, resolved, _shown(resolved, row_id)), row_id)


def asked_range(jvm: Jvm, asked: JavaObject) -> ChangeRange:
    """The range of a ``ChangelogRange``.

    Raises:
        InvalidArgumentError: A form of range that is not known.
    """
    kind = jvm.class_name(asked)
    # Of no bounds at all Spark does not say either whether they are inclusive.
    if kind == "UnboundedRange":
        return ChangeRange()
    includes = bool(asked.startingBoundInclusive()), bool(asked.endingBoundInclusive())
    if kind == "VersionRange":
        return ChangeRange(_version(asked.startingVersion()), _optional(_version, asked.endingVersion()), *includes)
    if kind == "TimestampRange":
        return ChangeRange(_time(asked.startingTimestamp()), _optional(_time, asked.endingTimestamp()), *includes)
    raise InvalidArgumentError(f"cannot read changes of {asked.toString()}: expected versions or timestamps")


def _shown(resolved: ResolvedTable, row_id: tuple[str, ...]) -> list[ColumnMetadata]:
    """The visible columns, and those that Spark needs to tell rows apart."""
    return [column for column in resolved.table.columns if not column.hidden or column.name in row_id]


def _version(text: object) -> TableVersion:
    return TableVersion(VersionKind.VERSION, str(text))


def _time(micros: object) -> TableVersion:
    return TableVersion(VersionKind.TIMESTAMP, instant(int(str(micros))))


def _optional(convert: Callable[[object], TableVersion], value: JavaObject) -> TableVersion | None:
    return convert(value.get()) if value.isPresent() else None


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
