"""Errors of proxies as Java sees them: never py4j's own exception, whose only cause is a text."""

from __future__ import annotations

import importlib
import logging
import pkgutil
import re
from collections.abc import Iterator
from typing import ClassVar

import pytest
from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import lakeport.spark
from connector_spi.errors import ConnectorError, FileMissingError, InternalError
from lakeport.spark.bridge.errors import original
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.proxies import Proxy

MISSING = "the file of this test is missing"
_METHOD = re.compile(r".*\.(?P<name>\w+)\((?P<types>[^)]*)\)")
_NOTHING: dict[str, object] = {"boolean": False, "int": 0, "long": 0}


def _proxy_classes() -> list[type[Proxy]]:
    for module in pkgutil.walk_packages(lakeport.spark.__path__, "lakeport.spark."):
        importlib.import_module(module.name)
    return sorted(_below(Proxy), key=lambda cls: cls.__name__)


def _below(cls: type[Proxy]) -> Iterator[type[Proxy]]:
    for below in cls.__subclasses__():
        if below.__module__.startswith("lakeport."):
            # What implements no interface itself is a part of classes that do, which have its methods.
            if below.Java is not Proxy.Java:
                yield below
            yield from _below(below)


def _methods(cls: type[Proxy]) -> list[str]:
    return [name for name in dir(cls) if not name.startswith("_") and name != "Java"]


@pytest.fixture(scope="module")
def jvm(spark: SparkSession) -> Jvm:
    return Jvm(spark)


@pytest.mark.slow
@pytest.mark.parametrize("cls", _proxy_classes(), ids=lambda cls: cls.__name__)
def test_an_error_of_any_method_arrives(jvm: Jvm, cls: type[Proxy]) -> None:
    def fail(self: Proxy, *args: object) -> object:
        raise FileMissingError(MISSING)

    own = _methods(cls)
    failing = type(cls.__name__, (cls,), dict.fromkeys(own, fail))
    proxy: Proxy = object.__new__(failing)
    Proxy.__init__(proxy, jvm)
    java = jvm.cls("java.util.Objects").requireNonNull(proxy)
    called = set()
    for method, name, arguments in _java_methods(jvm, cls):
        thrown = _thrown(jvm, method, java, arguments)
        if name in own:
            assert "FILE_MISSING" in str(thrown), (name, thrown)
            called.add(name)
        # Else the default of the interface, which calls the failing methods or does something of its own.
        assert "py4j" not in str(thrown), (name, thrown)
        assert "Undeclared" not in str(thrown), (name, thrown)
    # What Java does not have in these interfaces, it never calls.
    assert called


class _Answers(Proxy):
    """Does in ``call()`` what a test wants."""

    class Java:
        implements: ClassVar[list[str]] = ["java.util.concurrent.Callable"]

    def __init__(self, jvm: Jvm, answer: object) -> None:
        super().__init__(jvm)
        self._answer = answer

    def call(self) -> object:
        """The answer, or what it returns or raises."""
        return self._answer() if callable(self._answer) else self._answer


class _Supplies(Proxy):
    """Its method declares no exception, as most of Spark's do not."""

    class Java:
        implements: ClassVar[list[str]] = ["java.util.function.Supplier"]

    def get(self) -> object:
        """Java's ``ClassNotFoundException``."""
        return self._jvm.cls("java.lang.Class").forName("no.such.Class")


def _call(jvm: Jvm, answer: object) -> object:
    """What Java gets from a proxy."""
    return jvm.cls("java.util.Objects").requireNonNull(_Answers(jvm, answer)).call()


def _raised(jvm: Jvm, answer: object) -> ConnectorError:
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        _call(jvm, answer)
    found = original(caught.value)
    assert found is not None, caught.value
    return found


def test_what_java_does_not_have_is_named(jvm: Jvm) -> None:
    found = _raised(jvm, [1, 2])
    assert isinstance(found, InternalError)
    assert "_Answers.call returns a list" in str(found)


def test_a_name_that_is_no_text_arrives(jvm: Jvm, caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise FileMissingError("no file /tables/\udcff.orc")

    # py4j logs what it hands on, and a worker of pytest cannot send that text to the others.
    caplog.set_level(logging.CRITICAL, logger="py4j.clientserver")
    assert isinstance(_raised(jvm, fail), FileMissingError)


def test_an_exception_of_java_stays_what_it_is(jvm: Jvm) -> None:
    def fail() -> None:
        jvm.cls("java.lang.Integer").parseInt("seven")

    with pytest.raises(PySparkException, match="seven") as caught:
        _call(jvm, fail)
    assert type(caught.value).__name__ == "NumberFormatException"


def test_a_checked_exception_keeps_its_message(jvm: Jvm) -> None:
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        jvm.cls("java.util.Objects").requireNonNull(_Supplies(jvm)).get()
    found = original(caught.value)
    assert isinstance(found, InternalError)
    assert "no.such.Class" in str(found)


def test_java_objects_live_until_java_has_them(jvm: Jvm, monkeypatch: pytest.MonkeyPatch) -> None:
    """py4j's own thread may drop an object of Java's at once when Python has no more use for it."""
    client = jvm.gateway._gateway_client
    at_once = client.garbage_collect_object
    monkeypatch.setattr(client, "garbage_collect_object", lambda target, enqueue=True: at_once(target, False))
    made = jvm.cls("java.util.ArrayList")
    assert isinstance(_call(jvm, made), JavaObject)

    def fail() -> None:
        raise FileMissingError(MISSING)

    assert isinstance(_raised(jvm, fail), FileMissingError)


def _java_methods(jvm: Jvm, cls: type[Proxy]) -> Iterator[tuple[JavaObject, str, list[object]]]:
    """The methods of a proxy's interfaces: each with its name, and arguments that say nothing."""
    for interface in cls.Java.implements:
        for method in jvm.items(jvm.cls("java.lang.Class").forName(interface).getMethods()):
            # Such as "public default boolean a.b.Table.isThis(java.lang.String,int)", in one round trip.
            match = _METHOD.match(str(method.toString()))
            assert match is not None
            if " static " not in match.group():
                types = [name for name in match.group("types").split(",") if name]
                yield method, match.group("name"), [_NOTHING.get(name) for name in types]


def _thrown(jvm: Jvm, method: JavaObject, target: JavaObject, arguments: list[object]) -> str | None:
    """The exception of a Java method."""
    try:
        method.invoke(target, jvm.array("java.lang.Object", arguments))
    except Py4JJavaError as error:
        return str(error.java_exception.getTargetException().toString())
    return None
