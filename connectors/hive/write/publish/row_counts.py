"""Hive's counts of rows and files in the properties of tables and partitions, after a write. Driver side."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.metastore.model import Parameters
from connectors.hive.write.handles import HiveFragment

__all__ = ["with_counts"]

_ACCURATE = "COLUMN_STATS_ACCURATE"
# Hive's size of the rows in memory, and what Spark has counted, would be of other rows.
_UNKNOWN_NOW = ("rawDataSize", "spark.sql.statistics.")


def with_counts(parameters: Parameters, fragments: Sequence[HiveFragment], *, replaced: bool) -> Parameters:
    """Properties whose counts are estimates of the rows with those of fragments, and no longer said to be exact.

    Args:
        parameters: Of a table or partition.
        fragments: What was written to it.
        replaced: They are all that it has now.
    """
    added = {
        "numFiles": len(fragments),
        "numRows": sum(fragment.rows for fragment in fragments),
        "totalSize": sum(fragment.size for fragment in fragments),
    }
    kept = {key: value for key, value in parameters.items() if key != _ACCURATE and not key.startswith(_UNKNOWN_NOW)}
    for key, count in added.items():
        before = "0" if replaced else kept.get(key, "")
        if (fragments or replaced) and before.isdecimal():
            kept[key] = str(int(before) + count)
    return Parameters.of(kept)
