"""Properties of ``CREATE TABLE`` by Trino's names, as Hive keeps them. Driver side.

Source: ``HiveTableProperties`` and ``HiveMetadata.getEmptyTableProperties`` of Trino.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.definitions import TableDefinition
from connectors.hive.registration.trino_formats import TRINO_FORMATS

__all__ = ["with_trino_properties"]

_TEXT, _CSV = ("TEXTFILE",), ("CSV",)


@dataclass(frozen=True, slots=True)
class _Property:
    """How a property is kept.

    Attributes:
        key: Hive's name.
        formats: Trino's formats that have it; all where there are none.
        one_sign: Its value is a single character.
    """

    key: str
    formats: tuple[str, ...] = ()
    one_sign: bool = False


_PROPERTIES: Mapping[str, _Property] = {
    "auto_purge": _Property("auto.purge"),
    "avro_schema_literal": _Property("avro.schema.literal", ("AVRO",)),
    "avro_schema_url": _Property("avro.schema.url", ("AVRO",)),
    "csv_escape": _Property("escapeChar", _CSV, one_sign=True),
    "csv_quote": _Property("quoteChar", _CSV, one_sign=True),
    "csv_separator": _Property("separatorChar", _CSV, one_sign=True),
    "null_format": _Property("serialization.null.format", ("TEXTFILE", "RCTEXT", "SEQUENCEFILE")),
    "orc_bloom_filter_columns": _Property("orc.bloom.filter.columns", ("ORC",)),
    "orc_bloom_filter_fpp": _Property("orc.bloom.filter.fpp", ("ORC",)),
    "regex": _Property("input.regex", ("REGEX",)),
    "regex_case_insensitive": _Property("input.regex.case.insensitive", ("REGEX",)),
    "skip_footer_line_count": _Property("skip.footer.line.count", (*_TEXT, *_CSV, "REGEX")),
    "skip_header_line_count": _Property("skip.header.line.count", (*_TEXT, *_CSV, "REGEX")),
    "textfile_field_separator": _Property("field.delim", _TEXT, one_sign=True),
    "textfile_field_separator_escape": _Property("escape.delim", _TEXT, one_sign=True),
}
_DEFINED = ("format", "external_location", "partitioned_by")


def with_trino_properties(definition: TableDefinition) -> TableDefinition:
    """A definition whose properties have Hive's names.

    ``bucketed_by``, ``bucket_count``, ``sorted_by`` and ``transactional`` stay as they are.

    Raises:
        InvalidArgumentError: A property is also said in another way, is not one of the format, or has a value that it
            cannot have.
    """
    given = dict(definition.properties)
    found = {name: given.pop(name) for name in (*_DEFINED, *_PROPERTIES) if name in given}
    if not found:
        return definition
    made = replace(definition, properties=tuple(given.items()))
    trino_format = found.get("format", "").strip().upper()
    if trino_format:
        made = _with_format(made, trino_format)
    if "external_location" in found:
        _check_alone(made, "external_location", made.location, "LOCATION")
        made = replace(made, location=found["external_location"])
    if "partitioned_by" in found:
        _check_alone(made, "partitioned_by", ", ".join(made.partitioned_by), "PARTITIONED BY")
        keys = [name.strip().lower() for name in found["partitioned_by"].split(",")]
        made = replace(made, partitioned_by=tuple(name for name in keys if name))
    kept = [_kept(made, name, found[name], trino_format) for name in _PROPERTIES if name in found]
    return replace(made, properties=(*made.properties, *kept))


def _with_format(definition: TableDefinition, name: str) -> TableDefinition:
    classes = TRINO_FORMATS.get(name)
    if classes is None:
        raise _wrong(definition, "format", name, f"one of {', '.join(TRINO_FORMATS)}")
    _check_alone(definition, "format", definition.provider or dict(definition.storage).get("hive.stored-as"), "USING")
    stored_as, serde = classes
    storage = {**dict(definition.storage), "hive.stored-as": stored_as}
    if serde:
        storage["hive.serde"] = serde
    return replace(definition, storage=tuple(storage.items()))


def _kept(definition: TableDefinition, name: str, value: str, trino_format: str) -> tuple[str, str]:
    known = _PROPERTIES[name]
    if trino_format and known.formats and trino_format not in known.formats:
        raise _wrong(definition, name, value, f"it with 'format' one of {', '.join(known.formats)}, not {trino_format}")
    if known.one_sign and len(value) != 1:
        raise _wrong(definition, name, value, "one character")
    return known.key, value


def _check_alone(definition: TableDefinition, name: str, other: str | None, words: str) -> None:
    if other:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} has the property '{name}', and {words} {other}; say one of them"
        )


def _wrong(definition: TableDefinition, name: str, value: str, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"CREATE TABLE {definition.name} has '{name}'='{value}'; expected {expected}")
