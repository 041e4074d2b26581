"""Rows with what is delicate in comparisons."""

from __future__ import annotations

import datetime as dt
import itertools

import pyarrow as pa

__all__ = ["ROWS"]

_COMBINED = list(itertools.product([None, 0, 1, 2], [None, float("nan"), -0.0, 1.5, 3.0], [None, "", "a", "ab", "ż"]))

ROWS = pa.table(
    {
        "n": pa.array(range(len(_COMBINED)), pa.int64()),
        "i": pa.array([i for i, _, _ in _COMBINED], pa.int32()),
        "f": pa.array([f for _, f, _ in _COMBINED], pa.float64()),
        "s": pa.array([s for _, _, s in _COMBINED], pa.string()),
        "d": pa.array([dt.date(2024, 1, 1 + n % 4) for n in range(len(_COMBINED))], pa.date32()),
        "t": pa.array(
            [dt.datetime(2024, 1, 1 + n % 4, tzinfo=dt.UTC) for n in range(len(_COMBINED))], pa.timestamp("us", "UTC")
        ),
        "part": pa.array([["a", "b", None][n % 3] for n in range(len(_COMBINED))], pa.string()),
    }
)
