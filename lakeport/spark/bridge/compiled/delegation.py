"""Java methods that hand calls on, as Spark's interfaces of the running version have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.jvm import Jvm

__all__ = ["VERSION", "delegating_methods"]

VERSION = 1
"""Rises when the same interfaces give other methods: compiled classes are kept."""


def delegating_methods(jvm: Jvm, interfaces: Sequence[str], target: str, without: Collection[str]) -> str:
    """The source of the methods of interfaces, each of which calls the same of another object.

    Default methods are included: what overrides one is asked, too.

    Args:
        jvm: The JVM.
        interfaces: Full names.
        target: The field that holds the other object.
        without: Names of methods to leave out.
    """
    texts: dict[str, str] = {}
    for interface in interfaces:
        for method in _instance_methods(jvm, interface):
            name = str(method.getName())
            if name not in without:
                types = [str(one.getCanonicalName()) for one in method.getParameterTypes()]
                texts.setdefault(f"{name}({', '.join(types)})", _method(method, name, types, target))
    return "\n".join(texts[signature] for signature in sorted(texts))


def _instance_methods(jvm: Jvm, interface: str) -> Iterator[JavaObject]:
    is_static = jvm.cls("java.lang.reflect.Modifier").isStatic
    for method in jvm.cls("java.lang.Class").forName(interface).getMethods():
        if not is_static(method.getModifiers()):
            yield method


def _method(method: JavaObject, name: str, types: Sequence[str], target: str) -> str:
    result, owner = method.getReturnType().getCanonicalName(), method.getDeclaringClass().getCanonicalName()
    thrown = ", ".join(str(one.getCanonicalName()) for one in method.getExceptionTypes())
    parameters = ", ".join(f"{java_type} a{index}" for index, java_type in enumerate(types))
    arguments = ", ".join(f"a{index}" for index in range(len(types)))
    throws = f" throws {thrown}" if thrown else ""
    answer = "" if result == "void" else "return "
    return f"  public {result} {name}({parameters}){throws} {{ {answer}(({owner}) {target}).{name}({arguments}); }}\n"
