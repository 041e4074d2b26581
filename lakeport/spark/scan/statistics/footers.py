"""What footers of files say of a scan, where there are no other statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from connector_spi.errors import AccessDeniedError
from connector_spi.handles import Split
from connector_spi.metadata import SupportsFooterStatistics
from connector_spi.statistics import TableStatistics
from lakeport.planning.scan_plan import ScanPlan
from lakeport.plugin_errors import table_words

__all__ = ["with_footer_statistics"]


def with_footer_statistics(
    plan: ScanPlan, known: TableStatistics, names: Collection[str], splits: Callable[[], Sequence[Split]]
) -> TableStatistics:
    """Statistics of a scan, completed by those of its files; what is known already stays.

    Args:
        plan: The scan.
        known: What the connector knows without files.
        names: The columns that Spark reads.
        splits: Gives all splits of the scan.
    """
    access, there = plan.access, {name for name, _ in known.columns}
    missing = [column for column in plan.columns if column.name in names and column.name not in there]
    if not isinstance(access.metadata, SupportsFooterStatistics) or not (missing or known.row_count is None):
        return known
    found = None
    # Who may not see all columns plans without statistics of any.
    with suppress(AccessDeniedError), access.lock.asking(f"give footers of table {table_words(plan.table)}"):
        found = access.metadata.get_footer_statistics(access.session, plan.table, splits(), missing)
    if found is None:
        return known
    rows = found.row_count if known.row_count is None else known.row_count
    return replace(known, row_count=rows, columns=(*known.columns, *found.columns))
