"""Statements that another writer came between. Driver side."""

from __future__ import annotations

from connector_spi.errors import MetastoreError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.valid_ids import MAX_ID, ValidIds

__all__ = ["check_unchanged", "write_conflict"]


def write_conflict(table: SchemaTableName, what: str) -> MetastoreError:
    """The error for rows that are not written, since those of another writer would be lost or come twice.

    Args:
        table: The table.
        what: What the other writer does or has done.
    """
    return MetastoreError(
        f"rows of {table} were not written: another writer {what}; run the statement again",
        error_codes.HIVE_WRITE_CONFLICT,
    )


def check_unchanged(name: SchemaTableName, seen: ValidIds, now: ValidIds) -> None:
    """Refuses a statement whose table has got rows after the statement had begun to read.

    Args:
        name: The table.
        seen: The write ids that the statement sees.
        now: Those of the present.

    Raises:
        MetastoreError: Others have committed rows (code ``HIVE_WRITE_CONFLICT``).
    """
    # No write id was ever given out before.
    last = 0 if seen.high_watermark >= MAX_ID else seen.high_watermark
    came = [one for one in (*seen.open, *range(last + 1, now.high_watermark + 1)) if now.is_valid(one)]
    if came:
        raise write_conflict(name, f"has written to it meanwhile, with write id {came[0]}")
