"""Python objects that Java sees as implementations of its interfaces."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.errors import InternalError
from connector_spi.plain_data import to_json
from lakeport.spark.bridge.errors import as_java
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["Proxy", "digest"]


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

    def equals(self, other: JavaObject | None) -> bool:
        """Java's equality: of what ``_identity`` says.

        py4j hands a proxy that comes back from Java over as a Java object, so the two are compared by their texts.
        """
        return other is not None and str(other.toString()) == self.toString()

    def hashCode(self) -> int:
        """Agrees with ``equals``; a Java int."""
        return int(self._fingerprint()[:8], 16) & 0x7FFFFFFF

    def toString(self) -> str:
        """Identifies the proxy; equal ones share it."""
        return f"{type(self).__name__}@{self._fingerprint()}"

    def _identity(self) -> object:
        """Plain data by which two proxies of one class are equal; ``None`` is equal only to itself."""
        return None

    def _fingerprint(self) -> str:
        identity = self._identity()
        if identity is None:
            return f"{id(self):016x}"
        return digest(identity)

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


def digest(identity: object) -> str:
    """A text that two proxies share only where their identities are equal, as equal texts have to mean equal rows."""
    return hashlib.sha256(to_json(identity).encode()).hexdigest()


def _guarded(method: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(method)
    def guarded(self: Proxy, *args: object) -> object:
        try:
            return method(self, *args)
        except Exception as error:
            raise as_java(self._jvm, error) from error

    return guarded
