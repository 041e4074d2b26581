"""Values that travel from the driver to a task: frozen dataclasses, equal after a pickle and after JSON (I2)."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import TypeVar

import pyarrow as pa

from connector_spi.errors import ConnectorError, InternalError

__all__ = ["Serializable", "from_json", "to_json"]

SerializableT = TypeVar("SerializableT", bound="Serializable")

_SUBCLASSES: list[type[Serializable]] = []
_BY_NAME: dict[str, type[Serializable]] = {}


class Serializable:
    """Base of the frozen, slotted dataclasses that travel.

    Fields hold only: None, bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, enums and
    Serializable classes, Arrow data types and schemas, and tuples, frozensets and dicts of these.
    Every subclass is known by ``module:qualified name``, so that JSON can name only classes that are already
    imported: reading JSON never imports code.
    """

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        # A slotted dataclass is made twice, and the second gets its qualified name only after this call: so classes
        # are named when they are looked for, and the later of one name is the right one.
        _SUBCLASSES.append(cls)
        _BY_NAME.clear()


def to_json(value: object) -> str:
    """Writes a value made of Serializable as JSON text.

    Raises:
        InternalError: The value, or something in it, is not plain.
    """
    return json.dumps(_encode(value), separators=(",", ":"), allow_nan=True)


def from_json(text: str, expected: type[SerializableT]) -> SerializableT:
    """Reads what ``to_json`` wrote.

    Args:
        text: The JSON text.
        expected: The class of the value, for the check and for typing.

    Raises:
        InternalError: The text is not of ``to_json``, names a class that is not imported here, or holds another class
            than expected.
    """
    try:
        value = _decode(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        # Values that a class refuses keep its own error: that is a ConnectorError already.
        if isinstance(error, ConnectorError):
            raise
        raise InternalError(f"cannot read the JSON of a {expected.__qualname__}: {error}") from error
    if not isinstance(value, expected):
        raise InternalError(f"expected JSON of a {expected.__qualname__}, met {type(value).__qualname__}")
    return value


def _name_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _tagged(tag: str, content: object) -> dict[str, object]:
    return {"@": tag, "v": content}


def _encode(value: object) -> object:
    if isinstance(value, Enum):
        return _tagged("enum", [_name_of(type(value)), value.name])
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    for kind, (tag, write, _) in _CODECS.items():
        if isinstance(value, kind):
            return _tagged(tag, write(value))
    if isinstance(value, (tuple, frozenset)):
        items = [_encode(item) for item in value]
        if isinstance(value, frozenset):
            return _tagged("set", sorted(items, key=lambda item: json.dumps(item)))
        return items
    if isinstance(value, dict):
        return _tagged("map", [[_encode(key), _encode(item)] for key, item in value.items()])
    if isinstance(value, Serializable) and dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        content = {name: _encode(getattr(value, name)) for name in fields}
        return {"@": "data", "class": _name_of(type(value)), "v": content}
    raise InternalError(f"a {type(value).__qualname__} is not serializable and cannot travel: {value!r:.80}")


def _decode(value: object) -> object:
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        return value
    tag, content = value["@"], value["v"]
    if tag == "data":
        cls = _class_of(value["class"])
        return cls(**{name: _decode(item) for name, item in content.items()})
    if tag == "set":
        return frozenset(_decode(item) for item in content)
    if tag == "map":
        return {_decode(key): _decode(item) for key, item in content}
    if tag == "enum":
        return _decode_enum(content[0], content[1])
    return _READERS[tag](content)


def _class_of(name: str) -> type[Serializable]:
    cls = _BY_NAME.get(name)
    if cls is None:
        # Also where another thread has just forgotten the names, since it imports a class.
        names = {_name_of(known): known for known in list(_SUBCLASSES)}
        _BY_NAME.update(names)
        cls = names.get(name)
    if cls is None:
        raise InternalError(f"the JSON names {name}, which is not imported here")
    return cls


def _decode_enum(name: str, member: str) -> object:
    # An enum of texts or numbers is not a direct subclass: StrEnum and IntEnum stand between.
    waiting: list[type[Enum]] = [Enum]
    while waiting:
        cls = waiting.pop()
        if _name_of(cls) == name:
            return cls[member]
        waiting += cls.__subclasses__()
    raise InternalError(f"the JSON names the enum {name}, which is not imported here")


def _schema_text(schema: pa.Schema) -> str:
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))


# datetime comes before date: a datetime is a date too.
_CODECS: dict[type, tuple[str, Callable[..., object], Callable[..., object]]] = {
    bytes: ("bytes", lambda v: base64.b64encode(v).decode(), base64.b64decode),
    Decimal: ("decimal", str, Decimal),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("timedelta", lambda v: [v.days, v.seconds, v.microseconds], lambda v: timedelta(*v)),
    pa.Schema: ("schema", _schema_text, _schema),
    pa.DataType: ("type", lambda v: _schema_text(pa.schema([("t", v)])), lambda v: _schema(v).field(0).type),
}
_READERS = {tag: read for tag, _, read in _CODECS.values()}
