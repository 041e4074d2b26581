"""Takes what Spark's optimizer pushes into a scan."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Constraint, TupleDomain
from lakeport.spark.connections import forget_connections
from lakeport.spark.jvm import READ, Jvm
from lakeport.spark.proxies import Proxy
from lakeport.spark.pushdown import Translated, translate
from lakeport.spark.scan import PREDICATE, ScannedTable, ScanProxy
from lakeport.spark.types import arrow_schema
from lakeport.spark.versions import rows_need_a_column

__all__ = ["ScanBuilderProxy"]


class ScanBuilderProxy(Proxy):
    """Takes what Spark's optimizer pushes."""

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsPushDownRequiredColumns",
            READ + "SupportsPushDownV2Filters",
            READ + "SupportsPushDownLimit",
        ]

    def __init__(self, jvm: Jvm, table: ScannedTable) -> None:
        super().__init__(jvm)
        self._table = table
        self._plan = table.plan
        self._schema_json = table.schema_json
        self._pushed: list[JavaObject] = []
        self._for_files: list[JavaObject] = []
        self._left: list[str] = []

    def pushPredicates(self, predicates: JavaObject) -> JavaObject:
        """Offers the predicates to the connector; gives back those that Spark has to check again."""
        offered = self._jvm.items(predicates)
        translated = [translate(self._jvm, predicate, self._table.columns) for predicate in offered]
        summary = TupleDomain[ColumnHandle].all()
        for one in translated:
            summary = summary.intersect(one.domain)
        words = tuple(one.text for one in translated if not one.exact)
        self._plan = self._plan.with_filter(Constraint(summary, words))
        done = [self._is_done(one) for one in translated]
        self._pushed = [predicate for predicate, one in zip(offered, translated, strict=True) if not one.domain.is_all]
        self._for_files = [
            predicate
            for predicate, one in zip(offered, translated, strict=True)
            if not one.domain.is_all and not one.floating
        ]
        self._left = [one.text for one, is_done in zip(translated, done, strict=True) if not is_done]
        left = [predicate for predicate, is_done in zip(offered, done, strict=True) if not is_done]
        return predicates if len(left) == len(offered) else self._jvm.array(PREDICATE, left)

    def pushedPredicates(self) -> JavaObject:
        """What the connector got, for Spark's own plan text."""
        return self._jvm.array(PREDICATE, self._pushed)

    def pruneColumns(self, schema: JavaObject) -> None:
        """The columns that the query reads, nested ones narrowed to the fields used."""
        self._schema_json = str(schema.json())

    def pushLimit(self, limit: int) -> bool:
        """Offers a limit. Each task may give up to it, so Spark always checks again."""
        self._plan = self._plan.with_limit(limit)
        return False

    def isPartiallyPushed(self) -> bool:
        """Spark keeps its own limit above the scan."""
        return True

    def build(self) -> ScanProxy:
        """The scan."""
        forget_connections(self._jvm)
        wanted = arrow_schema(self._schema_json)
        if not wanted.names and rows_need_a_column(self._jvm):
            wanted = self._one_column()
        columns = [
            replace(self._table.columns[f.name], type=_narrow(self._table.columns[f.name].type, f.type)) for f in wanted
        ]
        # Spark's own reader gives partition keys and hidden columns after those of the file; Spark matches by name.
        last = set(self._table.partition_keys)
        ordered = sorted(columns, key=lambda column: (column.name.startswith("$"), column.name in last))
        plan = self._plan.with_columns(tuple(ordered))
        return ScanProxy(self._jvm, self._table, plan, wanted, tuple(self._left), self._pushed, self._for_files)

    def _one_column(self) -> pa.Schema:
        """A column that is cheap to read: a partition key, else one of fixed width, else any."""
        visible = arrow_schema(self._table.schema_json)
        keys = [field for field in visible if field.name in self._table.partition_keys]
        narrow = [field for field in visible if pa.types.is_primitive(field.type)]
        return pa.schema([*keys, *narrow, *visible][:1])

    def _is_done(self, one: Translated) -> bool:
        """Whether the connector guarantees the predicate, so that Spark need not check it."""
        remaining = self._plan.remaining.domains
        if not one.exact or one.domain.domains is None or remaining is None:
            return False
        return all(column not in remaining for column in one.domain.domains)


def _narrow(whole: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(whole) and types.is_struct(wanted):
        return pa.struct([_narrow_field(whole.field(field.name), field) for field in wanted])
    if types.is_map(whole) and types.is_map(wanted):
        return pa.map_(_narrow(whole.key_type, wanted.key_type), _narrow_field(whole.item_field, wanted.item_field))
    if types.is_list(whole) and types.is_list(wanted):
        return pa.list_(_narrow_field(whole.value_field, wanted.value_field))
    return whole


def _narrow_field(whole: pa.Field, wanted: pa.Field) -> pa.Field:
    return whole.with_type(_narrow(whole.type, wanted.type))
