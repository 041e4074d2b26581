"""What a translation of SQL asks about tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

__all__ = ["ColumnsOf"]

ColumnsOf = Callable[[tuple[str, ...]], Mapping[str, pa.DataType] | None]
"""From the parts of a table's name to its columns; ``None`` where they are not known."""
