"""``STORED AS RCFILE``: cells of texts (``ColumnarSerDe``) or of binary values. Executor side."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connector_spi.page_source import PageSource
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.lazy.binary import check_binary_type, decode, zoned
from connectors.hive.formats.lazy.parameters import lazy_parameters
from connectors.hive.formats.lazy.texts import decode_column
from connectors.hive.formats.positional_page_source import PositionalFile, positional_page_source
from connectors.hive.formats.rcfile.file import ColumnCells, rc_groups, read_rc_header
from connectors.toolkit.cells import gather_cells, spread
from connectors.toolkit.storage.byte_source import FileSource

__all__ = ["RcFileFormat"]

_TEXT = "org.apache.hadoop.hive.serde2.columnar.ColumnarSerDe"
_BINARY = "org.apache.hadoop.hive.serde2.columnar.LazyBinaryColumnarSerDe"
# A text of no bytes would be NULL, so LazyBinaryColumnarSerDe writes a byte that no UTF-8 text is.
_EMPTY_TEXT = 0xBF


class RcFileFormat(HiveFileFormat):
    """``STORED AS RCFILE``."""

    name = "rcfile"
    input_formats = frozenset({"org.apache.hadoop.hive.ql.io.RCFileInputFormat"})
    serdes = frozenset({_BINARY, _TEXT})
    unions = True

    def check(self, storage: FileStorage, declared: pa.Schema, where: str) -> None:
        if storage.serde == _TEXT:
            parameters = lazy_parameters(dict(storage.properties), "UTC", where)
            for field in declared:
                decode_column(pa.nulls(0, pa.binary()), field.type, parameters)
            return
        for field in declared:
            check_binary_type(field.type, where)

    def page_source(self, request: FileRequest) -> PageSource:
        return positional_page_source(_RcFile(request))


class _RcFile(PositionalFile):
    def decode(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        path, declared = self.file.path, self.request.declared
        with self.request.files.open(path) as file:
            source = FileSource(file)
            header = read_rc_header(source, path)
            decode_cells = self._decoder()
            for group in rc_groups(source, header, self.file.start, self.file.end, path):
                arrays = []
                for position in wanted:
                    cells = group.column(position)
                    arrow = declared.field(position).type
                    arrays.append(pa.nulls(group.rows, arrow) if cells is None else decode_cells(arrow, cells))
                self.bytes_read += group.stored
                yield arrays, group.rows

    def _decoder(self) -> Callable[[pa.DataType, ColumnCells], pa.Array]:
        path, asked = self.file.path, self.request
        if asked.storage.serde == _TEXT:
            parameters = lazy_parameters(asked.properties, asked.read.zone, path)
            return lambda arrow, cells: decode_column(
                gather_cells(cells.data, cells.starts, cells.ends), arrow, parameters
            )

        def decode_cells(arrow: pa.DataType, cells: ColumnCells) -> pa.Array:
            decoded, convert = zoned(arrow, asked.settings.binary_zone, path)
            try:
                found = _decode_binary(decoded, cells)
            except ValueError as error:
                raise CorruptFileError(
                    f"{path} holds values that LazyBinaryColumnarSerDe did not write as {arrow}: {error}"
                ) from error
            return convert(found) if convert else found

        return decode_cells


def _decode_binary(arrow: pa.DataType, cells: ColumnCells) -> pa.Array:
    lengths = cells.ends - cells.starts
    valid = lengths > 0
    starts, ends = cells.starts[valid], cells.ends[valid]
    if pa.types.is_string(arrow) and len(starts):
        ends = ends - ((ends - starts == 1) & (cells.data[starts] == _EMPTY_TEXT))
    return spread(decode(arrow, cells.data, starts, ends), valid)
