"""How Spark deals rows out to the tasks that write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.optional.writing import InsertLayout, SupportsInsertLayout
from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.compiled.bucket_functions import bucket_function_name
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.transactions.statement import CatalogAccess

__all__ = ["DistributedWrite", "insert_layout"]

_EXPRESSIONS = "org.apache.spark.sql.connector.expressions."
_SORT_ORDER = _EXPRESSIONS + "SortOrder"
_DISTRIBUTIONS = "org.apache.spark.sql.connector.distributions."
_UNSPECIFIED = answers.java_object(
    _DISTRIBUTIONS + "UnspecifiedDistribution", {"toString": answers.plain("UnspecifiedDistribution")}
)
_BUCKET_OF_ROW = "bucketid"
"""The field of a row id by which its deletion is filed."""


def insert_layout(access: CatalogAccess, table: ResolvedTable) -> InsertLayout | None:
    """How rows of a table are best dealt out; ``None`` where it does not matter."""
    metadata = access.metadata
    if not isinstance(metadata, SupportsInsertLayout):
        return None
    with access.lock.asking(f"lay out rows of {table.name}"):
        return metadata.get_insert_layout(access.session, table.handle)


class DistributedWrite(Proxy):
    """A write that tells how its rows are dealt out (``RequiresDistributionAndOrdering``). It is its own builder.

    Args:
        jvm: The JVM.
        layout: How; ``None`` where Spark is free.
        row_ids: Columns that name rows to delete, where rows are changed: such rows have nothing else.
    """

    _changing: ClassVar[frozenset[str]] = frozenset()
    """Methods by which other rows are written, and ``description`` says so."""

    def __init__(self, jvm: Jvm, layout: InsertLayout | None, row_ids: Sequence[ColumnMetadata] = ()) -> None:
        super().__init__(jvm)
        self._layout = layout
        self._clustered_by = [] if layout is None else _clusters(jvm, layout, row_ids)

    def requiredDistribution(self) -> JavaObject:
        """Rows that are equal in these go to one task."""
        distributions = self._jvm.cls(_DISTRIBUTIONS + "Distributions")
        if not self._clustered_by:
            return distributions.unspecified()
        return distributions.clustered(self._jvm.array(_EXPRESSIONS + "Expression", self._clustered_by))

    def distributionStrictlyRequired(self) -> bool:
        """Of buckets. Rows of large partitions may go to several tasks, which Spark's adaptive execution decides."""
        return self._layout is not None and self._layout.bucketed_by is not None

    def requiredOrdering(self) -> JavaObject:
        """None: the sinks keep rows of many files apart, and sort where that is declared."""
        return self._jvm.array(_SORT_ORDER, [])

    def build(self) -> DistributedWrite:
        """The write: Spark has nothing to choose."""
        return self

    def description(self) -> str:
        """What EXPLAIN shows."""
        raise NotImplementedError

    def toString(self) -> str:
        """The same."""
        return self.description()

    def _known(self) -> KnownAnswers:
        found = {
            "build": answers.ITSELF,
            "description": answers.plain(self.description()),
            "distributionStrictlyRequired": answers.plain(self.distributionStrictlyRequired()),
            "requiredOrdering": answers.array(_SORT_ORDER),
        }
        if not self._clustered_by:
            found["requiredDistribution"] = _UNSPECIFIED
        return KnownAnswers({**self._named(), **found}, changing=self._changing)


def _clusters(jvm: Jvm, layout: InsertLayout, row_ids: Sequence[ColumnMetadata]) -> list[JavaObject]:
    expressions = jvm.cls(_EXPRESSIONS + "Expressions")
    found = [expressions.column(f"`{name}`") for name in layout.partitioned_by]
    if layout.bucketed_by is not None:
        name = bucket_function_name(jvm, layout.bucketed_by)
        columns = [expressions.column(f"`{column}`") for column in layout.bucketed_by.columns]
        if name is not None:
            found.append(expressions.apply(name, jvm.array(_EXPRESSIONS + "Expression", columns)))
    for column in row_ids:
        names = [field.name for field in column.type] if hasattr(column.type, "fields") else []
        inner = f".{_BUCKET_OF_ROW}" if _BUCKET_OF_ROW in names else ""
        found.append(expressions.column(f"`{column.name}`{inner}"))
    return found
