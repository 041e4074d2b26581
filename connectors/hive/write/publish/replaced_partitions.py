"""Which partitions of a table lose the rows that they have. Driver side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catalog.metastore.factory import Metastore
from catalog.metastore.model import Partition
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.optional.writing import Overwrite
from connector_spi.predicate import TupleDomain
from connectors.hive.handles import HiveTableHandle
from connectors.hive.partitions.selection import get_partitions, prune_partitions
from connectors.hive.write.publish.target_partitions import PartitionKey

__all__ = ["ReplacedPartitions"]


@dataclass(frozen=True, slots=True)
class ReplacedPartitions:
    """The partitions whose rows are replaced.

    Attributes:
        table: The table.
        rows: Whole partitions, by their keys.
        dynamic: Of these only partitions that rows go to.
    """

    table: HiveTableHandle
    rows: TupleDomain[ColumnHandle]
    dynamic: bool

    @classmethod
    def of(cls, table: HiveTableHandle, overwrite: Overwrite) -> ReplacedPartitions:
        """What is replaced in a table.

        Raises:
            NotSupportedError: It is not whole partitions.
        """
        keys = {key.name: key for key in table.partition_keys}
        others = [name for name in overwrite.rows.domains or {} if name not in keys]
        if others:
            raise NotSupportedError(
                f"rows of {table.name} cannot be replaced by a condition on '{others[0]}': expected whole partitions, "
                f"by {', '.join(keys) or 'no condition, since it has none'}"
            )
        return cls(table, overwrite.rows.transform_keys(keys.get), overwrite.dynamic)

    def find(self, metastore: Metastore, written: Iterable[PartitionKey]) -> Mapping[PartitionKey, Partition | None]:
        """The partitions that are there now and lose their rows; the table itself, of no entry, where it has no keys.

        Args:
            metastore: The metastore.
            written: The partitions that new rows go to.

        Raises:
            MetastoreError: It failed, or has a partition whose name does not fit the keys.
        """
        if not self.table.partition_keys:
            replaced = not self.rows.is_none and (not self.dynamic or any(True for _ in written))
            return {(): None} if replaced else {}
        names = [one.name for one in prune_partitions(metastore.reads, self.table, self.rows).kept]
        found = {one.values: one for one in get_partitions(metastore.reads, self.table, names)}
        touched = set(written)
        return {values: one for values, one in found.items() if values in touched or not self.dynamic}
