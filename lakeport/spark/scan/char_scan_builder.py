"""Filters on ``char`` columns, which Spark compares through a function that pads what was read.

A relation with such columns gets a projection ``CharVarcharCodegenUtils.readSidePadding(c, n)``, and filters move
below it with that call in place of the column (``ApplyCharTypePadding``), which no V2 predicate can say. The values
that come from us have their n characters already, so that the call gives back what it gets: filters are taken as
Catalyst expressions, and pushed with the column itself instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.session_settings import FileSettings
from lakeport.spark.bridge.types import char_lengths
from lakeport.spark.bridge.versions import pushes_catalyst_filters
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.scan.scan_builder import ScanBuilderProxy
from lakeport.spark.scan.scan_proxy import PREDICATE

__all__ = ["CharScanBuilderProxy", "scan_builder"]

_PADDING = "readSidePadding"
_MAX_NODES = 200
_STRATEGY = "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy"


def scan_builder(jvm: Jvm, table: ScannedTable, files: FileSettings | None = None) -> ScanBuilderProxy:
    """What takes the filters of a scan: Catalyst's own where a column is a ``char(n)`` and Spark hands them over.

    Args:
        jvm: The door to the JVM.
        table: The table.
        files: Settings that scans go by, where they are known.
    """
    lengths = char_lengths(table.schema_json)
    if lengths and pushes_catalyst_filters(jvm):
        return CharScanBuilderProxy(jvm, table, lengths)
    return ScanBuilderProxy(jvm, table, files)


class CharScanBuilderProxy(ScanBuilderProxy):
    """Takes filters as Catalyst expressions, and what else Spark's optimizer pushes.

    Args:
        jvm: The door to the JVM.
        table: The table.
        lengths: Of the columns that are declared as ``char(n)``, by name.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            "org.apache.spark.sql.internal.connector.SupportsPushDownCatalystFilters",
            READ + "SupportsPushDownLimit",
            READ + "SupportsPushDownTopN",
            READ + "SupportsPushDownAggregates",
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable, lengths: Mapping[str, int]) -> None:
        super().__init__(jvm, table)
        self._lengths = lengths

    def pushFilters(self, filters: JavaObject) -> JavaObject:
        """Offers a ``Seq[Expression]``; gives back those that Spark has to check again."""
        asked = list(_java_list(self._jvm, filters))
        translate = self._jvm.scala_object(_STRATEGY).translateFilterV2
        found = [translate(_Unpadding(self._jvm, self._lengths).expression(one)) for one in asked]
        expressed = [(one, option.get()) for one, option in zip(asked, found, strict=True) if option.isDefined()]
        others = [one for one, option in zip(asked, found, strict=True) if not option.isDefined()]
        offered = self._offer(self._jvm.array(PREDICATE, [predicate for _, predicate in expressed]))
        left = [one for (one, _), predicate in zip(expressed, offered, strict=True) if predicate.left]
        return _seq(self._jvm, [*left, *others])

    def _known(self) -> KnownAnswers:
        return replace(super()._known(), in_words=frozenset())

    def pushedFilters(self) -> JavaObject:
        """What the connector and the tasks got, for Spark's own plan text."""
        return self._pushed.all(self._jvm)


class _Unpadding:
    """Takes the padding of ``char`` columns out of an expression; one of many nodes stays as it is."""

    def __init__(self, jvm: Jvm, lengths: Mapping[str, int]) -> None:
        self._jvm = jvm
        self._lengths = lengths
        self._nodes = 0

    def expression(self, node: JavaObject) -> JavaObject:
        self._nodes += 1
        if self._nodes > _MAX_NODES or _PADDING not in str(node.toString()):
            return node
        column = self._padded_column(node)
        if column is not None:
            return column
        children = list(_java_list(self._jvm, node.children()))
        changed = [self.expression(child) for child in children]
        return node.withNewChildren(_seq(self._jvm, changed))

    def _padded_column(self, node: JavaObject) -> JavaObject | None:
        """The column of a call of the padding to the very length that the column's values have."""
        if self._jvm.class_name(node) != "StaticInvoke" or str(node.functionName()) != _PADDING:
            return None
        arguments = list(_java_list(self._jvm, node.arguments()))
        names = [self._jvm.class_name(argument) for argument in arguments]
        if names != ["AttributeReference", "Literal"]:
            return None
        column, length = arguments
        declared = str(self._lengths.get(str(column.name())))
        return column if declared == str(length.toString()) else None


def _java_list(jvm: Jvm, seq: JavaObject) -> JavaObject:
    return jvm.cls("scala.jdk.javaapi.CollectionConverters").asJava(seq)


def _seq(jvm: Jvm, items: list[JavaObject]) -> JavaObject:
    return jvm.cls("org.apache.spark.api.python.PythonUtils").toSeq(items) if items else jvm.empty_seq
