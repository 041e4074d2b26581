"""A merger of Hudi rows by another package: what a payload class ``com.example.SumPayload`` does in Java."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.merge.record_merger import CombiningMerger

__all__ = ["SumMerger"]


class SumMerger(CombiningMerger):
    """Adds up ``amount``; the other columns are those of the row written later."""

    spi_version = 2

    @property
    def ordering_fields(self) -> tuple[str, ...]:
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        return ("amount",)

    def combine(self, older: pa.Table, newer: pa.Table) -> pa.Table:
        total = pc.add(older.column("amount"), newer.column("amount"))
        return newer.set_column(newer.schema.get_field_index("amount"), newer.schema.field("amount"), total)
