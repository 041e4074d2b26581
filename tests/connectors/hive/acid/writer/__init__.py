"""Writes transactional tables of Hive as Hive's writers do, by its documented layout; knows nothing of our reader."""

from tests.connectors.hive.acid.writer.arrow_files import write_arrow_deletes, write_arrow_inserts
from tests.connectors.hive.acid.writer.folder import AcidLocation, EmptyKind, Flush, InsertOnlyFolder
from tests.connectors.hive.acid.writer.names import (
    FIRST_WRITE_ID_OF_CONVERTED,
    PRE_ACID_BASE,
    RowKey,
    base_name,
    bucket_file,
    bucket_of_property,
    bucket_property,
    delete_delta_name,
    delta_name,
    original_keys,
)
from tests.connectors.hive.acid.writer.orc_files import (
    Event,
    OrcLayout,
    Row,
    acid_schema,
    deletes,
    inserts,
    write_acid_file,
    write_flat_file,
    write_streaming_file,
)

__all__ = [
    "FIRST_WRITE_ID_OF_CONVERTED",
    "PRE_ACID_BASE",
    "AcidLocation",
    "EmptyKind",
    "Event",
    "Flush",
    "InsertOnlyFolder",
    "OrcLayout",
    "Row",
    "RowKey",
    "acid_schema",
    "base_name",
    "bucket_file",
    "bucket_of_property",
    "bucket_property",
    "delete_delta_name",
    "deletes",
    "delta_name",
    "inserts",
    "original_keys",
    "write_acid_file",
    "write_arrow_deletes",
    "write_arrow_inserts",
    "write_flat_file",
    "write_streaming_file",
]
