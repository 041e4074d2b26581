"""Options to start a local Spark; importing this module needs no PySpark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["SparkOptions"]


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Options to start a local Spark.

    Attributes:
        master: Spark's master, such as ``local[*]``.
        settings: Further settings; they override Lakeport's own.
        log: Log file of Spark and its Java; ``None`` is the standard error.
    """

    master: str = "local[*]"
    settings: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
