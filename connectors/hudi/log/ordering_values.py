"""Ordering values as delete blocks hold them: a union of wrapper records (HoodieDeleteRecordList.avsc). Pure.

A wrapper record is its value alone on the wire, so a union is the number of its branch and the value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from connectors.toolkit.avro.schema import Json

__all__ = ["ARRAY", "AvroCursor", "Branch", "OrderingValue", "read_branch"]

OrderingValue = bool | int | float | bytes | str | Decimal | None

ARRAY = 12
"""Branch of the values of several ordering fields; inside of such an array, of a local date."""

_DECIMAL_SCALE = 15


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of the union.

    Attributes:
        avro: The type of its value.
        arrow: The same in Arrow.
    """

    avro: Json
    arrow: pa.DataType


_BRANCHES: tuple[Branch, ...] = (
    Branch("null", pa.null()),
    Branch("boolean", pa.bool_()),
    Branch("int", pa.int32()),
    Branch("long", pa.int64()),
    Branch("float", pa.float32()),
    Branch("double", pa.float64()),
    Branch("bytes", pa.binary()),
    Branch("string", pa.string()),
    Branch({"type": "int", "logicalType": "date"}, pa.date32()),
    Branch(
        {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": _DECIMAL_SCALE},
        pa.decimal128(30, _DECIMAL_SCALE),
    ),
    Branch({"type": "long", "logicalType": "time-micros"}, pa.time64("us")),
    Branch({"type": "long", "logicalType": "timestamp-micros"}, pa.timestamp("us", "UTC")),
    Branch({"type": "int", "logicalType": "date"}, pa.date32()),
)


def read_branch(number: int) -> Branch:
    """The branch of a number.

    Raises:
        ValueError: There is none.
    """
    if not 0 <= number < len(_BRANCHES):
        raise ValueError(f"an ordering value of branch {number}")
    return _BRANCHES[number]


class AvroCursor:
    """Reads single values of Avro's binary encoding, one behind the other.

    Args:
        data: The bytes.
        at: Where to begin.
    """

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def long(self) -> int:
        """A number of variable length.

        Raises:
            ValueError: The data ends in it.
        """
        number = 0
        for shift in range(0, 70, 7):
            (byte,) = self._take(1)
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
        raise ValueError("a number of more than 10 bytes")

    def byte_string(self) -> bytes:
        """Bytes behind their number.

        Raises:
            ValueError: The data ends in them.
        """
        return self._take(self.long())

    def value(self, branch: int) -> OrderingValue:
        """The value of a branch; dates and times as the number that lies on the wire.

        Raises:
            ValueError: There is no such branch, or the data is no such value.
        """
        kind = read_branch(branch).avro
        name = kind["type"] if isinstance(kind, dict) else kind
        if name == "null":
            return None
        if name == "boolean":
            return self._take(1) != b"\0"
        if name in ("int", "long"):
            return self.long()
        if name == "float":
            return float(struct.unpack("<f", self._take(4))[0])
        if name == "double":
            return float(struct.unpack("<d", self._take(8))[0])
        taken = self.byte_string()
        if isinstance(kind, dict):
            return Decimal(int.from_bytes(taken, "big", signed=True)).scaleb(-_DECIMAL_SCALE)
        return taken.decode("utf-8") if name == "string" else taken

    def _take(self, length: int) -> bytes:
        taken = self.data[self.at : self.at + length]
        if length < 0 or len(taken) < length:
            raise ValueError(f"{length} bytes at byte {self.at} of {len(self.data)}")
        self.at += length
        return taken
