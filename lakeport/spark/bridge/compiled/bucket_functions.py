"""Functions of Java that tell the bucket of a row, by which Spark deals rows out to writing tasks."""

from __future__ import annotations

import logging
import re

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from connector_spi.optional.writing import BucketFunction
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["bucket_function", "bucket_function_name"]

_log = logging.getLogger(__name__)
_CLASS = "HiveBuckets"
_KINDS = {"": "-", "char": "c", "varchar": "v"}
_NAME = re.compile(r"lakeport_hive_bucket_([12])_([0-9]+)_([-cv]+)")


def bucket_function_name(jvm: Jvm, function: BucketFunction) -> str | None:
    """The name by which Spark asks a catalog for a function; ``None`` where there is none of the kind.

    All but the columns is in the name: Spark passes on no more of a transform.

    Args:
        jvm: The JVM.
        function: The function.
    """
    kind, _, version = function.name.partition(" ")
    if kind != "hive" or version not in ("1", "2"):
        return None
    try:
        java_classes.shared_constructor(jvm, _CLASS)
    except (Py4JError, OSError) as error:
        # It spares files only.
        _log.warning(
            "%s%s cannot be loaded, so that more files are written: %s",
            java_classes.PACKAGE,
            _CLASS,
            java_classes.first_line(error),
        )
        return None
    return f"lakeport_hive_bucket_{version}_{function.count}_{''.join(_KINDS[kind] for kind in function.kinds)}"


def bucket_function(jvm: Jvm, name: str) -> JavaObject | None:
    """The function of a name that ``bucket_function_name`` gave; ``None`` for other names."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    constructor = java_classes.shared_constructor(jvm, _CLASS)
    given = [name, int(found[1]), int(found[2]), found[3]]
    return constructor.newInstance(jvm.array("java.lang.Object", given))
