"""Texts of ``timestamp with local time zone``, as Hive reads them; what it cannot read is NULL. Executor side.

Sources: Hive's ``TimestampParser``, ``TimestampTZUtil.parse`` and ``LazyTimestampLocalTZ`` of 4.0, and
``appendZoneOrOffsetId`` of ``java.time.format.DateTimeFormatterBuilder``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.civil_times import civil_times, text_field
from connectors.hive.formats.text.patterns import time_pattern
from connectors.hive.formats.text.values import real_nulls
from connectors.hive.formats.text.zones import in_zones

__all__ = ["InstantReader", "instant_reader"]

_TEXT = (
    r"^(?P<y>-?[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
    r"(?: (?P<h>[0-9]{2}):(?P<i>[0-9]{2}):(?P<s>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?)? ?(?P<z>[^ ].*)?$"
)
# Hive puts a zero into the first that it finds (``TimestampTZUtil.handleSingleDigitHourOffset``).
_ONE_DIGIT = r"^(.*?[+-])([0-9]:[0-9][0-9])"

InstantReader = Callable[[pa.Array, str], pa.Array]
"""From strings, and the zone of those that name none, to ``timestamp[us, UTC]``."""


def instant_reader(formats: Sequence[str], where: str) -> InstantReader:
    """The reader of instants.

    Args:
        formats: Patterns of ``timestamp.formats``; where none fits, Hive's own format is tried.
        where: Names the table for the message.

    Raises:
        NotSupportedError: A letter of a pattern is not understood.
    """
    # Numbers are no instants for Hive, and ISO_INSTANT does not tell the day.
    patterns = [time_pattern(text, where) for text in formats if text not in ("millis", "iso8601")]

    def read(texts: pa.Array, zone: str) -> pa.Array:
        long = real_nulls(texts, pc.greater_equal(pc.binary_length(texts), 8))
        whole = pc.replace_substring_regex(long, _ONE_DIGIT, r"\10\2")
        found = [in_zones(*pattern.read(whole), zone) for pattern in patterns]
        return pc.coalesce(*found, _parse(whole, zone))

    return read


def _parse(texts: pa.Array, zone: str) -> pa.Array:
    fields = pc.extract_regex(texts, _TEXT)
    return in_zones(civil_times(fields, smart=True), text_field(fields, "z"), zone)
