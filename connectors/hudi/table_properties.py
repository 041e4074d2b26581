"""Reading a table's ``hoodie.properties`` from storage. Driver side."""

from __future__ import annotations

import time

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_PROPERTIES, HUDI_NOT_A_HUDI_TABLE
from connectors.hudi.java_properties import parse_java_properties
from connectors.hudi.table_config import TableConfig, parse_table_config
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["PROPERTIES_FILE", "is_hudi_table", "read_table_config"]

PROPERTIES_FILE = ".hoodie/hoodie.properties"
"""Relative to the table."""

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.2


def is_hudi_table(files: FileSystem, location: str) -> bool:
    """Whether a folder holds a Hudi table."""
    return any(files.exists(join_path(location, name)) for name in (PROPERTIES_FILE, f"{PROPERTIES_FILE}.backup"))


def read_table_config(files: FileSystem, location: str) -> TableConfig:
    """Reads the properties of a table.

    A writer replaces the file by way of ``.backup``, so both may be missing or half-written for a moment
    (HoodieTableConfig.recoverIfNeeded): the other is tried, and both again after a pause.

    Raises:
        NotSupportedError: There is no Hudi table, or one that this connector does not understand.
        CorruptFileError: The properties cannot be read.
    """
    found = False
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)
        for name in (PROPERTIES_FILE, f"{PROPERTIES_FILE}.backup"):
            try:
                properties = parse_java_properties(files.read_text(join_path(location, name)))
            except FileMissingError:
                continue
            except ValueError:
                properties = {}
            found = True
            if "hoodie.table.name" in properties and "hoodie.table.type" in properties:
                return parse_table_config(properties, location)
        if not found and not files.exists(join_path(location, ".hoodie")):
            break
    if not found:
        raise NotSupportedError(
            f"{location} is no Hudi table: it has no {PROPERTIES_FILE}; check the location", HUDI_NOT_A_HUDI_TABLE
        )
    raise CorruptFileError(
        f"{join_path(location, PROPERTIES_FILE)} holds no hoodie.table.name and hoodie.table.type, nor does its "
        "backup; restore it, or repair the table with Hudi's own tools",
        HUDI_BAD_PROPERTIES,
    )
