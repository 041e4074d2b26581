"""Deletes as Hudi before 0.13 serialized them: Java objects in Kryo's format (SerializationUtils). Pure.

Version 1 holds an array of HoodieKey, version 2 one of DeleteRecord. An object stands behind its class: 0 for null,
1 for a class by name, which is spelled out once and numbered from then on, else the number of a registered class.
Then comes a reference: 0 for null, 1 for a new object, else the number of an earlier one; numbers and booleans have
none. The fields of an object stand in the order of their names.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from connectors.hudi.log.ordering_values import OrderingValue

__all__ = ["KryoDelete", "read_kryo_deletes"]

KryoDelete = tuple[str | None, str | None, int, OrderingValue]
"""Record key, partition path, and branch and value of the ordering value (``ordering_values``)."""

_MODEL = "org.apache.hudi.common.model."
_KEY = f"{_MODEL}HoodieKey"
_DELETE = f"{_MODEL}DeleteRecord"
_BY_NAME = 1
_DELETE_FIELDS = 4
_NEW = 1
# Kryo's registered classes, by what is written: the number and two.
_INTEGER, _STRING, _FLOAT, _BOOLEAN, _LONG, _DOUBLE = 2, 3, 4, 5, 9, 10

_Object = TypeVar("_Object")


def read_kryo_deletes(data: bytes, version: int) -> list[KryoDelete]:
    """Reads the data of a delete block.

    Args:
        data: The serialized array.
        version: 1 or 2.

    Raises:
        ValueError: The data is damaged.
        NotImplementedError: An ordering value is of a class that is not understood.
    """
    kryo = _Kryo(data)
    name = _KEY if version == 1 else _DELETE
    kryo.expect_class(f"[L{name};")
    deletes = kryo.object(list, lambda: [_read_delete(kryo, name) for _ in range(kryo.size())])
    if deletes is None or not kryo.at_end:
        raise ValueError("the array of deletes does not end where the data does")
    return deletes


def _read_delete(kryo: _Kryo, name: str) -> KryoDelete:
    kryo.expect_class(name)
    if name == _KEY:
        return (*_key_fields(kryo), 0, None)
    found: KryoDelete | None = kryo.object(tuple, lambda: _read_record(kryo))
    if found is None or len(found) != _DELETE_FIELDS:
        raise ValueError("a delete is null")
    return found


def _read_record(kryo: _Kryo) -> KryoDelete:
    kryo.expect_class(_KEY)
    return (*_key_fields(kryo), *kryo.ordering_value())


def _key_fields(kryo: _Kryo) -> tuple[str | None, str | None]:
    key = kryo.object(_Key, lambda: _Key(kryo))
    if key is None:
        raise ValueError("the key of a delete is null")
    return key.record_key, key.partition_path


class _Key:
    def __init__(self, kryo: _Kryo) -> None:
        self.partition_path = kryo.object(str, kryo.string)
        self.record_key = kryo.object(str, kryo.string)


class _Kryo:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._names: list[str] = []
        self._objects: list[object] = []

    @property
    def at_end(self) -> bool:
        return self._at == len(self._data)

    def expect_class(self, name: str) -> None:
        """Reads the class of an object."""
        written = self._varint()
        met = self._name() if written == _BY_NAME else f"class {written}"
        if met != name:
            raise ValueError(f"an object of {met!r}, expected {name!r}")

    def object(self, kind: type[_Object], read: Callable[[], _Object | None]) -> _Object | None:
        """An object of a known class: null, new, or met before."""
        reference = self._varint()
        if reference == 0:
            return None
        if reference != _NEW:
            if reference - 2 >= len(self._objects):
                raise ValueError(f"a reference to object {reference - 2} of {len(self._objects)}")
            earlier = self._objects[reference - 2]
            if not isinstance(earlier, kind):
                raise ValueError(f"a reference to object {reference - 2}, which is no {kind.__name__}")
            return earlier
        number = len(self._objects)
        self._objects.append(None)
        made = read()
        self._objects[number] = made
        return made

    def size(self) -> int:
        """The number of elements of an array."""
        size = self._varint() - 1
        if not 0 <= size <= len(self._data):
            raise ValueError(f"an array of {size} elements")
        return size

    def ordering_value(self) -> tuple[int, OrderingValue]:
        """Branch and value."""
        written = self._varint()
        if written == 0:
            return 0, None
        if written == _BOOLEAN:
            return 1, self._take(1) != b"\0"
        if written == _INTEGER:
            return 2, self._zigzag()
        if written == _LONG:
            return 3, self._zigzag()
        if written == _FLOAT:
            return 4, float(struct.unpack(">f", self._take(4))[0])
        if written == _DOUBLE:
            return 5, float(struct.unpack(">d", self._take(8))[0])
        if written == _STRING:
            return 7, self.object(str, self.string)
        name = self._name() if written == _BY_NAME else f"class {written}"
        if name == "java.math.BigDecimal":
            return 9, self.object(Decimal, self._decimal)
        raise NotImplementedError(name)

    def string(self) -> str | None:
        """A text; its length, where it has one, counts UTF-16 units."""
        first = self._take(1)[0]
        if first < 0x80:
            return self._ascii()
        length, shift = first & 0x3F, 6
        more = first & 0x40
        while more:
            (byte,) = self._take(1)
            length |= (byte & 0x7F) << shift
            shift, more = shift + 7, byte & 0x80
        if length == 0:
            return None
        units = [self._unit() for _ in range(min(length - 1, len(self._data)))]
        return struct.pack(f">{len(units)}H", *units).decode("utf-16-be")

    def _ascii(self) -> str:
        # The last letter has the highest bit.
        start = self._at - 1
        while self._take(1)[0] < 0x80:
            pass
        letters = bytearray(self._data[start : self._at])
        letters[-1] &= 0x7F
        return letters.decode("ascii")

    def _unit(self) -> int:
        (first,) = self._take(1)
        if first < 0x80:
            return first
        if first >> 5 == 0b110:
            return (first & 0x1F) << 6 | self._take(1)[0] & 0x3F
        if first >> 4 == 0b1110:
            second, third = self._take(2)
            return (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
        raise ValueError(f"a letter that begins with byte {first}")

    def _name(self) -> str:
        number = self._varint()
        if number == len(self._names):
            self._names.append(self.string() or "")
        if number >= len(self._names):
            raise ValueError(f"class name {number} of {len(self._names)}")
        return self._names[number]

    def _decimal(self) -> Decimal:
        unscaled = int.from_bytes(self._take(self._varint() - 1), "big", signed=True)
        return Decimal(unscaled).scaleb(-self._zigzag())

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        number = 0
        for shift in range(0, 63, 7):
            (byte,) = self._take(1)
            # The ninth byte of a long has eight bits of it.
            if byte < 0x80 or shift == 56:
                return number | byte << shift
            number |= (byte & 0x7F) << shift
        raise ValueError("a number of more than 9 bytes")

    def _take(self, length: int) -> bytes:
        taken = self._data[self._at : self._at + length]
        if length < 0 or len(taken) < length:
            raise ValueError(f"{length} bytes at byte {self._at} of {len(self._data)}")
        self._at += length
        return taken
