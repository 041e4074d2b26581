"""What is in the catalogs of a server, as one client may see it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from connector_spi.errors import NotSupportedError, SchemaNotFoundError
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from lakeport.information_schema.listing import CatalogListing
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.types import arrow_type

__all__ = ["CatalogContent", "FoundTable", "LakeportContent", "Matches", "SparkContent"]

Matches = Callable[[str], bool]
"""Whether a name is one of those that are asked for."""


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table or view.

    Attributes:
        name: Schema and table.
        is_view: It is a view.
        comment: What it is for, where that is known without a look at the table.
        columns: Its columns, where they were asked for and are known.
    """

    name: SchemaTableName
    is_view: bool
    comment: str = ""
    columns: tuple[ColumnMetadata, ...] = ()


class CatalogContent(ABC):
    """Lists one catalog."""

    @abstractmethod
    def schemas(self) -> Collection[str]:
        """All schemas."""

    @abstractmethod
    def tables(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """Tables and views of a schema, in the order of their names."""

    @abstractmethod
    def described(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """The same with their columns; a table that cannot be read has none."""


class LakeportContent(CatalogContent):
    """A catalog of Lakeport.

    Args:
        listing: Of who asks.
    """

    def __init__(self, listing: CatalogListing) -> None:
        self._listing = listing

    def schemas(self) -> Collection[str]:
        """All schemas that the client may see."""
        return self._listing.schemas()

    def tables(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """Tables and views; comments of those of which the connector knows many at once."""
        try:
            found = [one for one in self._listing.tables(_of_schema(schema)) if matches(one.name.table)]
        except SchemaNotFoundError:
            return  # dropped meanwhile
        known = self._listing.described_at_once(schema, [one.name for one in found])
        for one in found:
            metadata = known.get(one.name)
            yield FoundTable(one.name, one.is_view, (metadata.comment if metadata else None) or "")

    def described(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """With the columns of ``SELECT *``."""
        try:
            names = [name for name in self._listing.table_names(schema) if matches(name)]
            for one in self._listing.all_described(_of_schema(schema, names)):
                table = one.table or TableMetadata(one.name, ())
                yield FoundTable(one.name, one.is_view, table.comment or "", table.visible_columns())
        except SchemaNotFoundError:
            return


class SparkContent(CatalogContent):
    """A catalog of Spark's own, or another one that was configured.

    Args:
        jvm: The JVM.
        catalog: The Java object.
    """

    def __init__(self, jvm: Jvm, catalog: JavaObject) -> None:
        self._jvm = jvm
        self._catalog = catalog

    def schemas(self) -> Collection[str]:
        """The schemas of one name."""
        found = json.loads(self._jvm.json_mapper.writeValueAsString(self._catalog.listNamespaces()))
        return [parts[0] for parts in found if len(parts) == 1]

    def tables(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """Tables and views, without comments."""
        for one in sorted(self._summaries(schema)):
            if matches(one[0]):
                yield FoundTable(SchemaTableName(schema, one[0]), one[1])

    def described(self, schema: str, matches: Matches) -> Iterator[FoundTable]:
        """With their columns."""
        for one in self.tables(schema, matches):
            yield FoundTable(one.name, one.is_view, columns=self._columns(one.name))

    def _summaries(self, schema: str) -> Iterator[tuple[str, bool]]:
        for one in self._jvm.items(self._catalog.listTableSummaries(self._jvm.strings([schema]))):
            yield str(one.identifier().name()), "VIEW" in str(one.tableType()).upper()

    def _columns(self, name: SchemaTableName) -> tuple[ColumnMetadata, ...]:
        ident = self._jvm.cls(CATALOG + "Identifier").of(self._jvm.strings([name.schema]), name.table)
        try:
            struct = json.loads(str(self._catalog.loadTable(ident).schema().json()))
        except (Py4JError, PySparkException):
            return ()  # gone meanwhile, or a view that is no longer valid
        return tuple(map(_column, struct["fields"]))


def _column(field: dict[str, object]) -> ColumnMetadata:
    metadata = field["metadata"]
    comment = str(metadata.get("comment", "")) if isinstance(metadata, dict) else ""
    try:
        arrow, declared = arrow_type(field["type"]), None
    except NotSupportedError:
        arrow, declared = pa.null(), json.dumps(field["type"]).strip('"')
    return ColumnMetadata(str(field["name"]), arrow, bool(field["nullable"]), comment, declared_type=declared)


def _of_schema(schema: str, names: Collection[str] | None = None) -> TupleDomain[str]:
    domains = {"table_schema": Domain.single_value(pa.string(), schema)}
    if names is not None:
        domains["table_name"] = Domain.multiple_values(pa.string(), names)
    return TupleDomain(domains)
