"""Text files: lines that a SerDe decodes. Executor side."""

from __future__ import annotations

import io
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing

import pyarrow as pa

from connector_spi.errors import InvalidPropertyError, NotSupportedError
from connector_spi.page_source import PageSource
from connectors.hive import error_codes
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.positional_page_source import PositionalFile, positional_page_source
from connectors.hive.formats.row_serde import RowDecoder, RowLayout
from connectors.hive.formats.row_serdes import find_row_serde, has_row_serde
from connectors.hive.formats.text.lines import cut_lines, first_line_start, whole_lines, without_last
from connectors.toolkit.codecs.bzip2_blocks import RandomAccess, read_blocks
from connectors.toolkit.codecs.hadoop_codecs import codec_of_path, decompress_stream
from connectors.toolkit.codecs.streams import file_of_parts
from connectors.toolkit.read.file_read import BATCH_ROWS

__all__ = ["TextFormat"]

_SPLITTABLE = (None, "bzip2")
_HEADER, _FOOTER = "skip.header.line.count", "skip.footer.line.count"


class TextFormat(HiveFileFormat):
    """``STORED AS TEXTFILE``, with any SerDe that decodes records."""

    name = "textfile"
    input_formats = frozenset({"org.apache.hadoop.mapred.TextInputFormat"})

    def serves(self, serde: str) -> bool:
        return has_row_serde(serde)

    def reads_unions(self, serde: str) -> bool:
        return find_row_serde(serde, self.name).unions

    def check(self, storage: FileStorage, declared: pa.Schema, where: str) -> None:
        properties = dict(storage.properties)
        _line_count(properties, _HEADER, where)
        _line_count(properties, _FOOTER, where)
        delimiter = properties.get("line.delim", "\n")
        if delimiter not in ("\n", "10", ""):
            raise NotSupportedError(
                f"{where} has lines that end with {delimiter!r}; expected a line feed, which alone Hive writes",
                error_codes.HIVE_UNSUPPORTED_FORMAT,
            )
        layout = RowLayout(declared, tuple(range(len(declared))), properties, "UTC", where)
        find_row_serde(storage.serde, where).decoder(layout)

    def splittable(self, path: str, storage: FileStorage) -> bool:
        # Which lines are the last is known at the end only.
        return codec_of_path(path) in _SPLITTABLE and not _line_count(dict(storage.properties), _FOOTER, path)

    def page_source(self, request: FileRequest) -> PageSource:
        return positional_page_source(_TextFile(request))


class _TextFile(PositionalFile):
    """Reads the lines that begin in a range of a file."""

    def decode(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        storage, path = self.request.storage, self.file.path
        layout = RowLayout(self.request.declared, tuple(wanted), self.request.properties, self.read.zone, path)
        decode = find_row_serde(storage.serde, path).decoder(layout)
        footer = _line_count(layout.properties, _FOOTER, path)
        with closing(self._lines(_line_count(layout.properties, _HEADER, path))) as lines:
            yield from _decoded(without_last(lines, footer) if footer else lines, decode)

    def _lines(self, header: int) -> Generator[pa.Array, None, None]:
        path, start, end = self.file.path, self.file.start, self.file.end
        codec = codec_of_path(path)
        with self.request.files.open(path) as file:
            size = file.size()
            if codec == "bzip2" and (start or end < size):
                yield from _bzip2_lines(file, path, start, end, header)
                return
            if codec is not None:
                stream = decompress_stream(file, codec, path)
                yield from _skip(cut_lines(stream.read, path), header)
                return
            if start and header:
                # Lines of the header may reach into this range.
                behind = 0
                for _ in range(header):
                    behind = first_line_start(file.read_at, behind + 1, size)
                start, header = max(start, behind), 0
            first = first_line_start(file.read_at, start, size)
            if first < min(end, size):
                file.seek(first)
                yield from _skip(cut_lines(file.read, path, length=end - first, mark=first == 0), header)


def _decoded(
    lines: Generator[pa.Array, None, None], decode: RowDecoder
) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
    """Decodes records in batches of bounded size: the wanted columns and the number of rows of each."""
    for array in lines:
        for at in range(0, len(array), BATCH_ROWS):
            records = array.slice(at, BATCH_ROWS)
            yield decode(records), len(records)


def _bzip2_lines(file: RandomAccess, path: str, start: int, end: int, header: int) -> Generator[pa.Array, None, None]:
    """The lines of the blocks that begin in a range."""
    if start and header:
        # Lines of the header may reach into this range. A block at a time, since one has mostly all of them.
        with closing(cut_lines(_bzip2_stream(file, path, 0, start).read1, path)) as before:
            for array in before:
                header = max(0, header - len(array))
                if not header:
                    break
    stream = _bzip2_stream(file, path, start, end)
    yield from _skip(cut_lines(stream.read, path, mark=start == 0), header)


def _bzip2_stream(file: RandomAccess, path: str, start: int, end: int) -> io.BufferedReader:
    blocks = ((block.data, block.bit < 8 * end) for block in read_blocks(file, path, start, end))
    return file_of_parts(whole_lines(blocks, first=start == 0))


def _skip(lines: Generator[pa.Array, None, None], count: int) -> Generator[pa.Array, None, None]:
    for array in lines:
        if count < len(array):
            yield array.slice(count)
        count = max(0, count - len(array))


def _line_count(properties: Mapping[str, str], key: str, where: str) -> int:
    text = properties.get(key, "0").strip()
    if not (text.isascii() and text.isdigit()):
        raise InvalidPropertyError(f"{where} has {key}={text!r}; expected a number of lines, 0 or more")
    return int(text)
