"""Which format reads what Hive's classes wrote. Both sides."""

from __future__ import annotations

from connector_spi.errors import InternalError, NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.avro.format import AvroFormat
from connectors.hive.formats.file_format import HiveFileFormat
from connectors.hive.formats.lzo_text import LzoTextFormat
from connectors.hive.formats.orc import OrcFormat
from connectors.hive.formats.parquet import ParquetFormat
from connectors.hive.formats.plugins import plugin_formats
from connectors.hive.formats.rcfile.format import RcFileFormat
from connectors.hive.formats.sequence.format import SequenceFormat
from connectors.hive.formats.symlink_files import SymlinkTextFormat
from connectors.hive.formats.text_files import TextFormat

__all__ = ["find_format", "format_named"]

_FORMATS: tuple[HiveFileFormat, ...] = (
    AvroFormat(),
    OrcFormat(),
    ParquetFormat(),
    RcFileFormat(),
    SequenceFormat(),
    TextFormat(),
    SymlinkTextFormat(),
    LzoTextFormat(),
)


def find_format(input_format: str, serde: str, where: str) -> HiveFileFormat:
    """The format of files that Hive would read with these classes.

    Args:
        input_format: Java class of the input format; empty where the metastore names none.
        serde: Java class of the SerDe; may be empty.
        where: Names the table or partition for the message.

    Raises:
        NotSupportedError: One of them is not known, or they do not go together (``HIVE_UNSUPPORTED_FORMAT``).
    """
    serving = _first(_FORMATS, input_format) or _first(plugin_formats(), input_format)
    if serving is None:
        raise _unsupported(where, "input format", input_format)
    if not serving.serves(serde):
        raise _unsupported(where, "SerDe", serde)
    return serving


def format_named(name: str) -> HiveFileFormat:
    """The format of this name, of one that ``find_format`` gave.

    Raises:
        InternalError: There is none: the plugin is not installed here.
    """
    for one in _FORMATS:
        if one.name == name:
            return one
    for one in plugin_formats():
        if one.name == name:
            return one
    raise InternalError(f"no file format is called {name} here; install the plugin that brings it where tasks run")


def _first(formats: tuple[HiveFileFormat, ...], input_format: str) -> HiveFileFormat | None:
    return next((one for one in formats if input_format in one.input_formats), None)


def _unsupported(where: str, part: str, name: str) -> NotSupportedError:
    return NotSupportedError(
        f"{where} has the {part} {name or '(none)'}, which cannot be read; copy the rows with Hive into a table STORED "
        "AS ORC, or bring a SerDe by a plugin (docs/hive-formats.md)",
        error_codes.HIVE_UNSUPPORTED_FORMAT,
    )
