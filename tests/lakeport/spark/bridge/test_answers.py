"""Proxies behind what Java knows of them: the same answers, asked for less often."""

from __future__ import annotations

from typing import ClassVar, cast

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from connector_spi.errors import FileMissingError
from lakeport.spark.bridge.answers import ITSELF, KnownAnswers, array, java_object, plain
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.errors import no_such_namespace, original
from lakeport.spark.bridge.jvm import WRITE, Jvm
from lakeport.spark.bridge.proxies import Proxy, for_java
from lakeport.spark.catalog.catalog import CatalogProxy
from lakeport.spark.catalog.table import TableProxy
from tests.lakeport.spark.conftest import Lake

_OTHER_OBJECTS = ("toBatch", "createReaderFactory", "planInputPartitions", "estimateStatistics")
"""What these give has no text of its own."""

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def jvm(spark: SparkSession) -> Jvm:
    return Jvm(spark)


class _Counting(Proxy):
    """Gives a number of its own each time it is asked."""

    class Java:
        implements: ClassVar[list[str]] = ["java.util.Iterator", "java.util.concurrent.Callable"]

    def __init__(self, jvm: Jvm, known: KnownAnswers, error: Exception | None = None) -> None:
        super().__init__(jvm)
        self._answers = known
        self._error = error
        self._count = 0

    def hasNext(self) -> bool:  # noqa: N802
        self._count += 1
        return self._count < 3

    def next(self) -> int:
        self._count += 1
        return self._count

    def call(self) -> object:
        if self._error is not None:
            raise self._error
        return self._count

    def _known(self) -> KnownAnswers:
        return self._answers


def java(jvm: Jvm, proxy: Proxy) -> JavaObject:
    found = for_java(jvm, proxy)
    assert isinstance(found, JavaObject)
    return found


def asked(jvm: Jvm, target: JavaObject, name: str) -> object:
    """Calls a method without parameters as Spark does, by its interface."""
    for interface in jvm.items(target.getClass().getInterfaces()):
        for method in jvm.items(interface.getMethods()):
            if method.getName() == name and method.getParameterCount() == 0:
                return method.invoke(target, jvm.array("java.lang.Object", []))
    raise AssertionError(name)


def test_what_is_known_is_not_asked(jvm: Jvm) -> None:
    proxy = _Counting(jvm, KnownAnswers({"next": plain("seven"), "call": ITSELF}))
    shown = java(jvm, proxy)
    assert asked(jvm, shown, "next") == "seven"
    assert cast(JavaObject, asked(jvm, shown, "call")).toString() == proxy.toString()
    assert proxy._count == 0


def test_answers_are_kept_until_something_changes(jvm: Jvm) -> None:
    proxy = _Counting(jvm, KnownAnswers({"call": plain(-1)}, frozenset({"hasNext"}), frozenset({"next"})))
    shown = java(jvm, proxy)
    assert [asked(jvm, shown, "hasNext") for _ in range(3)] == [True, True, True]
    assert proxy._count == 1
    assert asked(jvm, shown, "call") == -1
    assert asked(jvm, shown, "next") == 2
    assert [asked(jvm, shown, "hasNext") for _ in range(2)] == [False, False]
    assert proxy._count == 3
    assert asked(jvm, shown, "call") == 3


def test_errors_arrive(jvm: Jvm) -> None:
    failing = _Counting(jvm, KnownAnswers(kept=frozenset({"call"})), FileMissingError("no file x"))
    for _ in range(2):
        with pytest.raises(Exception, match="no file x") as caught:
            java(jvm, failing).call()
        assert isinstance(original(caught.value), FileMissingError)
    declared = _Counting(jvm, KnownAnswers(), no_such_namespace(jvm, ["nowhere"]))
    with pytest.raises(Exception, match="SCHEMA_NOT_FOUND"):
        java(jvm, declared).call()


def test_defaults_run_in_java(jvm: Jvm) -> None:
    """Python has no such method; Java's own throws."""
    with pytest.raises(Exception, match="remove"):
        java(jvm, _Counting(jvm, KnownAnswers())).remove()


def test_equal_proxies_stay_equal(jvm: Jvm) -> None:
    class Named(_Counting):
        def _identity(self) -> object:
            return str(self._answers.answers["next"])

        def _known(self) -> KnownAnswers:
            return KnownAnswers({**self._answers.answers, **self._named()})

    one, same, other = (java(jvm, Named(jvm, KnownAnswers({"next": plain(n)}))) for n in (1, 1, 2))
    objects = jvm.cls("java.util.Objects")
    assert objects.equals(one, same)
    assert one.hashCode() == same.hashCode()
    assert not objects.equals(one, other)
    assert not objects.equals(one, None)


def test_objects_of_which_all_is_known(jvm: Jvm) -> None:
    inner = java_object("java.util.concurrent.Callable", {"call": plain("inside")})
    shown = java(jvm, _Counting(jvm, KnownAnswers({"next": array("java.util.concurrent.Callable", [inner])})))
    [found] = jvm.items(cast(JavaObject, asked(jvm, shown, "next")))
    assert found.call() == "inside"


@pytest.mark.parametrize("way", ["classes", "switch"])
def test_without_the_class_python_answers(jvm: Jvm, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(jvm, "shared", {})
    if way == "switch":
        monkeypatch.setenv("LAKEPORT_JAVA_ADAPTERS", "false")
    else:
        monkeypatch.setattr(java_classes, "source", lambda name: "public class Other extends Missing {}")
    proxy = _Counting(jvm, KnownAnswers({"next": plain("seven")}))
    assert for_java(jvm, proxy) is proxy


class _Update(Proxy):
    """A ``RowLevelOperationInfo``."""

    class Java:
        implements: ClassVar[list[str]] = [WRITE + "RowLevelOperationInfo"]

    def command(self) -> JavaObject:
        return self._jvm.cls(WRITE + "RowLevelOperation.Command").UPDATE


@pytest.fixture(params=["everything", "small"])
def proxies(lake: Lake, request: pytest.FixtureRequest) -> list[Proxy]:
    """The objects of one query, as Python has them."""
    jvm = Jvm(lake.spark)
    catalog = CatalogProxy(jvm, lake.registry, "mem")
    ident = jvm.cls("org.apache.spark.sql.connector.catalog.Identifier").of(jvm.strings(["sales"]), request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEPORT_JAVA_ADAPTERS", "false")
        loaded = catalog.loadTable(ident)
        assert isinstance(loaded, TableProxy)
        builder = loaded.newScanBuilder(jvm.cls("org.apache.spark.sql.util.CaseInsensitiveStringMap").empty())
        scan = builder.build()
        write = loaded.newWriteBuilder(_write_info(jvm))
        changes = loaded.newRowLevelOperationBuilder(_Update(jvm))
    delta = changes.newWriteBuilder(jvm.none)
    return [catalog, loaded, builder, scan, scan.estimateStatistics(), write, changes, delta]


def _write_info(jvm: Jvm) -> JavaObject:
    struct = jvm.data_type('{"type": "struct", "fields": []}')
    options = jvm.cls("org.apache.spark.sql.util.CaseInsensitiveStringMap").empty()
    empty = jvm.cls("java.util.Optional").empty()
    return jvm.cls(WRITE + "LogicalWriteInfoImpl")("a query", struct, options, empty, empty)


def test_java_answers_as_python_does(lake: Lake, proxies: list[Proxy]) -> None:
    jvm = Jvm(lake.spark)
    for proxy in proxies:
        plainly = jvm.cls("java.util.Objects").requireNonNull(proxy)
        known = proxy._known()
        assert known is not None
        shown = java(jvm, proxy)
        for name in sorted({*known.answers, *known.kept}):
            if not hasattr(type(proxy), name) or name in _OTHER_OBJECTS:
                continue
            expected = _text(jvm, plainly, name)
            assert _text(jvm, shown, name) == expected, (type(proxy), name)
            assert _text(jvm, shown, name) == expected, (type(proxy), name)


def _text(jvm: Jvm, target: JavaObject, name: str) -> object:
    found = target.toString() if name == "toString" else target.hashCode() if name == "hashCode" else None
    if found is not None:
        return found
    value = asked(jvm, target, name)
    if name == "outputPartitioning":
        assert isinstance(value, JavaObject)
        return str(value.getClass().getName()), value.numPartitions()
    if not isinstance(value, JavaObject) or not value.getClass().isArray():
        return str(value.toString()) if isinstance(value, JavaObject) else value
    if name == "metadataColumns":
        items = jvm.items(value)
        return [(str(one.name()), str(one.dataType().json()), one.isNullable(), one.metadataInJSON()) for one in items]
    return [str(item) for item in jvm.items(value)]
