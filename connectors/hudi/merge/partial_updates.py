"""Which values of a row count, where rows are partial updates (PartialUpdateMode). Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["UNAVAILABLE", "PartialUpdates", "ValueTest", "value_test"]

UNAVAILABLE = "__debezium_unavailable_value"
"""The text that stands for a value which the source did not send, where a table names no other."""

ValueTest = Callable[[pa.ChunkedArray], np.ndarray]
"""Where the values of a column count; gives a boolean for each row."""


class PartialUpdates(Enum):
    """Which columns of the winning row are taken from the other one."""

    NONE = "NONE"
    IGNORE_DEFAULTS = "IGNORE_DEFAULTS"
    """Those that hold the default of their field."""
    FILL_UNAVAILABLE = "FILL_UNAVAILABLE"
    """Those that hold the text that stands for a value which the source did not send."""


def value_test(mode: PartialUpdates, unavailable: str) -> ValueTest | None:
    """Where values count; ``None`` where all do.

    Args:
        mode: Which ones do not.
        unavailable: With ``FILL_UNAVAILABLE``: the text that stands for a value that was not sent.
    """
    if mode is PartialUpdates.NONE:
        return None
    return _is_not_default if mode is PartialUpdates.IGNORE_DEFAULTS else _unlike(unavailable)


def _is_not_default(column: pa.ChunkedArray) -> np.ndarray:
    # Every field that can be missing has NULL as its default.
    return np.asarray(column.is_valid().to_numpy())


def _unlike(text: str) -> ValueTest:
    def test(column: pa.ChunkedArray) -> np.ndarray:
        if not pa.types.is_string(column.type) and not pa.types.is_binary(column.type):
            return np.ones(len(column), dtype=bool)
        unlike = pc.not_equal(column, pa.scalar(text, pa.string()).cast(column.type))
        return np.asarray(pc.fill_null(unlike, True).to_numpy())

    return test
