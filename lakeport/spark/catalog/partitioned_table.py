"""A table whose partitions Spark lists, adds and drops: ``SHOW PARTITIONS``, ``ALTER TABLE``."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.metadata import SupportsPartitionListing
from connector_spi.optional.definitions import PartitionDefinition
from connector_spi.predicate import Domain, TupleDomain
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import CATALOG
from lakeport.spark.bridge.row_batches import MANY_ROWS, are_plain, many_internal_rows
from lakeport.spark.bridge.rows import internal_row, python_value
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.catalog.definitions import add_partitions, drop_partitions, java_map
from lakeport.spark.catalog.table import TableProxy
from lakeport.spark.write.truncate import truncate
from lakeport.sql.unsupported_statements import read_only

__all__ = ["PartitionedTableProxy"]

_INTERNAL_ROW = "org.apache.spark.sql.catalyst.InternalRow"


class PartitionedTableProxy(TableProxy):
    """A table whose partitions can be listed."""

    class Java:
        implements: ClassVar[list[str]] = [*TableProxy.Java.implements, CATALOG + "SupportsAtomicPartitionManagement"]

    def partitionSchema(self) -> JavaObject:
        """The partition keys as a struct."""
        return self._jvm.data_type(self._key_schema_json())

    def listPartitionIdentifiers(self, names: JavaObject, ident: JavaObject) -> JavaObject:
        """The partitions whose keys ``names`` have the values of the row ``ident``, for SHOW PARTITIONS."""
        access = self._table.plan.access
        metadata = access.metadata
        assert isinstance(metadata, SupportsPartitionListing)
        keys = self._metadata.partitioned_by
        types = self._key_types()
        wanted = self._wanted(self._jvm.texts(names), ident, types)
        constraint = _constraint(wanted, dict(zip(keys, types, strict=True)))
        with access.lock:
            partitions = metadata.list_partitions(access.session, self._table.plan.table, constraint)
        schema = self._jvm.data_type(self._key_schema_json())
        rows = [
            values for values in partitions if all(values[keys.index(name)] == value for name, value in wanted.items())
        ]
        if len(rows) > MANY_ROWS and are_plain(types):
            return many_internal_rows(self._key_schema_json(), pa.schema(list(zip(keys, types, strict=True))), rows)
        return self._jvm.array(_INTERNAL_ROW, [internal_row(self._jvm, schema, types, values) for values in rows])

    def loadPartitionMetadata(self, ident: JavaObject) -> JavaObject:
        """Nothing is known of one partition."""
        return self._jvm.string_map([])

    def createPartitions(self, idents: JavaObject, properties: JavaObject) -> None:
        """``ALTER TABLE ... ADD PARTITION``."""
        given = [java_map(entries) for entries in self._jvm.items(properties)]
        rows = [self._key_values(ident) for ident in self._jvm.items(idents)]
        new = [PartitionDefinition(row, entries.get("location")) for row, entries in zip(rows, given, strict=True)]
        add_partitions(self._table.plan.access, self._table.name, new)

    def dropPartitions(self, idents: JavaObject) -> bool:
        """``ALTER TABLE ... DROP PARTITION``."""
        rows = [self._key_values(ident) for ident in self._jvm.items(idents)]
        drop_partitions(self._table.plan.access, self._table.name, rows)
        return True

    def truncatePartition(self, ident: JavaObject) -> bool:
        """``TRUNCATE TABLE ... PARTITION`` with a value for each key."""
        return self._truncate([self._key_values(ident)])

    def truncatePartitions(self, idents: JavaObject) -> bool:
        """``TRUNCATE TABLE ... PARTITION`` with values of some keys: the partitions that have them."""
        return self._truncate([self._key_values(ident) for ident in self._jvm.items(idents)])

    def replacePartitionMetadata(self, ident: JavaObject, properties: JavaObject) -> None:
        """Refused."""
        raise read_only(self._table.name.catalog, "ALTER PARTITION")

    def _truncate(self, partitions: list[tuple[object, ...]]) -> bool:
        keys, types = self._metadata.partitioned_by, self._key_types()
        # Spark says the partitions, not the values that it was given: what all of them have in common selects them.
        common = {
            name: values[0] for name, *values in zip(keys, *partitions, strict=True) if values and len(set(values)) == 1
        }
        rows = _constraint(common, dict(zip(keys, types, strict=True)))
        access = self._table.plan.access
        assert isinstance(access.metadata, SupportsPartitionListing)
        with access.lock:
            there = set(access.metadata.list_partitions(access.session, self._table.plan.table, rows))
        if not there.issuperset(partitions) or not partitions:
            raise InvalidArgumentError(
                f"table {self._table.name} has no such partition; SHOW PARTITIONS {self._table.name} lists those it has"
            )
        if there != set(partitions):
            raise NotSupportedError(
                f"{len(partitions)} partitions of {self._table.name} cannot be truncated at once: others have the same "
                "values; truncate one after the other"
            )
        truncate(access, self._resolved, rows)
        return True

    def _known(self) -> KnownAnswers:
        found = super()._known()
        return replace(found, kept=found.kept | {"partitionSchema"})

    def _key_values(self, ident: JavaObject) -> tuple[object, ...]:
        return tuple(python_value(ident, index, data_type) for index, data_type in enumerate(self._key_types()))

    def _wanted(self, names: list[str], ident: JavaObject, types: list[pa.DataType]) -> dict[str, object]:
        keys = self._metadata.partitioned_by
        return {name: python_value(ident, index, types[keys.index(name)]) for index, name in enumerate(names)}

    def _key_types(self) -> list[pa.DataType]:
        by_name = {column.name: column.type for column in self._metadata.columns}
        return [by_name[name] for name in self._metadata.partitioned_by]

    def _key_schema_json(self) -> str:
        by_name = {column.name: column for column in self._metadata.columns}
        return spark_schema_json(by_name[name] for name in self._metadata.partitioned_by)


def _constraint(wanted: dict[str, object], types: dict[str, pa.DataType]) -> TupleDomain[str]:
    """The partitions of which a connector has to know at least; those of other values are left out later."""
    domains: dict[str, Domain] = {}
    for name, value in wanted.items():
        if value is None:
            domains[name] = Domain.only_null(types[name])
        elif isinstance(value, (bool, int, str, date)) and are_plain([types[name]]):
            domains[name] = Domain.single_value(types[name], value)
    return TupleDomain[str].with_column_domains(domains)
