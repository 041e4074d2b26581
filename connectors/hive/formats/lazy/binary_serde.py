"""Rows as ``LazyBinarySerDe`` writes them, decoded field by field. Executor side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.hive.formats.lazy.binary import check_binary_type, decode_fields, zoned
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe
from connectors.toolkit.cells import Bytes, Positions

__all__ = ["LazyBinaryRowSerDe", "cell_bounds"]


class LazyBinaryRowSerDe(RowSerDe):
    """``LazyBinarySerDe``."""

    classes = frozenset(
        {
            "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe",
            "org.apache.hadoop.hive.serde2.lazybinary.LazyBinarySerDe2",
        }
    )
    unions = True

    def decoder(self, layout: RowLayout) -> RowDecoder:
        for field in layout.declared:
            check_binary_type(field.type, layout.where)
        return _Decoder(layout)


def cell_bounds(records: pa.Array) -> tuple[Bytes, Positions, Positions]:
    """The bytes of ``binary`` values, and where each begins and ends in them."""
    _, offsets_buffer, data_buffer = records.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int32, count=len(records) + 1, offset=records.offset * 4)
    data = np.frombuffer(data_buffer or b"", dtype=np.uint8)
    wide = offsets.astype(np.int64)
    return data, wide[:-1], wide[1:]


@dataclass(frozen=True, slots=True)
class _Decoder:
    layout: RowLayout

    def __call__(self, records: pa.Array) -> Sequence[pa.Array]:
        layout = self.layout
        plans = [zoned(field.type, layout.binary_zone, layout.where) for field in layout.declared]
        data, starts, ends = cell_bounds(records)
        try:
            arrays = decode_fields([decoded for decoded, _ in plans], layout.wanted, data, starts, ends)
        except ValueError as error:
            raise CorruptFileError(
                f"{self.layout.where} holds a row that LazyBinarySerDe did not write for these columns: {error}"
            ) from error
        converts = [plans[position][1] for position in layout.wanted]
        return [convert(array) if convert else array for array, convert in zip(arrays, converts, strict=True)]
