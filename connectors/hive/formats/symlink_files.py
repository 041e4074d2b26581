"""``SymlinkTextInputFormat``: files whose lines are the paths of text files. Both sides."""

from __future__ import annotations

from collections.abc import Sequence

from connector_spi.errors import CorruptFileError, FileMissingError
from connectors.hive.formats.text_files import TextFormat
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem, is_hidden
from connectors.toolkit.storage.globs import find_paths

__all__ = ["SymlinkTextFormat"]

_MOST_BYTES = 1 << 26


class SymlinkTextFormat(TextFormat):
    """Text files that lie anywhere.

    A line names a file, a directory of files, or a pattern of these as Hadoop writes them. One that names nothing is
    an error, as of Hive (``FileInputFormat.listStatus``).

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
    """The data files of one line."""
    try:
        named = find_paths(files, path)
    except ValueError as error:
        raise CorruptFileError(f"{named_by} names {path}: {error}; correct the line") from error
    shown = [one for one in named if not is_hidden(one.name)]
    if not shown:
        raise FileMissingError(f"{path}, which {named_by} names, matches no file; restore the files, or correct it")
    found: list[FileInfo] = []
    for one in shown:
        found += files.list(one.path) if one.is_directory else [one]
    return [one for one in found if not one.is_directory and one.size and not is_hidden(one.name)]
