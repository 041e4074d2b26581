"""Spark's own functions: their names, and how they are called."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lakeport.engine import FunctionUsage
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["function_names", "function_usages", "table_function_names"]

_REGISTRY = "org.apache.spark.sql.catalyst.analysis.FunctionRegistry"
_TABLE_REGISTRY = "org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry"
_IDENTIFIER = "org.apache.spark.sql.catalyst.FunctionIdentifier"
_OPERATOR_WORDS = "and between case div ilike in like not or regexp rlike when"
_OPERATORS = frozenset(_OPERATOR_WORDS.split())
"""Words that Spark registers as functions, and that are written between or around their operands."""
_USAGE = re.compile(r"\s*(?P<name>\w+)\((?P<signature>(?:[^()]|\([^()]*\))*)\)\s*(?:-\s*(?P<does>.*))?", re.DOTALL)


def function_names(jvm: Jvm) -> list[str]:
    """The names of the functions that are called by name, in no order; operators are none."""
    return [name for name in _registered(jvm, _REGISTRY) if name.isidentifier() and name not in _OPERATORS]


def table_function_names(jvm: Jvm) -> list[str]:
    """The names of the functions whose results are tables, in no order."""
    return _registered(jvm, _TABLE_REGISTRY)


def function_usages(jvm: Jvm, names: Iterable[str]) -> list[FunctionUsage]:
    """How functions are called, in the order of the names."""
    registry, identifier = jvm.scala_object(_REGISTRY).builtin(), jvm.cls(_IDENTIFIER)
    found = []
    for name in names:
        info = registry.lookupFunction(identifier(name))
        found.append(_usage(name, str(info.get().getUsage()) if info.isDefined() else ""))
    return found


def _registered(jvm: Jvm, registry: str) -> list[str]:
    found = str(jvm.scala_object(registry).functionSet().mkString("\n")).split("\n")
    return [name.rsplit(".", 1)[-1].strip("`") for name in found]


def _usage(name: str, text: str) -> FunctionUsage:
    """Reads what Spark says: ``date_trunc(fmt, ts) - Returns ...``, perhaps more than once."""
    match = _USAGE.match(text)
    if match is None or match.group("name") != name:
        return FunctionUsage(name, "", _sentence(text))
    return FunctionUsage(name, match.group("signature"), _sentence(match.group("does") or ""))


def _sentence(text: str) -> str:
    words = " ".join(text.replace("`", "").split())
    end = re.search(r"\.(?=\s|$)", words)
    return words if end is None else words[: end.end()]
