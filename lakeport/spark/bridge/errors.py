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
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

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
    "DeclaredError",
    "as_illegal_argument",
    "as_java",
    "declared",
    "first_cause",
    "is_file_missing",
    "namespace_exists",
    "no_such_function",
    "no_such_namespace",
    "no_such_table",
    "original",
]

_remembered: OrderedDict[str, ConnectorError] = OrderedDict()
_lock = threading.Lock()
_KEEP = 256
_NO_FILE = "FAILED_READ_FILE.FILE_NOT_EXIST"
_STATE = re.compile(r"\.? SQLSTATE: \w+")
_IN_TASK = re.compile(r"^(?:\w+\.)*(\w+Error): \[([A-Z0-9_]+)\] (.*)$", re.MULTILINE)


class DeclaredError(Py4JJavaError):  # type: ignore[misc]
    """An exception that the interface's method declares, so that a proxy may throw it though it is a checked one."""


def as_java(jvm: Jvm, error: BaseException) -> Py4JJavaError:
    """The Java exception for an error in a proxy.

    An exception of Java's own stays what it is where Java lets a proxy throw it; else its message goes on.
    """
    if isinstance(error, DeclaredError):
        return error
    thrown = declared(error)
    if thrown is not None and _is_unchecked(jvm, thrown.java_exception):
        return thrown
    if not isinstance(error, ConnectorError):
        text = str(error) if thrown is None else str(thrown.java_exception.toString())
        first_line = text.strip().split("\n", 1)[0]
        error = original(error) or InternalError(
            f"{type(error).__name__}: {first_line}; this is a defect: please report it"
        )
    message = _sendable(str(error))
    _remember(message, error)
    return Py4JJavaError("", _exception(jvm, message, error))


def declared(error: BaseException) -> DeclaredError | None:
    """The error of a call into Java, for a proxy to throw as it is; ``None`` where it is none of Java's.

    PySpark replaces the exceptions that it knows, in every call into Java, by its own, which py4j would not throw.
    """
    if isinstance(error, Py4JJavaError):
        return DeclaredError("", error.java_exception)
    origin = getattr(error, "_origin", None) if isinstance(error, PySparkException) else None
    return None if origin is None else DeclaredError("", origin)


def as_illegal_argument(jvm: Jvm, error: ConnectorError) -> Py4JJavaError:
    """An unsupported feature, where Spark would replace the message of an ``UnsupportedOperationException``."""
    message = _sendable(str(error))
    _remember(message, error)
    return Py4JJavaError("", jvm.cls("java.lang.IllegalArgumentException")(message))


def no_such_table(jvm: Jvm, identifier: JavaObject) -> DeclaredError:
    """Spark's own TABLE_OR_VIEW_NOT_FOUND."""
    return DeclaredError("", jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchTableException")(identifier))


def no_such_function(jvm: Jvm, identifier: JavaObject) -> DeclaredError:
    """Spark's own ROUTINE_NOT_FOUND."""
    return DeclaredError("", jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException")(identifier))


def no_such_namespace(jvm: Jvm, namespace: Sequence[str]) -> DeclaredError:
    """Spark's own SCHEMA_NOT_FOUND."""
    exception = jvm.cls("org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException")
    return DeclaredError("", exception(jvm.strings(list(namespace))))


def namespace_exists(jvm: Jvm, namespace: Sequence[str]) -> DeclaredError:
    """Spark's own SCHEMA_ALREADY_EXISTS, which ``IF NOT EXISTS`` handles."""
    exception = jvm.cls("org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException")
    return DeclaredError("", exception(jvm.strings(list(namespace))))


def original(error: BaseException) -> ConnectorError | None:
    """The ``ConnectorError`` behind an exception of PySpark, from the driver or a task; ``None`` without one."""
    if isinstance(error, ConnectorError):
        return error
    # The message of a wrapped exception is only in the Java stack trace.
    text = f"{error}\n{getattr(error, '_stackTrace', '')}"
    if isinstance(error, (PySparkException, Py4JError)):
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


def first_cause(error: BaseException) -> str:
    """One line with the reason, of which Java's outer exceptions only say that something failed."""
    thrown = declared(error)
    text, cause = str(error), None if thrown is None else thrown.java_exception
    while cause is not None:
        text = str(cause.getMessage() or cause.toString())
        cause = cause.getCause()
    return _STATE.sub("", (text.strip() or type(error).__name__).splitlines()[0])


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


def _is_unchecked(jvm: Jvm, exception: JavaObject) -> bool:
    """Whether any method may throw it; Java hides another one that an interface does not declare."""
    given = jvm.cls("java.lang.Class").forName
    return any(given(name).isInstance(exception) for name in ("java.lang.RuntimeException", "java.lang.Error"))


def _sendable(message: str) -> str:
    """A message without the halves of characters that names of files may have, which no text of Java's takes."""
    return message.encode(errors="backslashreplace").decode()


def _remember(message: str, error: ConnectorError) -> None:
    with _lock:
        _remembered[message] = error
        _remembered.move_to_end(message)
        while len(_remembered) > _KEEP:
            _remembered.popitem(last=False)
