"""The type of functions that look up the columns of tables for a translation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

__all__ = ["ColumnsOf"]

ColumnsOf = Callable[[tuple[str, ...]], Mapping[str, pa.DataType] | None]
"""Returns the columns of a table by the parts of its name; ``None`` where they are unknown."""
