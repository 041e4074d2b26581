"""Partitions that the metastore names and storage lacks. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from catalog.metastore.client import MetastoreClient
from catalog.metastore.partitions.names import parse_partition_name
from connector_spi.errors import FileMissingError
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.error_codes import HUDI_MISSING_PARTITION
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["MissingPartitions"]


class MissingPartitions:
    """Compares what the metastore says with what was found on storage.

    Hudi's own partitions decide what is read; the metastore's can lag behind. But a partition that it names and whose
    folder is gone may be lost data.

    Args:
        reads_of: The metastore as a user meets it.
        files: Storage.
    """

    def __init__(self, reads_of: Callable[[str], MetastoreClient], files: FileSystem) -> None:
        self._reads_of = reads_of
        self._files = files

    def check(self, table: HudiTableHandle, domains: Mapping[str, Domain], plan: FileSlicePlan, user: str) -> None:
        """Looks for missing partitions among those that a user's scan wants.

        Raises:
            FileMissingError: A partition's folder is not on storage.
        """
        metastore = self._reads_of(user)
        found = {partition.path for partition in plan.partitions}
        names = [name for name in _names(metastore, table, domains) if found.isdisjoint(_paths(name))]
        if not names:
            return
        for partition in metastore.get_partitions_by_names(table.name.schema, table.name.table, names):
            location = partition.storage.location
            if location is not None and not self._files.exists(location):
                raise FileMissingError(
                    f"partition {'/'.join(partition.values)} of {table.name} is in the metastore, and its folder "
                    f"{location} is not on storage; restore the folder, drop the partition from the metastore (Hudi's "
                    "hive sync does), or set the session property ignore_absent_partitions",
                    HUDI_MISSING_PARTITION,
                )


def _names(metastore: MetastoreClient, table: HudiTableHandle, domains: Mapping[str, Domain]) -> list[str]:
    schema, name = table.name.schema, table.name.table
    if not domains or not table.config.path_tells_values:
        return metastore.get_partition_names(schema, name)
    lowered = {field.lower(): domain for field, domain in domains.items()}
    predicate = TupleDomain[str].with_column_domains(lowered)
    return metastore.get_partition_names_by_filter(schema, name, predicate)


def _paths(name: str) -> tuple[str, ...]:
    """Where hive sync may have found a partition of this name, relative to the table."""
    pairs = parse_partition_name(name)
    return (name, "/".join(f"{key}={value}" for key, value in pairs), "/".join(value for _, value in pairs))
