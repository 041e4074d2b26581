"""``STORED AS AVRO``. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connector_spi.page_source import PageSource
from connectors.hive.formats.avro.resolution import ColumnPlan, ReaderSchema, check_reader_schema, plan_column
from connectors.hive.formats.avro.schema_url import read_schema_text
from connectors.hive.formats.avro.shapes import repeated
from connectors.hive.formats.file_format import FileRequest, HiveFileFormat
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.formats.positional_page_source import PositionalFile, positional_page_source
from connectors.toolkit.avro.container import AvroBlock, AvroHeader, avro_blocks, read_avro_header
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.storage.byte_source import FileSource

__all__ = ["AvroFormat"]

_LITERAL, _URL = "avro.schema.literal", "avro.schema.url"
_BATCH_BYTES = 1 << 23


class AvroFormat(HiveFileFormat):
    """``STORED AS AVRO``."""

    name = "avro"
    input_formats = frozenset({"org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"})
    serdes = frozenset({"org.apache.hadoop.hive.serde2.avro.AvroSerDe"})
    # AvroSerDe gets the table's columns for partitions, too (HIVE-6835).
    asks_partition_columns = False
    unions = True

    def check(self, storage: FileStorage, declared: pa.Schema, where: str) -> None:
        literal = _schema_text(dict(storage.properties), _LITERAL)
        if literal is not None:
            check_reader_schema(literal, where)

    def page_source(self, request: FileRequest) -> PageSource:
        return positional_page_source(_AvroFile(request))


class _AvroFile(PositionalFile):
    def decode(self, wanted: Sequence[int]) -> Generator[tuple[Sequence[pa.Array], int], None, None]:
        path, declared = self.file.path, self.request.declared
        with self.request.files.open(path) as file:
            source = FileSource(file)
            header = read_avro_header(source, path)
            writer = _writer_schema(header, path)
            reader = self._reader_schema()
            conventions = _conventions(header, self.read.zone)
            plans = [
                plan_column(
                    name=declared.field(at).name,
                    target=declared.field(at).type,
                    writer=writer,
                    reader=reader,
                    conventions=conventions,
                    where=path,
                )
                for at in wanted
            ]
            blocks = avro_blocks(source, header, self.file.start, self.file.end, path)
            for batch in self._groups(blocks):
                rows = sum(block.count for block in batch)
                yield self._decode_blocks(writer, plans, batch, rows), rows

    def _groups(self, blocks: Iterator[AvroBlock]) -> Iterator[list[AvroBlock]]:
        held: list[AvroBlock] = []
        size = 0
        for block in blocks:
            held.append(block)
            size += len(block.data)
            self.bytes_read += len(block.data)
            if size >= _BATCH_BYTES or sum(one.count for one in held) >= self.read.batch_rows:
                yield held
                held, size = [], 0
        if held:
            yield held

    def _decode_blocks(
        self, writer: AvroRecordSchema, plans: Sequence[ColumnPlan], batch: Sequence[AvroBlock], rows: int
    ) -> list[pa.Array]:
        from connectors.toolkit.avro.blocks import decode_avro_blocks  # fastavro, which tables of Avro alone need

        asked = {plan.field: plan.natural for plan in plans if plan.field is not None}
        try:
            found = dict(zip(asked, decode_avro_blocks(writer, batch, asked), strict=True)) if asked else {}
        except ValueError as error:
            raise CorruptFileError(f"{self.file.path} is damaged: {error}") from error
        columns = []
        for plan in plans:
            if plan.default is not None:
                columns.append(repeated(plan.default, rows))
            else:
                array = found[plan.field or ""]
                columns.append(plan.convert(array) if plan.convert else array)
        return columns

    def _reader_schema(self) -> ReaderSchema | None:
        properties = self.request.properties
        text = _schema_text(properties, _LITERAL)
        url = _schema_text(properties, _URL)
        if text is None and url is not None:
            text = read_schema_text(url, self.request.files, self.request.settings.avro_schema_hosts, self.file.path)
        return None if text is None else check_reader_schema(text, self.file.path)


def _schema_text(properties: Mapping[str, str], key: str) -> str | None:
    found = properties.get(key, "").strip()
    # AvroSerdeUtils.SCHEMA_NONE.
    return None if found in ("", "none") else found


def _writer_schema(header: AvroHeader, path: str) -> AvroRecordSchema:
    try:
        return AvroRecordSchema(header.schema)
    except ValueError as error:
        raise CorruptFileError(f"{path} has a schema that cannot be read: {error}") from error


def _conventions(header: AvroHeader, zone: str) -> TimeConventions:
    """Calendar and zone of a file: Hive before 3.1 said nothing of both (``AvroDeserializer.deserializePrimitive``).

    A file that names no zone holds instants, shown in the reader's zone, and its days are of the hybrid calendar. Which
    of Java's two views of zones holds, Hive 4 says; without a word it is the older one if no zone is named.
    """
    own_zone = header.text("writer.time.zone")
    hybrid = (header.text("writer.proleptic") or "").lower() != "true"
    legacy = header.text("writer.zone.conversion.legacy")
    return TimeConventions(
        hybrid_dates=hybrid,
        hybrid_timestamps=hybrid,
        zone=own_zone or zone,
        hybrid_clock=True,
        legacy_clock=not own_zone if legacy is None else legacy.lower() == "true",
    )
