"""What a connector does of a query, in words."""

from __future__ import annotations

from lakeport.planning.scan_plan import ScanPlan

__all__ = ["taken_over"]


def taken_over(plan: ScanPlan) -> tuple[tuple[str, str], ...]:
    """What the connector does beside choosing by values of columns: names and texts, for ``EXPLAIN``."""
    found = [("filter applied by the connector", " AND ".join(map(str, plan.applied)))] if plan.applied else []
    checked_again = [str(one) for one in plan.given if one not in plan.applied]
    if checked_again:
        found.append(("conditions that the connector got, checked again", " AND ".join(checked_again)))
    if plan.top_n is not None:
        count, order = plan.top_n
        found.append(("first rows by the connector", f"{count} by {', '.join(map(str, order))}"))
    if plan.aggregation is not None:
        found.append(("aggregated by the connector", str(plan.aggregation)))
    return tuple(found)
