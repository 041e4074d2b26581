"""What the path of a partition says of its rows. Pure.

A path holds the text of the partition fields' values only where a simple or complex key generator made it; and a
value that is not url-encoded may hold ``/`` itself. Where anything is in doubt a partition is kept (invariant I3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import ConnectorError
from connector_spi.partition_names import DEFAULT_PARTITION, unescape_path_name
from connector_spi.predicate import Domain, Range, Reference, Value, ValueSet
from connectors.toolkit.partition_values import partition_value

__all__ = ["PartitionPaths"]

_OLD_DEFAULT = "default"
"""What null and empty values were called before Hudi 0.12."""


@dataclass(frozen=True, slots=True)
class PartitionPaths:
    """How a table's partition paths are to be read.

    Attributes:
        fields: Name and type of each partition field, in order; types as in the table's schema.
        tells_values: The path holds the fields' values; otherwise nothing is read from it.
        hive_style: Segments are ``field=value``.
        url_encoded: Values are escaped.
        bootstrapped: The folders are named as another writer named them, which may have escaped values, too.
    """

    fields: tuple[tuple[str, pa.DataType], ...]
    tells_values: bool
    hive_style: bool
    url_encoded: bool
    bootstrapped: bool = False

    def values(self, path: str) -> dict[str, Value | None]:
        """The values that a partition's rows have for certain, by field; fields in doubt are left out.

        Args:
            path: Relative to the table, such as ``region=eu/day=2024-01-01``; empty for a table without partitions.
        """
        found: dict[str, Value | None] = {}
        for (name, arrow), text in zip(self.fields, self._texts(path) or (), strict=False):
            if not _has_certain_text(arrow):
                continue
            try:
                found[name] = partition_value(text, arrow, path)
            except ConnectorError:
                continue
        return found

    def may_hold(self, path: str, domains: Mapping[str, Domain], complete: bool) -> bool:
        """Whether a partition may hold rows of which the domains are true.

        Args:
            path: Of a partition, or of a folder on the way to one.
            domains: By field name, of the types in ``fields``.
            complete: ``path`` is a partition's, not only the beginning of one.
        """
        if not self.tells_values or not domains:
            return True
        texts = self._texts(path) if complete else self._leading_texts(path)
        for (name, arrow), text in zip(self.fields, texts or (), strict=False):
            domain = domains.get(name)
            if domain is not None and domain.type == arrow and not self._may_equal(text, arrow, domain, complete):
                return False
        return True

    def may_hold_in(self, path: str, reference: Reference, domain: Domain) -> bool:
        """Whether rows of a partition may have a value of a domain in a column; true of fields of structs.

        Args:
            path: Of a partition.
            reference: A column of the table, or a field of one.
            domain: What is wanted.
        """
        return bool(reference.path) or self.may_hold(path, {reference.column.name: domain}, complete=True)

    def _texts(self, path: str) -> tuple[str, ...] | None:
        """The text of each field; ``None`` where the path cannot be cut up for certain."""
        if not self.tells_values or not self.fields or not path:
            return None
        segments = path.split("/")
        if len(self.fields) == 1:
            segments = [path]
        if len(segments) != len(self.fields):
            return None
        return self._values_of(segments)

    def _leading_texts(self, path: str) -> tuple[str, ...] | None:
        segments = path.split("/")
        if len(segments) > len(self.fields):
            return None
        # A '/' in an earlier value would shift what follows; 'field=' in front shows that it did not.
        certain = len(segments) if self.hive_style or self.url_encoded else 1
        return self._values_of(segments[:certain])

    def _values_of(self, segments: list[str]) -> tuple[str, ...] | None:
        texts = []
        for (name, _), segment in zip(self.fields, segments, strict=False):
            if self.hive_style:
                if not segment.startswith(f"{name}="):
                    return None
                segment = segment[len(name) + 1 :]
            if self.bootstrapped and "%" in segment and not self.url_encoded:
                return None
            texts.append(unescape_path_name(segment) if self.url_encoded else segment)
        return tuple(texts)

    def _may_equal(self, text: str, arrow: pa.DataType, domain: Domain, complete: bool) -> bool:
        if text == _OLD_DEFAULT or not _has_certain_text(arrow):
            return True
        if text == DEFAULT_PARTITION:
            # Null and the empty text share this folder (KeyGenUtils).
            return domain.includes_value(None) or (pa.types.is_string(arrow) and domain.includes_value(""))
        try:
            value = partition_value(text, arrow, text)
        except ConnectorError:
            return True
        if domain.includes_value(value):
            return True
        if not pa.types.is_string(arrow) or self.url_encoded:
            return False
        # Not encoded, 'a', 'a/', '/a' lie in the folder 'a', and 'a/b' in one below it.
        nearby = [_starting_with(arrow, f"{text}/"), _starting_with(arrow, f"/{text}")]
        return domain.values.overlaps(ValueSet.of_ranges(arrow, nearby))


def _has_certain_text(arrow: pa.DataType) -> bool:
    # Floats, times and bytes are written in several ways.
    kinds = (pa.types.is_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_date, pa.types.is_decimal)
    return any(kind(arrow) for kind in kinds)


def _starting_with(arrow: pa.DataType, prefix: str) -> Range:
    return Range.between(arrow, prefix, True, f"{prefix}\U0010ffff", True)
