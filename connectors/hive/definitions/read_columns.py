"""The columns that Hive sees in files: most SerDes take them from the metastore, some make them themselves.

Driver side.
"""

from __future__ import annotations

from dataclasses import replace

from catalog.metastore.model import FieldSchema, StorageDescriptor
from connectors.hive.formats.row_serdes import gives_texts_only

__all__ = ["read_columns"]


def read_columns(storage: StorageDescriptor) -> tuple[FieldSchema, ...]:
    """The columns of a table or partition as Hive reads them.

    Those of a SerDe that gives texts only are strings, whatever is declared: ``Table.getCols`` asks the SerDe.
    """
    if not gives_texts_only(storage.serde.serialization_lib):
        return storage.columns
    return tuple(replace(field, type="string") for field in storage.columns)
