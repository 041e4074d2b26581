"""The input formats of hadoop-lzo: text files of ``lzop``, and indexes beside them. Both sides."""

from __future__ import annotations

from collections.abc import Sequence

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.text_files import TextFormat
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["LzoTextFormat"]


class LzoTextFormat(TextFormat):
    """Text files whose names end with ``.lzo``; indexes, which say where splits can begin, are ignored.

    Hadoop's classes ignore files of all other names, too, unless ``lzo.text.input.format.ignore.nonlzo`` is false.
    What it was for a table is not known, and such files are refused.
    """

    name = "lzotext"
    input_formats = frozenset(
        {"com.hadoop.mapred.DeprecatedLzoTextInputFormat", "com.hadoop.mapreduce.LzoTextInputFormat"}
    )

    def data_files(self, files: FileSystem, listed: FileInfo) -> Sequence[FileInfo]:
        if listed.name.endswith(".lzo.index"):
            return ()
        if not listed.name.endswith(".lzo"):
            raise NotSupportedError(
                f"{listed.path} is no .lzo file: whether the input format of LZO text ignores it or reads it was a "
                "setting of Hadoop's (lzo.text.input.format.ignore.nonlzo), which is not known here; move the file",
                error_codes.HIVE_UNSUPPORTED_FORMAT,
            )
        return (listed,)
