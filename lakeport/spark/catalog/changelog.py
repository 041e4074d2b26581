"""What changed in a table, for Spark's ``CHANGES`` clause and ``DataFrameReader.changes`` (Spark 4.2 and later)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.optional.changes import ChangeRange
from connector_spi.optional.streaming import StreamStart, SupportsStreaming
from connector_spi.schema import ColumnMetadata
from lakeport.planning.redirection import resolve_with_changes
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.versions import v2_columns
from lakeport.spark.catalog.loading import instant, scanned_table, table_name
from lakeport.spark.scan.char_scan_builder import scan_builder
from lakeport.spark.scan.read_options import given_options, refuse_options, streamed_table
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_builder import ScanBuilderProxy
from lakeport.spark.streaming.options import stream_options
from lakeport.transactions.statement import CatalogAccess

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

    def __init__(
        self, jvm: Jvm, table: ScannedTable, resolved: ResolvedTable, change_range: ChangeRange, row_id: tuple[str, ...]
    ) -> None:
        super().__init__(jvm)
        self._resolved = resolved
        self._range = change_range
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
        """A scan; of read options of ours those of a stream are known: one that is not could change the rows."""
        access = self._table.plan.access
        if not isinstance(access.metadata, SupportsStreaming) or self._row_id:
            refuse_options(self._table.name, options, _SPARKS_OPTIONS)
            return scan_builder(self._jvm, self._table)
        given = given_options(options, _SPARKS_OPTIONS)
        found, rest = stream_options(self._table.name, given, {}, access.session.time_zone)
        if rest:
            refuse_options(self._table.name, options, frozenset({*_SPARKS_OPTIONS, *found.given}))
        if "startingoffset" in found.given:
            # Spark asks for changes by a range, which does not know it.
            raise InvalidArgumentError(
                f"changes of table {self._table.name} are read with the option startingoffset; expected "
                "startingVersion, with startingBoundInclusive=false for what comes after it"
            )
        start = StreamStart(self._range.start, self._range.start_inclusive)
        stream = streamed_table(
            self._table, self._resolved.table, replace(found, start=start), (), changes=True, ends=self._range.end
        )
        return scan_builder(self._jvm, replace(self._table, stream=stream))

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
    scanned = scanned_table(access, resolved, _shown(resolved, row_id))
    return ChangelogProxy(jvm, scanned, resolved, change_range, row_id)


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
