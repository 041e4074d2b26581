"""Python objects that Java sees as implementations of its interfaces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ClassVar

from connector_spi.errors import InternalError
from lakeport.spark.errors import as_java
from lakeport.spark.jvm import Jvm

__all__ = ["Proxy"]


class Proxy:
    """Base of what Java calls.

    A subclass names its interfaces in an inner class ``Java`` with the attribute ``implements``, as py4j wants it.
    Its public methods are Java's methods: what they raise reaches Spark as a Java exception with our words. A method
    that the subclass lacks falls back to the interface's own default, so that a newer Spark's new default method
    breaks nothing.

    Args:
        jvm: The door to the JVM.
    """

    class Java:
        implements: ClassVar[list[str]] = []

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name, value in list(vars(cls).items()):
            if not name.startswith("_") and callable(value) and name != "Java":
                setattr(cls, name, _guarded(value))

    def equals(self, other: object) -> bool:
        """Java's equality: identity unless a subclass knows better."""
        return self is other

    def hashCode(self) -> int:
        """Agrees with ``equals``; a Java int."""
        return java_hash(id(self))

    def toString(self) -> str:
        """For plans and logs."""
        return type(self).__name__

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name.startswith("_"):
            raise AttributeError(name)

        def default(*args: object) -> object:
            try:
                return self._jvm.invoke_default(self, type(self).Java.implements, name, args)
            except AttributeError:
                # py4j would look for the method again and again; say what is missing instead.
                missing = InternalError(f"Spark calls {type(self).__name__}.{name}, which this version does not know")
                raise as_java(self._jvm, missing) from None

        return default


def java_hash(value: int) -> int:
    """Folds a Python hash into a Java int."""
    return (value ^ (value >> 32)) & 0x7FFFFFFF


def _guarded(method: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(method)
    def guarded(self: Proxy, *args: object) -> object:
        try:
            return method(self, *args)
        except Exception as error:
            raise as_java(self._jvm, error) from error

    return guarded
