"""The plans of a transaction: of a table and a filter always the same file slices. Driver side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata_table.opening import metadata_table_of
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.planning.incremental import plan_writes
from connectors.hudi.planning.scan import plan_scan
from connectors.hudi.snapshots.opening import snapshot_of
from connectors.hudi.transaction import HudiTransaction, MemoKey

__all__ = ["partition_domains", "plan_table"]


@dataclass(frozen=True, slots=True)
class _PlanKey(MemoKey[FileSlicePlan]):
    table: HudiTableHandle
    domains: TupleDomain[str]


def plan_table(
    transaction: HudiTransaction, table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]
) -> FileSlicePlan:
    """The file slices of a scan, the same ones each time.

    Args:
        transaction: What it has planned is not planned again.
        table: The table.
        constraint: What its rows fit; partition fields prune here, and columns that the metadata table has
            statistics or keys of.
    """
    domains = _planning_domains(table, constraint)
    # Of what was pushed, only these columns choose the files.
    unfiltered = replace(table, constraint=TupleDomain.all())
    snapshot = snapshot_of(transaction, table)
    key = _PlanKey(unfiltered, TupleDomain.with_column_domains(domains))

    def make() -> FileSlicePlan:
        if table.merged_writes is not None:
            return plan_writes(snapshot, table, domains, transaction.pool)
        return plan_scan(snapshot, table, domains, transaction.pool, partial(metadata_table_of, transaction, snapshot))

    return transaction.memo.get(key, lambda: snapshot.memory.get(key, make, lambda plan: plan.is_lasting))


def partition_domains(table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]) -> dict[str, Domain]:
    """The part of a filter that is about partition fields, by name."""
    fields = frozenset(table.config.partition_fields)
    return {column.name: domain for column, domain in dict(constraint.domains or {}).items() if column.name in fields}


def _planning_domains(table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]) -> dict[str, Domain]:
    use = table.indexes
    uses_statistics = use.files and (use.partition_stats or use.column_stats or use.record_index)
    # With the list of files alone, other columns do not prune.
    if not uses_statistics or not {*table.config.metadata_partitions} - {"files"}:
        return partition_domains(table, constraint)
    return {column.name: domain for column, domain in dict(constraint.domains or {}).items()}
