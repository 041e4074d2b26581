"""How other libraries open a part of a scan."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from lakeport.arrow.filters.conditions import RowTest

__all__ = ["OpenReader"]


class OpenReader(Protocol):
    """Opens a read of some columns; see ``TableScan.reader_of``."""

    def __call__(
        self, columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader: ...
