"""The SerDes that decode records, by their Java classes. Both sides."""

from __future__ import annotations

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.json.serde import JsonSerDe
from connectors.hive.formats.lazy.binary_serde import LazyBinaryRowSerDe
from connectors.hive.formats.lazy.multi_delimit import MultiDelimitSerDe
from connectors.hive.formats.lazy.simple import LazySimpleSerDe
from connectors.hive.formats.open_csv import OpenCsvSerDe
from connectors.hive.formats.plugins import plugin_serdes
from connectors.hive.formats.regex_serde import RegexSerDe
from connectors.hive.formats.row_serde import RowSerDe

__all__ = ["find_row_serde", "gives_texts_only", "has_row_serde"]

_SERDES: tuple[RowSerDe, ...] = (
    LazyBinaryRowSerDe(),
    LazySimpleSerDe(),
    OpenCsvSerDe(),
    JsonSerDe(),
    RegexSerDe(),
    MultiDelimitSerDe(),
)


def find_row_serde(serde: str, where: str) -> RowSerDe:
    """What decodes the records that a SerDe wrote.

    Args:
        serde: Java class.
        where: Names the table or file for the message.

    Raises:
        NotSupportedError: It is not known (code ``HIVE_UNSUPPORTED_FORMAT``).
    """
    found = _find(serde)
    if found is None:
        raise NotSupportedError(
            f"{where} has the SerDe {serde or '(none)'}, which cannot be read; a plugin can bring it by an entry "
            "point of lakeport.hive.serdes",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    return found


def has_row_serde(serde: str) -> bool:
    """Whether the records that a SerDe wrote can be decoded."""
    return _find(serde) is not None


def gives_texts_only(serde: str) -> bool:
    """Whether all columns of a table with this SerDe are strings, whatever the table declares."""
    found = _find(serde)
    return found is not None and found.texts_only


def _find(serde: str) -> RowSerDe | None:
    known = next((one for one in _SERDES if serde in one.classes), None)
    return known or next((one for one in plugin_serdes() if serde in one.classes), None)
