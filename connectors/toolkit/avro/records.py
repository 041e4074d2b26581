"""Avro records without a container file, decoded column by column.

The records come one behind the other, each behind its length as four bytes, big-endian. To Avro those bytes are one
more field, of type ``fixed(4)``: so the whole stretch is put into a container file in memory as it stands and read in
one go, and the lengths read say afterwards whether each record ended where it should have. Logical types, maps and
enums are read as what lies on the wire and given their Arrow types at the end. Many records whose fields are single
values are decoded by ``flat_records``, which costs less.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import fastavro
import numpy as np
import pyarrow as pa

from connectors.toolkit.avro import flat_records
from connectors.toolkit.avro.errors import AVRO_ERRORS, polars_errors
from connectors.toolkit.avro.plain_schema import FRAME, LENGTH, PlainSchema, plain_schema
from connectors.toolkit.avro.record_starts import whole_records
from connectors.toolkit.avro.schema import AvroRecordSchema
from connectors.toolkit.avro.values import restore, storage_type
from connectors.toolkit.codecs.varints import zigzag_bytes

__all__ = [
    "AvroRecords",
    "ByteRange",
    "frame_records",
    "read_avro_dicts",
    "read_avro_pieces",
    "read_avro_table",
    "split_records",
]

_SYNC = b"\0" * 16
_FRAME = struct.Struct(">I")
# So many bytes are worth more than a look at one record after the other.
_MANY_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class AvroRecords:
    """Records as they lie in memory.

    Attributes:
        schema: What they were written with.
        body: Each record behind its length, four bytes, big-endian.
        count: Number of records.
    """

    schema: AvroRecordSchema
    body: bytes | pa.Buffer
    count: int


def frame_records(datums: Sequence[bytes]) -> bytes:
    """Puts its length in front of each record."""
    return b"".join(part for datum in datums for part in (len(datum).to_bytes(FRAME, "big"), datum))


class ByteRange(Protocol):
    """Bytes that can be had piece by piece, as of an Arrow buffer."""

    @property
    def size(self) -> int:
        """Bytes in all."""
        ...

    def slice(self, offset: int, length: int) -> pa.Buffer:
        """Some of them."""
        ...


def split_records(
    schema: AvroRecordSchema, body: ByteRange, start: int, count: int, part_bytes: int
) -> Iterator[AvroRecords]:
    """Cuts records into parts of at most so many bytes, to decode one after the other in less memory.

    Args:
        schema: What they were written with.
        body: Holds the records, to its end.
        start: Where the first one begins.
        count: Number of records.
        part_bytes: Bytes of a part; a record that is longer is a part of its own.

    Raises:
        ValueError: The lengths of the records do not add up to their bytes.
    """
    left = count
    while left:
        part, found = _whole_records(body, start, min(max(part_bytes, FRAME), body.size - start), left)
        yield AvroRecords(schema, part, found)
        start, left = start + part.size, left - found
    if start < body.size or not count:
        yield AvroRecords(schema, body.slice(start, body.size - start), 0)


def _whole_records(body: ByteRange, start: int, length: int, most: int) -> tuple[pa.Buffer, int]:
    """The records that end within so many bytes, but one at least, and how many they are."""
    window = body.slice(start, length)
    if length >= _MANY_BYTES and (many := whole_records(window, most)) is not None:
        return window.slice(0, many[0]), many[1]
    view = memoryview(window)
    end = found = 0
    # Where a record ends is known from the one before it only, so this is a loop over records, with little in it.
    last, length_at = length - FRAME, _FRAME.unpack_from
    while found < most and end <= last:
        next_end = end + FRAME + length_at(view, end)[0]
        if next_end > length:
            break
        end = next_end
        found += 1
    if found:
        return window.slice(0, end), found
    wanted = FRAME + int.from_bytes(view[:FRAME], "big")
    if length < FRAME or start + wanted > body.size:
        raise ValueError(f"a record ends at byte {start + wanted} of {body.size}")
    return body.slice(start, wanted), 1


def read_avro_table(records: AvroRecords, target: pa.Schema) -> pa.Table:
    """Decodes some columns.

    Args:
        records: The records.
        target: The columns, by names of fields of the schema, and the Arrow types that those stand for.

    Returns:
        A table of the schema ``target``.

    Raises:
        ValueError: The bytes are no such records.
    """
    return read_avro_pieces([records], target)


def read_avro_pieces(pieces: Sequence[AvroRecords], target: pa.Schema) -> pa.Table:
    """Decodes some columns of several stretches of records that have the same schema, one behind the other.

    Args:
        pieces: One at least.
        target: As for ``read_avro_table``.

    Raises:
        ValueError: The bytes of one are no such records.
    """
    schema = pieces[0].schema
    for empty in (piece for piece in pieces if piece.count == 0):
        if len(empty.body):
            raise ValueError(f"{len(empty.body)} bytes where no record is")
    pieces = [piece for piece in pieces if piece.count]
    if not pieces:
        return target.empty_table()
    with _avro_errors():
        counts = [piece.count for piece in pieces]
        if sum(counts) >= flat_records.LEAST_RECORDS:
            arrays = flat_records.read_flat_records(schema, [piece.body for piece in pieces], counts, target)
            if arrays is not None:
                return pa.Table.from_arrays(arrays, schema=target)
        plain = plain_schema(schema)
        read = _read_by_polars if plain.columnar else _read_by_fastavro
        lengths, columns = read(pieces, plain, target)
        done = 0
        for piece in pieces:
            _check_lengths(piece, lengths[done : done + piece.count])
            done += piece.count
        if done != len(lengths):
            raise ValueError(f"{len(lengths)} records, expected {done}")
        arrays = [
            restore(array, schema.fields[field.name], field.type) for field, array in zip(target, columns, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=target)


def read_avro_dicts(schema: str, datums: Collection[bytes], *, record_names: bool = False) -> list[dict[str, object]]:
    """Decodes records whose columns have no Arrow type, such as wide unions. Row by row: for few records.

    Args:
        schema: What they were written with, as JSON.
        datums: The records.
        record_names: Give a record in a union of several records as a pair of its type's name and the record.

    Raises:
        ValueError: The bytes are no such records.
    """
    with _avro_errors():
        parsed = fastavro.parse_schema(json.loads(schema))
        found = []
        for datum in datums:
            stream = io.BytesIO(datum)
            found.append(
                fastavro.schemaless_reader(
                    stream,
                    parsed,
                    None,
                    return_record_name=record_names,
                    return_record_name_override=record_names,
                )
            )
            if stream.tell() != len(datum):
                raise ValueError(f"a record of {len(datum)} bytes ends after {stream.tell()}")
        return found


def _read_by_polars(
    pieces: Sequence[AvroRecords], plain: PlainSchema, target: pa.Schema
) -> tuple[np.ndarray, list[pa.Array]]:
    import polars as pl  # a tenth of a second, which most reads do without

    frame = pl.read_avro(io.BytesIO(_container(pieces, plain)), columns=[LENGTH, *target.names])
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    columns = [_one_array(table.column(name)) for name in (LENGTH, *target.names)]
    lengths = columns[0].cast(pa.binary(FRAME))
    data = np.frombuffer(lengths.buffers()[1], dtype=">u4", count=len(lengths), offset=lengths.offset * FRAME)
    return data.astype(np.int64), columns[1:]


def _read_by_fastavro(
    pieces: Sequence[AvroRecords], plain: PlainSchema, target: pa.Schema
) -> tuple[np.ndarray, list[pa.Array]]:
    fields = pieces[0].schema.fields
    rows = list(fastavro.reader(io.BytesIO(_container(pieces, plain))))
    lengths = np.frombuffer(b"".join(row[LENGTH] for row in rows), dtype=">u4").astype(np.int64)
    columns = [
        pa.array((row[name] for row in rows), type=storage_type(fields[name]), size=len(rows)) for name in target.names
    ]
    return lengths, columns


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _container(pieces: Sequence[AvroRecords], plain: PlainSchema) -> bytes:
    entries = ((b"avro.schema", plain.text.encode()), (b"avro.codec", b"null"))
    header = [b"Obj\x01", zigzag_bytes(len(entries))]
    for key, value in entries:
        header += [zigzag_bytes(len(key)), key, zigzag_bytes(len(value)), value]
    parts: list[bytes | pa.Buffer] = [*header, zigzag_bytes(0), _SYNC]
    for piece in pieces:
        parts += [zigzag_bytes(piece.count), zigzag_bytes(len(piece.body)), piece.body, _SYNC]
    return b"".join(parts)


def _check_lengths(records: AvroRecords, lengths: np.ndarray) -> None:
    """Each length as decoded must be the one that stands where the record before it should end."""
    starts = np.concatenate(([0], np.cumsum(lengths + FRAME)))
    if len(lengths) != records.count or starts[-1] != len(records.body):
        raise ValueError(f"the records take {starts[-1]} bytes, expected {len(records.body)}")
    data = np.frombuffer(records.body, dtype=np.uint8)
    framed = data[starts[:-1, None] + np.arange(FRAME)].view(">u4")[:, 0]
    if not np.array_equal(framed, lengths):
        raise ValueError("a record does not end where its length says")


@contextmanager
def _avro_errors() -> Iterator[None]:
    try:
        yield
    except (MemoryError, ValueError):
        raise
    except (*polars_errors(), pa.ArrowException, EOFError, OSError) as error:
        raise ValueError(f"no such Avro records: {str(error).strip().partition(chr(10))[0]}") from error
    except AVRO_ERRORS as error:
        raise ValueError(f"no such Avro records: {type(error).__name__}: {error}") from error
