"""``STORED AS SEQUENCEFILE``: records in a SequenceFile, each decoded by a SerDe. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connector_spi.page_source import PageSource
from connectors.hive import error_codes
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.positional_page_source import PositionalFile, positional_page_source
from connectors.hive.formats.row_serde import RowLayout
from connectors.hive.formats.row_serdes import find_row_serde, has_row_serde
from connectors.hive.formats.sequence.file import read_sequence_header, sequence_values
from connectors.toolkit.storage.byte_source import FileSource

__all__ = ["SequenceFormat"]

_SKIPPING = ("skip.header.line.count", "skip.footer.line.count")


class SequenceFormat(HiveFileFormat):
    """``STORED AS SEQUENCEFILE``."""

    name = "sequencefile"
    input_formats = frozenset(
        {
            "org.apache.hadoop.mapred.SequenceFileInputFormat",
            "org.apache.hadoop.hive.ql.io.HiveSequenceFileInputFormat",
        }
    )

    def serves(self, serde: str) -> bool:
        return has_row_serde(serde)

    def reads_unions(self, serde: str) -> bool:
        return find_row_serde(serde, self.name).unions

    def check(self, storage: FileStorage, declared: pa.Schema, where: str) -> None:
        properties = dict(storage.properties)
        for key in _SKIPPING:
            if properties.get(key, "0").strip() not in ("", "0"):
                raise NotSupportedError(
                    f"{where} has '{key}'='{properties[key]}', which is understood for text files only; expected 0",
                    error_codes.HIVE_UNSUPPORTED_FORMAT,
                )
        layout = RowLayout(declared, tuple(range(len(declared))), properties, "UTC", where)
        find_row_serde(storage.serde, where).decoder(layout)

    def page_source(self, request: FileRequest) -> PageSource:
        return positional_page_source(_SequenceFile(request))


class _SequenceFile(PositionalFile):
    def decode(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        asked, path = self.request, self.file.path
        layout = RowLayout(
            declared=asked.declared,
            wanted=tuple(wanted),
            properties=asked.properties,
            zone=asked.read.zone,
            where=path,
            binary_zone=asked.settings.binary_zone,
        )
        decode = find_row_serde(asked.storage.serde, path).decoder(layout)
        with asked.files.open(path) as file:
            source = FileSource(file)
            header = read_sequence_header(source, path)
            for records in sequence_values(source, header, self.file.start, self.file.end, path):
                self.bytes_read += records.nbytes
                for start in range(0, len(records), self.read.batch_rows):
                    part = records.slice(start, self.read.batch_rows)
                    yield (decode(part) if wanted else ()), len(part)
