"""Translates Lakeport's errors into Java exceptions for Spark, and back.

A py4j proxy may throw only unchecked Java exceptions and those that its interface declares, and PySpark shows only
some of them without a Java stack trace. So a user error becomes an ``IllegalArgumentException``, an unsupported feature
an ``UnsupportedOperationException``, anything else a ``SparkRuntimeException``. ``original`` finds the first error
again.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from connector_spi import errors as spi_errors
from connector_spi.errors import (
    ConnectorError,
    ErrorCode,
    ErrorType,
    FileMissingError,
    InternalError,
    NotSupportedError,
)
from lakeport.spark.bridge.jvm import Jvm

__all__ = [
    "as_illegal_argument",
    "as_java",
    "is_file_missing",
    "namespace_exists",
    "no_such_function",
    "no_such_namespace",
    "no_such_table",
    "original",
    "read_only",
    "rows_are_not_written",
]

_remembered: OrderedDict[str, ConnectorError] = OrderedDict()
_lock = threading.Lock()
_KEEP = 256
_NO_FILE = "FAILED_READ_FILE.FILE_NOT_EXIST"
_IN_TASK = re.compile(r"^(?:\w+\.)*(\w+Error): \[([A-Z0-9_]+)\] (.*)$", re.MULTILINE)


def as_java(jvm: Jvm, error: BaseException) -> Py4JJavaError:
    """The Java exception for an error in a proxy."""
    if isinstance(error, Py4JJavaError):
        return error
    if not isinstance(error, ConnectorError):
        first_line = str(error).strip().split("\n", 1)[0]
        error = InternalError(f"{type(error).__name__}: {first_line}; this is a defect: please report it")
    message = str(error)
    _remember(message, error)
    return Py4JJavaError("", _exception(jvm, message, error))


def as_illegal_argument(jvm: Jvm, error: ConnectorError) -> Py4JJavaError:
    """An unsupported feature, where Spark would replace the message of an ``UnsupportedOperationException``."""
    message = str(error)
    _remember(message, error)
    return Py4JJavaError("", jvm.cls("java.lang.IllegalArgumentException")(message))


def no_such_table(jvm: Jvm, identifier: JavaObject) -> Py4JJavaError:
    """Spark's own TABLE_OR_VIEW_NOT_FOUND."""
    return Py4JJavaError("", jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchTableException")(identifier))


def no_such_function(jvm: Jvm, identifier: JavaObject) -> Py4JJavaError:
    """Spark's own ROUTINE_NOT_FOUND."""
    return Py4JJavaError("", jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException")(identifier))


def no_such_namespace(jvm: Jvm, namespace: Sequence[str]) -> Py4JJavaError:
    """Spark's own SCHEMA_NOT_FOUND."""
    exception = jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException")
    return Py4JJavaError("", exception(jvm.strings(list(namespace))))


def namespace_exists(jvm: Jvm, namespace: Sequence[str]) -> Py4JJavaError:
    """Spark's own SCHEMA_ALREADY_EXISTS, which ``IF NOT EXISTS`` handles."""
    exception = jvm.cls("org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException")
    return Py4JJavaError("", exception(jvm.strings(list(namespace))))


def rows_are_not_written(catalog: str, statement: str) -> NotSupportedError:
    """The error for a statement that would write rows."""
    return NotSupportedError(
        f"catalog '{catalog}' does not write rows: {statement} is refused; write with the engine that owns the table",
        READ_ONLY_CATALOG,
    )


def read_only(catalog: str, statement: str) -> NotSupportedError:
    """The error for a statement that would change definitions in a catalog that cannot change them."""
    return NotSupportedError(
        f"catalog '{catalog}' is read-only: {statement} is refused; write with the engine that owns the table",
        READ_ONLY_CATALOG,
    )


def original(error: BaseException) -> ConnectorError | None:
    """The ``ConnectorError`` behind an exception of PySpark, from the driver or a task; ``None`` without one."""
    if isinstance(error, ConnectorError):
        return error
    # The message of a wrapped exception is only in the Java stack trace.
    text = f"{error}\n{getattr(error, '_stackTrace', '')}"
    if isinstance(error, PySparkException):
        with _lock:
            found = next((kept for message, kept in _remembered.items() if message in text), None)
        if found is not None:
            return found
    matches = list(_IN_TASK.finditer(text))
    if not matches:
        return None
    match = matches[-1]
    cls = getattr(spi_errors, match.group(1), ConnectorError)
    if not issubclass(cls, ConnectorError):
        return None
    return cls(match.group(3), ErrorCode(match.group(2), cls.default_code.type))


def is_file_missing(error: BaseException) -> bool:
    """Whether a listed file was missing when it was read, by either reader."""
    if isinstance(error, PySparkException) and error.getCondition() == _NO_FILE:
        return True
    return isinstance(original(error), FileMissingError)


def _exception(jvm: Jvm, message: str, error: ConnectorError) -> JavaObject:
    if isinstance(error, NotSupportedError):
        return jvm.cls("java.lang.UnsupportedOperationException")(message)
    if error.code.type is ErrorType.USER_ERROR:
        return jvm.cls("java.lang.IllegalArgumentException")(message)
    # The only error condition whose whole message can be set.
    parameters = jvm.cls("org.apache.spark.api.python.PythonUtils").toScalaMap({"errorMessage": message})
    contexts = jvm.array("org.apache.spark.QueryContext", [])
    return jvm.cls("org.apache.spark.SparkRuntimeException")("USER_RAISED_EXCEPTION", parameters, None, contexts, "")


def _remember(message: str, error: ConnectorError) -> None:
    with _lock:
        _remembered[message] = error
        _remembered.move_to_end(message)
        while len(_remembered) > _KEEP:
            _remembered.popitem(last=False)
