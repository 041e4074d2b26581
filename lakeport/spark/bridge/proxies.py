"""Python objects that implement Java interfaces."""

from __future__ import annotations

import functools
import hashlib
import itertools
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.errors import InternalError
from connector_spi.serializable import to_json
from lakeport.spark.bridge.answers import Answer, KnownAnswers, hand_over, in_words, plain
from lakeport.spark.bridge.errors import as_java, declared
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["CALLED_IN_WORDS", "Proxy", "digest", "for_java"]

CALLED_IN_WORDS = "java.util.function.BiFunction"
"""The interface of proxies that Java calls in words: a method's name and a text, see ``PlanningCalls.java``."""

_numbers = itertools.count(1)
_answers = threading.local()


class Proxy:
    """Base class of Python objects that Java calls.

    A subclass names its interfaces in an inner class ``Java`` with the attribute ``implements``, as py4j requires. Its
    public methods are Java methods: an error in one reaches Spark as a Java exception with Lakeport's message. A method
    that the subclass does not define falls back to the interface's default, so that a new default method of a newer
    Spark breaks nothing. Every call of Java goes through ``_guarded``: what is raised past it, py4j turns into a
    ``Py4JException`` whose only cause is a text.

    Args:
        jvm: The JVM.
    """

    class Java:
        implements: ClassVar[list[str]] = []

    _own: ClassVar[tuple[str, ...]] = ()
    """The methods that Python has; of others the default of the interface runs."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        self._number = next(_numbers)

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _guard_methods(cls)
        cls._own = tuple(name for name in dir(cls) if not name.startswith("_") and name != "Java")

    def equals(self, other: JavaObject | None) -> bool:
        """Java's equality, based on ``_identity``.

        A proxy that comes back from Java is a Java object, so the two are compared by their texts, and by their hash
        codes, since a subclass may have a text of its own that others share.
        """
        return other is not None and str(other.toString()) == self.toString() and other.hashCode() == self.hashCode()

    def hashCode(self) -> int:
        """The hash code, a Java int, consistent with ``equals``."""
        return int(self._fingerprint()[-8:], 16) & 0x7FFFFFFF

    def toString(self) -> str:
        """A text that is different for proxies that are not equal."""
        return f"{type(self).__name__}@{self._fingerprint()}"

    def apply(self, name: str, words: str) -> object:
        """A call in words: the name of a method, and what it is about, in JSON."""
        answer = self._called_in_words(name, words)
        if not isinstance(answer, Proxy):
            return answer
        known = answer._known()
        return answer if known is None else in_words(self._jvm, answer, known, answer._own)

    def _called_in_words(self, name: str, words: str) -> object:
        """The answer of a method in words: a proxy, a text that Java reads, or what the method gives."""
        raise InternalError(f"{type(self).__name__}.{name} is called in words, which this version does not have")

    def _known(self) -> KnownAnswers | None:
        """What Java may answer without asking; ``None`` for a proxy that is asked everything."""
        return None

    def _named(self) -> dict[str, Answer]:
        """The answers that make Java's equality that of ``equals``."""
        return {"toString": plain(self.toString()), "hashCode": plain(self.hashCode())}

    def _identity(self) -> object:
        """Plain data that is equal for equal proxies of one class; ``None`` makes a proxy equal only to itself."""
        return None

    def _fingerprint(self) -> str:
        identity = self._identity()
        if identity is None:
            return f"{self._number:016x}"
        return digest(identity)

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name.startswith("_"):
            raise AttributeError(name)

        def default(proxy: Proxy, *args: object) -> object:
            return proxy._invoke_default(name, args)

        return functools.partial(_guarded(default), self)

    def _invoke_default(self, name: str, args: tuple[object, ...]) -> object:
        try:
            return self._jvm.invoke_default(self, type(self).Java.implements, name, args)
        except AttributeError:
            raise InternalError(f"Spark calls {type(self).__name__}.{name}, which this version does not have") from None
        except Exception as error:
            # A default method throws only what its interface declares.
            raise declared(error) or error from error


def for_java(jvm: Jvm, proxy: Proxy) -> object:
    """What Java gets for a proxy: where answers are known, a Java object that has them."""
    known = proxy._known()
    return proxy if known is None else hand_over(jvm, proxy, known, proxy._own)


def digest(identity: object) -> str:
    """A text that two proxies share only where their identities are equal, as equal texts have to mean equal rows."""
    return hashlib.sha256(to_json(identity).encode()).hexdigest()


def _guard_methods(cls: type[Proxy]) -> None:
    for name, value in list(vars(cls).items()):
        if not name.startswith("_") and callable(value) and name != "Java":
            setattr(cls, name, _guarded(value))


def _guarded(method: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(method)
    def guarded(self: Proxy, *args: object) -> object:
        try:
            found = method(self, *args)
            if isinstance(found, Proxy):
                found = for_java(self._jvm, found)
            if not _is_java_value(found):
                returned = f"{type(self).__name__}.{method.__name__} returns a {type(found).__name__}"
                raise InternalError(f"{returned}, which Java does not have")
        except Exception as error:
            thrown = as_java(self._jvm, error)
            _answers.last = thrown.java_exception
            raise thrown from error
        # Only the number of a Java object goes back. py4j may tell Java to drop the object before it is read.
        _answers.last = found if isinstance(found, JavaObject) else None
        return found

    return guarded


def _is_java_value(value: object) -> bool:
    plain = (bool, int, float, str, bytes, bytearray, Decimal, JavaObject, Proxy)
    return value is None or isinstance(value, plain)


_guard_methods(Proxy)
