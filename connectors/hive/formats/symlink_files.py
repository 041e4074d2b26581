"""``SymlinkTextInputFormat``: files whose lines are the paths of text files. Both sides."""

from __future__ import annotations

from collections.abc import Sequence

from connector_spi.errors import CorruptFileError, FileMissingError
from connectors.hive.formats.text_files import TextFormat
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, is_hidden

__all__ = ["SymlinkTextFormat"]

_MOST_BYTES = 1 << 26


class SymlinkTextFormat(TextFormat):
    """Text files that lie anywhere; a path may also be that of a folder of them.

    With the SerDe of another format, as for a Delta table's manifests of Parquet files, a table is refused, since Hive
    would take the lines of those files, too.
    """

    name = "symlinktext"
    input_formats = frozenset({"org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat"})

    def data_files(self, files: FileSystem, listed: FileInfo) -> Sequence[FileInfo]:
        if listed.size > _MOST_BYTES:
            raise CorruptFileError(f"{listed.path} has {listed.size} bytes; expected a list of paths")
        try:
            paths = files.read_text(listed.path).splitlines()
        except UnicodeDecodeError as error:
            raise CorruptFileError(f"{listed.path} is not UTF-8; expected a list of paths") from error
        found: list[FileInfo] = []
        for path in paths:
            if path.strip():
                found += _target(files, path.strip(), listed.path)
        return found


def _target(files: FileSystem, path: str, named_by: str) -> list[FileInfo]:
    info = files.info(path)
    if info is None:
        raise FileMissingError(f"{path}, which {named_by} names, is not there; restore it, or correct the list")
    if not info.is_directory:
        return [info] if info.size else []
    return [one for one in files.list(path) if not one.is_directory and one.size and not is_hidden(one.name)]
