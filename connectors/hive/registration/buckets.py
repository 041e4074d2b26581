"""Buckets of a new table, by ``CLUSTERED BY`` or by Trino's properties. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.metastore.model import SortColumn, StorageDescriptor
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.optional.definitions import TableDefinition
from connectors.hive.definitions.table_formats import is_transactional

__all__ = ["with_buckets"]

_PROPERTIES = ("bucketed_by", "bucket_count", "sorted_by")


def with_buckets(
    storage: StorageDescriptor, definition: TableDefinition, properties: dict[str, str]
) -> StorageDescriptor:
    """The storage with the buckets that a definition declares.

    Args:
        storage: Has the columns of the files.
        definition: The table.
        properties: Its properties; those of buckets are taken from them.

    Raises:
        InvalidArgumentError: Buckets are said twice, by columns that there are not, or without a number.
        NotSupportedError: Rows of a full ACID table would be sorted.
    """
    texts = {name: properties.pop(name) for name in _PROPERTIES if name in properties}
    clause = definition.buckets
    if clause is not None and texts:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} has the property '{next(iter(texts))}', and CLUSTERED BY; say one of them"
        )
    if clause is not None:
        names, count = [name.lower() for name in clause.columns], str(clause.count)
        sorted_by = [[name] for name in clause.sorted_by]
    else:
        names, count = _names(texts.get("bucketed_by", "")), texts.get("bucket_count", "").strip()
        sorted_by = [text.split() for text in texts.get("sorted_by", "").split(",") if text.strip()]
    if not (names or count or sorted_by):
        return storage
    known = [field.name for field in storage.columns]
    if not names or not set(names).issubset(known) or not count.isdecimal() or int(count) < 1:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} has 'bucketed_by'='{','.join(names)}' and 'bucket_count'='{count}'; "
            f"expected columns of the table ({', '.join(known)}) and a number of buckets, at least 1"
        )
    sort_columns = tuple(_sort_column(definition, words, known) for words in sorted_by)
    if sort_columns and _has_row_ids(properties):
        # Hive refuses to write to such a table (ErrorMsg.ACID_NO_SORTED_BUCKETS).
        raise NotSupportedError(
            f"CREATE TABLE {definition.name} is transactional and sorts its buckets by '{sort_columns[0].name}': rows "
            "of a full ACID table are in the order of their ids; leave SORTED BY out, or make it insert-only"
        )
    return replace(storage, bucket_columns=tuple(names), bucket_count=int(count), sort_columns=sort_columns)


def _sort_column(definition: TableDefinition, words: Sequence[str], known: Sequence[str]) -> SortColumn:
    """A column of ``sorted_by``: its name, and ``ASC`` or ``DESC`` behind it."""
    name, order = words[0].lower(), " ".join(words[1:]).upper() or "ASC"
    if name not in known or order not in ("ASC", "DESC"):
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} has '{' '.join(words)}' in 'sorted_by'; expected one of "
            f"{', '.join(known)}, with ASC or DESC behind it"
        )
    return SortColumn(name, ascending=order == "ASC")


def _has_row_ids(properties: dict[str, str]) -> bool:
    texts = [text for key, text in properties.items() if key.lower() == "transactional_properties"]
    return is_transactional(properties) and not any("insert_only" in text.lower() for text in texts)


def _names(text: str) -> list[str]:
    return [name.strip().lower() for name in text.split(",") if name.strip()]
