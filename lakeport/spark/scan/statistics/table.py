"""Sizes and row counts for Spark's optimizer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.statistics import TableStatistics
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.scan.statistics.columns import column_answers

__all__ = ["StatisticsProxy", "of_columns"]

_ROW = _LONG = 8
_TEXT, _BINARY = 20, 100
_LONGEST_SHORT_DECIMAL = 18


class StatisticsProxy(Proxy):
    """What is known of a scan; Spark gets nothing for what is unknown.

    Args:
        jvm: The door to the JVM.
        statistics: What is known.
        schema: The columns of the scan.
    """

    class Java:
        implements: ClassVar[list[str]] = [READ + "Statistics"]

    def __init__(self, jvm: Jvm, statistics: TableStatistics, schema: pa.Schema) -> None:
        super().__init__(jvm)
        self._statistics = statistics
        self._schema = schema

    def sizeInBytes(self) -> JavaObject:
        """Bytes of the scan."""
        return self._optional(self._statistics.size_bytes)

    def numRows(self) -> JavaObject:
        """Rows of the scan."""
        return self._optional(self._statistics.row_count)

    def columnStats(self) -> JavaObject:
        """None here: values of Java's smaller types are made in Java alone, where the known answers are."""
        return self._jvm.cls("java.util.Collections").emptyMap()

    def _known(self) -> KnownAnswers:
        found = {
            "sizeInBytes": answers.optional_long(self._statistics.size_bytes),
            "numRows": answers.optional_long(self._statistics.row_count),
            "columnStats": column_answers(self._statistics, self._schema),
        }
        return KnownAnswers({**self._named(), **found})

    def _optional(self, value: float | None) -> JavaObject:
        optional = self._jvm.cls("java.util.OptionalLong")
        return optional.empty() if value is None else optional.of(int(value))


def of_columns(whole: TableStatistics, read: Iterable[pa.DataType], every: Iterable[pa.DataType]) -> TableStatistics:
    """Statistics of some columns, whose share of the bytes is what Spark takes it for in files.

    Spark scales the bytes of its own files in a projection by the sizes that it expects of types
    (``SizeInBytesOnlyStatsPlanVisitor.visitUnaryNode``). Of other sources it leaves that to them, and without it Spark
    would not broadcast what it broadcasts of plain files.

    Args:
        whole: Of all columns.
        read: Types of the columns.
        every: Types of all columns.
    """
    if not whole.size_bytes:
        return whole
    share = (_ROW + sum(map(_size, read))) / (_ROW + sum(map(_size, every)))
    return replace(whole, size_bytes=max(1, int(whole.size_bytes * min(1.0, share))))


def _size(data_type: pa.DataType) -> int:
    """Bytes that Spark expects of a value (``DataType.defaultSize``)."""
    types = pa.types
    if types.is_null(data_type):
        return 1
    if types.is_struct(data_type):
        return sum(_size(field.type) for field in data_type)
    if types.is_map(data_type):
        return _size(data_type.key_type) + _size(data_type.item_type)
    if types.is_list(data_type) or types.is_large_list(data_type):
        return _size(data_type.value_type)
    if types.is_decimal(data_type):
        return _LONG if data_type.precision <= _LONGEST_SHORT_DECIMAL else 2 * _LONG
    if types.is_binary(data_type) or types.is_large_binary(data_type):
        return _BINARY
    try:
        return max(1, int(data_type.bit_width) // 8)
    except ValueError:
        return _TEXT
