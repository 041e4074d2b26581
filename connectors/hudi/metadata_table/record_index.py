"""Finds file groups by record keys, by the index ``record_index``. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from connector_spi.predicate import Domain, Value
from connectors.hudi.metadata_table.file_groups import Wanted
from connectors.hudi.metadata_table.keys import partition_identifier
from connectors.hudi.metadata_table.records import record_location
from connectors.hudi.metadata_table.table import MetadataTable
from connectors.hudi.schema.table_schema import RECORD_KEY
from connectors.hudi.table_config import TableConfig

__all__ = ["RECORD_INDEX", "RecordKeys", "asked_keys", "find_file_groups", "indexed_keys"]

RECORD_INDEX = "record_index"

_MOST_KEYS = 1000
_MOST_LOG_BYTES = 64 << 20

RecordKeys = tuple[tuple[str, ...], ...]
"""For each row key that is asked, the ways in which it may be written."""


def asked_keys(config: TableConfig, domains: Mapping[str, Domain]) -> RecordKeys | None:
    """The record keys that a filter names; ``None`` where it does not, or their text is not certain.

    Args:
        config: The table's properties.
        domains: What is wanted, by column.
    """
    if not config.populate_meta_fields:
        return None
    values = _values(domains.get(RECORD_KEY))
    if values is not None:
        return tuple((text,) for text in _texts(values) or ()) or None
    # A complex key generator writes a single field with its name in front, in some versions.
    if len(config.record_key_fields) != 1 or not config.path_tells_values:
        return None
    [field] = config.record_key_fields
    values = _values(domains.get(field))
    texts = _texts(values) if values is not None else None
    return tuple((text, f"{field}:{text}") for text in texts) if texts is not None else None


def find_file_groups(metadata: MetadataTable, keys: RecordKeys) -> frozenset[tuple[str, str]] | None:
    """Where the rows of some keys are: partition identifiers and file group ids.

    Args:
        metadata: The metadata table.
        keys: Of ``asked_keys``.

    Returns:
        ``None`` where one of the keys is nowhere: the table may write it otherwise.

    Raises:
        ConnectorError: The index cannot be read.
        ValueError: It is damaged.
    """
    texts = [text.encode() for ways in keys for text in ways]
    layers = metadata.partition(RECORD_INDEX).look_up(Wanted.of_keys(texts))
    found: set[tuple[str, str]] = set()
    for ways in keys:
        locations = [record_location(layers.get(text.encode(), ())) for text in ways]
        here = {
            (location.partition or partition_identifier(""), location.file_id)
            for location in locations
            if location is not None
        }
        if not here:
            return None
        found |= here
    return frozenset(found)


def indexed_keys(metadata: MetadataTable) -> int | None:
    """Number of keys in the index; ``None`` where counting would cost too much.

    Raises:
        ConnectorError: The index cannot be read.
        ValueError: It is damaged.
    """
    return metadata.partition(RECORD_INDEX).key_count(_MOST_LOG_BYTES)


def _values(domain: Domain | None) -> Collection[Value] | None:
    if domain is None or domain.null_allowed:
        return None
    values = domain.values.discrete_values()
    return values if values is not None and 0 < len(values) <= _MOST_KEYS else None


def _texts(values: Collection[Value]) -> list[str] | None:
    """The values as keys have them; ``None`` where that depends on the writer."""
    texts = [
        str(value) for value in values if (isinstance(value, int | str) and not isinstance(value, bool) and value != "")
    ]
    return texts if len(texts) == len(values) else None
