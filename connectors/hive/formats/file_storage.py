"""How the files of a table or of one partition are written. Both sides."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.serializable import Serializable

__all__ = ["FileStorage", "by_position"]

_BY_POSITION = {"orc": "orc.force.positional.evolution", "parquet": "parquet.column.index.access"}


@dataclass(frozen=True, slots=True)
class FileStorage(Serializable):
    """The classes that Hive would read the files with, and their properties.

    Attributes:
        format: Name of the format in the registry, such as ``orc`` or ``textfile``.
        input_format: Java class of the input format.
        serde: Java class of the SerDe; may be empty for ORC and Parquet.
        properties: The SerDe's properties, sorted by key: its own, over them the table's, over them the partition's
            (``MetaStoreUtils.getSchema``, ``SerDeUtils.createOverlayedProperties``). Statistics are not in them.
    """

    format: str
    input_format: str = ""
    serde: str = ""
    properties: tuple[tuple[str, str], ...] = ()


def by_position(storage: FileStorage) -> bool:
    """Whether a table says that its files' columns are found by position.

    By ``parquet.column.index.access``, as Hive, and by ``orc.force.positional.evolution``, which is a setting of Hive's
    sessions alone.
    """
    setting = dict(storage.properties).get(_BY_POSITION.get(storage.format, ""), "")
    return setting.strip().lower() == "true"
