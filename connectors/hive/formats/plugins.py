"""SerDes and formats that plugins bring. Both sides."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from connector_spi.connector import version_problem
from connector_spi.errors import InternalError
from connectors.hive.formats.file_format import HiveFileFormat
from connectors.hive.formats.row_serde import RowSerDe

__all__ = ["SERDE_ENTRY_POINTS", "plugin_formats", "plugin_serdes"]

SERDE_ENTRY_POINTS = "lakeport.hive.serdes"
"""Entry point group of SerDes (``RowSerDe``) and formats (``HiveFileFormat``)."""


def plugin_formats() -> tuple[HiveFileFormat, ...]:
    """The formats of all plugins."""
    return tuple(one for one in _loaded() if isinstance(one, HiveFileFormat))


def plugin_serdes() -> tuple[RowSerDe, ...]:
    """The SerDes of all plugins."""
    return tuple(one for one in _loaded() if isinstance(one, RowSerDe))


@cache
def _loaded() -> tuple[HiveFileFormat | RowSerDe, ...]:
    found = sorted(entry_points(group=SERDE_ENTRY_POINTS), key=lambda entry: entry.name)
    return tuple(_load(entry) for entry in found)


def _load(entry: EntryPoint) -> HiveFileFormat | RowSerDe:
    try:
        loaded = entry.load()
        made = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:
        raise InternalError(f"the plugin {entry.value} of {SERDE_ENTRY_POINTS} cannot be loaded: {error}") from error
    if not isinstance(made, (HiveFileFormat, RowSerDe)):
        raise InternalError(
            f"the plugin {entry.value} of {SERDE_ENTRY_POINTS} gives a {type(made).__qualname__}; expected a RowSerDe "
            "or a HiveFileFormat"
        )
    problem = version_problem(made)
    if problem is not None:
        raise InternalError(f"the plugin {entry.value} of {SERDE_ENTRY_POINTS} is unusable: {problem}")
    return made
