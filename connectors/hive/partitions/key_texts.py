"""Values of partition keys as texts. Both sides."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from connector_spi.partition_names import DEFAULT_PARTITION

__all__ = ["value_text"]


def value_text(value: object) -> str:
    """A partition key's value as Hive writes it into the metastore."""
    if value is None or value == "":
        return DEFAULT_PARTITION
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        text = value.replace(tzinfo=None).isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)
