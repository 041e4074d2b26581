"""What Java sees of Python objects: equality that fits their hash codes."""

from __future__ import annotations

from typing import cast

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

_NO_JVM = cast(Jvm, None)


class _Named(Proxy):
    """Has a text of its own, as streams have."""

    def toString(self) -> str:  # noqa: N802
        return "of one name"


class _Valued(Proxy):
    def __init__(self, value: int) -> None:
        super().__init__(_NO_JVM)
        self._value = value

    def _identity(self) -> object:
        return self._value


def test_proxies_of_one_name_differ() -> None:
    """Spark takes equal streams for one: of two streams of a table it then read one."""
    one, other = _Named(_NO_JVM), _Named(_NO_JVM)
    assert one.equals(one)
    assert not one.equals(other)
    assert one.hashCode() == one.hashCode() != other.hashCode()
    assert not one.equals(None)


def test_proxies_of_equal_values_are_equal() -> None:
    assert _Valued(1).equals(_Valued(1))
    assert _Valued(1).hashCode() == _Valued(1).hashCode()
    assert not _Valued(1).equals(_Valued(2))
    assert -(1 << 31) <= _Valued(1).hashCode() < 1 << 31
