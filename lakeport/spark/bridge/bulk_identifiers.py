"""Sends thousands of names to Java in a few round trips; one round trip per name would take seconds."""

from __future__ import annotations

import json
from collections.abc import Sequence

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.jvm import CATALOG, Jvm

__all__ = ["identifiers", "table_summaries"]

_IDENTIFIER = CATALOG + "Identifier"
_SUMMARY = CATALOG + "TableSummary"
_INVOKE = "java.lang.invoke."


def identifiers(jvm: Jvm, namespace: JavaObject, names: Sequence[str]) -> JavaObject:
    """An ``Identifier[]``.

    Args:
        jvm: The JVM.
        namespace: The tables' namespace, a ``String[]``.
        names: Names of the tables.
    """
    return _to_array(jvm, _identifier_list(jvm, namespace, names), _IDENTIFIER)


def table_summaries(jvm: Jvm, namespace: JavaObject, names: Sequence[str], kind: str) -> JavaObject:
    """A ``TableSummary[]`` of tables that all have one type, such as ``EXTERNAL``."""
    found = _identifier_list(jvm, namespace, names)
    make = _static(jvm, _SUMMARY, "of", [_IDENTIFIER, "java.lang.String"])
    handles = jvm.cls(_INVOKE + "MethodHandles")
    with_kind = handles.insertArguments(make, 1, jvm.array("java.lang.Object", [kind]))
    _replace_all(jvm, found, with_kind)
    return _to_array(jvm, found, _SUMMARY)


def _identifier_list(jvm: Jvm, namespace: JavaObject, names: Sequence[str]) -> JavaObject:
    found = _list(jvm, names)
    make = _static(jvm, _IDENTIFIER, "of", [None, "java.lang.String"])
    in_namespace = jvm.cls(_INVOKE + "MethodHandles").insertArguments(
        make, 0, jvm.array("java.lang.Object", [namespace])
    )
    _replace_all(jvm, found, in_namespace)
    return found


def _list(jvm: Jvm, names: Sequence[str]) -> JavaObject:
    """An ``ArrayList`` of texts."""
    return jvm.json_mapper.readValue(json.dumps(list(names)), _class(jvm, "java.util.ArrayList"))


def _static(jvm: Jvm, owner: str, method: str, parameters: Sequence[str | None]) -> JavaObject:
    """The method handle of a static method that returns its own class; the parameter ``None`` is a ``String[]``."""
    key = ("method handle", owner, method)
    if key not in jvm.shared:
        strings = jvm.no_strings.getClass()
        kinds = [strings if one is None else _class(jvm, one) for one in parameters]
        shape = jvm.cls(_INVOKE + "MethodType").methodType(_class(jvm, owner), jvm.array("java.lang.Class", kinds))
        lookup = jvm.cls(_INVOKE + "MethodHandles").publicLookup()
        jvm.shared[key] = lookup.findStatic(_class(jvm, owner), method, shape)
    return jvm.shared[key]


def _replace_all(jvm: Jvm, found: JavaObject, handle: JavaObject) -> None:
    operator = _class(jvm, "java.util.function.UnaryOperator")
    found.replaceAll(jvm.cls(_INVOKE + "MethodHandleProxies").asInterfaceInstance(operator, handle))


def _to_array(jvm: Jvm, found: JavaObject, element: str) -> JavaObject:
    # py4j finds no method of an array's superclass, so toArray(T[]) is out of reach.
    kind = jvm.array(element, []).getClass()
    return jvm.cls("java.util.Arrays").copyOf(found.toArray(), found.size(), kind)


def _class(jvm: Jvm, name: str) -> JavaObject:
    return jvm.array(name, []).getClass().getComponentType()
