"""The Java classes of a new table's format. Driver side."""

from __future__ import annotations

from collections.abc import Mapping

from catalog.metastore.model import FieldSchema, Parameters, SerDeInfo, StorageDescriptor
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connectors.hive import error_codes

__all__ = ["declared_storage", "described_storage", "storage_of"]

_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_LAZY_SIMPLE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
# Input format, output format and SerDe of Hive's STORED AS (IOConstants and its StorageFormatDescriptors).
_CLASSES = {
    "avro": (
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat",
        "org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat",
        "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
    ),
    "orc": (
        "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    ),
    "parquet": (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "rcfile": (
        "org.apache.hadoop.hive.ql.io.RCFileInputFormat",
        "org.apache.hadoop.hive.ql.io.RCFileOutputFormat",
        "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe",
    ),
    "sequencefile": (
        "org.apache.hadoop.mapred.SequenceFileInputFormat",
        "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
        _LAZY_SIMPLE,
    ),
    "textfile": (_TEXT_INPUT, _TEXT_OUTPUT, _LAZY_SIMPLE),
}
_OPTION = "option."
# What Spark calls the classes of a table in OPTIONS, and how it abbreviates settings of delimited text (HiveOptions).
_CLASS_OPTIONS = ("inputFormat", "outputFormat", "serde")
_DELIMITERS = {
    "fieldDelim": "field.delim",
    "escapeDelim": "escape.delim",
    # Hive's own spelling (serdeConstants.COLLECTION_DELIM).
    "collectionDelim": "colelction.delim",
    "mapkeyDelim": "mapkey.delim",
    "lineDelim": "line.delim",
}
_SPARKS_OPTIONS = {name.lower(): name for name in ("fileFormat", *_CLASS_OPTIONS, *_DELIMITERS)}
# Spark writes the table's directory there, too.
_PATH = "path"


def storage_of(file_format: str, columns: tuple[FieldSchema, ...], location: str) -> StorageDescriptor:
    """The storage of a table of ORC or Parquet files."""
    return _storage(_CLASSES[file_format], columns, location, {})


def declared_storage(
    provider: str | None, storage: Mapping[str, str], columns: tuple[FieldSchema, ...], location: str
) -> StorageDescriptor:
    """The storage of a table as ``CREATE TABLE`` declares it.

    Args:
        provider: What ``USING`` says, or ``None``.
        storage: See ``TableDefinition.storage``.
        columns: Columns without the partition keys.
        location: The table's directory.

    Raises:
        InvalidArgumentError: It declares no format, or two.
        NotSupportedError: Hive does not have the format.
    """
    options = _options(storage)
    chosen = (
        options.pop("fileFormat", None) or storage.get("hive.stored-as") or (provider if provider != "hive" else None)
    )
    input_format = options.pop("inputFormat", None) or storage.get("hive.input-format")
    output_format = options.pop("outputFormat", None) or storage.get("hive.output-format")
    serde = options.pop("serde", None) or storage.get("hive.serde")
    if chosen is None and input_format is None and serde is None:
        raise InvalidArgumentError(
            "CREATE TABLE names no format; say USING orc, USING parquet or STORED AS with one of "
            f"{', '.join(sorted(_CLASSES))}"
        )
    classes = _CLASSES.get((chosen or "textfile").lower())
    if classes is None:
        raise NotSupportedError(
            f"the format {chosen} is not one of Hive's; expected one of {', '.join(sorted(_CLASSES))}, or the classes "
            "with STORED AS INPUTFORMAT ... OUTPUTFORMAT ... and ROW FORMAT SERDE",
            error_codes.HIVE_UNSUPPORTED_FORMAT,
        )
    known = (input_format or classes[0], output_format or classes[1], serde or classes[2])
    return _storage(known, columns, location, options)


def described_storage(storage: StorageDescriptor) -> dict[str, str]:
    """What ``declared_storage`` makes the same storage of: ``provider``, and options under ``option.``."""
    classes = (storage.input_format or "", storage.output_format or "", storage.serde.serialization_lib)
    found = {"provider": next((name for name, known in _CLASSES.items() if known == classes), "hive")}
    if found["provider"] == "hive":
        named = zip(_CLASS_OPTIONS, classes, strict=True)
        found |= {f"{_OPTION}{name}": value for name, value in named if value}
    settings = {key: value for key, value in storage.serde.parameters.items() if key != _PATH}
    if settings.get("serialization.format") == "1":
        del settings["serialization.format"]
    return found | {f"{_OPTION}{key}": value for key, value in settings.items()}


def _options(storage: Mapping[str, str]) -> dict[str, str]:
    """The options, those of Spark by their own names: it takes them in any case."""
    given = {key[len(_OPTION) :]: value for key, value in storage.items() if key.startswith(_OPTION)}
    named = {_SPARKS_OPTIONS.get(key.lower(), key): value for key, value in given.items()}
    return {_DELIMITERS.get(key, key): value for key, value in named.items()}


def _storage(
    classes: tuple[str, str, str], columns: tuple[FieldSchema, ...], location: str, options: Mapping[str, str]
) -> StorageDescriptor:
    input_format, output_format, serde = classes
    settings = Parameters.of({"serialization.format": "1", **options})
    return StorageDescriptor(columns, location, input_format, output_format, serde=SerDeInfo(serde, settings))
