"""The Java objects through which Spark's questions reach Python, put together once for each JVM; see docs/adr/0013."""

from __future__ import annotations

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["answer_maker", "planning_calls"]

_HELPERS = ("PlanWords", "SessionSettings", "FilePartitions", "NativeScan", "TaskParts")
_CALLS = "calls in words"


def answer_maker(jvm: Jvm) -> JavaObject | None:
    """What puts objects of Python behind what is known of them; ``None`` where there is no such class."""
    maker = java_classes.function(jvm, "KnownAnswers", "KnownAnswers$Maker")
    if maker is not None and _CALLS not in jvm.shared:
        calls = java_classes.function(jvm, "PlanningCalls")
        helpers = [java_classes.function(jvm, name) for name in _HELPERS]
        if calls is None or None in helpers:
            jvm.shared[_CALLS] = None
        else:
            calls.use(maker, *helpers)
            maker.use(calls, jvm.gateway.java_gateway_server)
            jvm.shared[_CALLS] = calls
    return maker


def planning_calls(jvm: Jvm) -> JavaObject | None:
    """What calls Python in words; ``None`` where Spark calls it as it is."""
    return None if answer_maker(jvm) is None else jvm.shared[_CALLS]
