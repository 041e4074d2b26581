"""Sizes and row counts for Spark's optimizer."""

from __future__ import annotations

from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.statistics import TableStatistics
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.proxies import Proxy

__all__ = ["StatisticsProxy"]


class StatisticsProxy(Proxy):
    """What is known of a scan; Spark gets nothing for what is unknown."""

    class Java:
        implements: ClassVar[list[str]] = [READ + "Statistics"]

    def __init__(self, jvm: Jvm, statistics: TableStatistics) -> None:
        super().__init__(jvm)
        self._statistics = statistics

    def sizeInBytes(self) -> JavaObject:
        """Bytes of the scan."""
        return self._optional(self._statistics.size_bytes)

    def numRows(self) -> JavaObject:
        """Rows of the scan."""
        return self._optional(self._statistics.row_count)

    def columnStats(self) -> JavaObject:
        """None yet: Spark uses them for join orders only."""
        return self._jvm.cls("java.util.Collections").emptyMap()

    def _known(self) -> KnownAnswers:
        found = {
            "sizeInBytes": answers.optional_long(self._statistics.size_bytes),
            "numRows": answers.optional_long(self._statistics.row_count),
            "columnStats": answers.string_map([]),
        }
        return KnownAnswers({**self._named(), **found})

    def _optional(self, value: float | None) -> JavaObject:
        optional = self._jvm.cls("java.util.OptionalLong")
        return optional.empty() if value is None else optional.of(int(value))
