"""Whether Hive says that statistics of a column are still those of the rows. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

__all__ = ["is_current", "is_said_current"]

_KEY = "COLUMN_STATS_ACCURATE"


def is_current(parameters: Mapping[str, str], column: str) -> bool:
    """Whether the statistics of a column may be used.

    Hive names the columns whose statistics are of the present rows, and takes the names away when rows are added
    (``StatsSetupConst``). Where it says nothing, as after writes of other programs, the statistics are used.

    Args:
        parameters: Of the table or partition.
        column: Lower-case name.
    """
    return _said(parameters) is None or is_said_current(parameters, column)


def is_said_current(parameters: Mapping[str, str], column: str) -> bool:
    """Whether it is said that the statistics of a column are those of the present rows; see ``is_current``."""
    said = _said(parameters)
    if said is None:
        return False
    if not isinstance(said, dict):
        # Hive before 2.1 knew one flag for everything.
        return said is not False
    columns = said.get("COLUMN_STATS")
    return isinstance(columns, dict) and str(columns.get(column, "")).lower() == "true"


def _said(parameters: Mapping[str, str]) -> object:
    """What is said; ``None`` where it is nothing, or cannot be read."""
    try:
        return json.loads(parameters.get(_KEY, "null"))
    except ValueError:
        return None
