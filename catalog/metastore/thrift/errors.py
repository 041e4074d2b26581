"""The one place where errors of Thrift, of sockets and of the metastore become ours."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TTransportException

from catalog.metastore import error_codes
from catalog.metastore._thrift.lakeport_metastore import ttypes
from connector_spi.errors import ConnectorError, MetastoreError, SchemaNotFoundError, TableNotFoundError

__all__ = [
    "ANSWERS",
    "BROKEN",
    "Timeouts",
    "is_database_failure",
    "is_timeout",
    "is_unknown_call",
    "mapped_answers",
    "no_database",
    "no_table",
    "reason",
]

_MISSING = (ttypes.NoSuchObjectException, ttypes.UnknownTableException, ttypes.UnknownDBException)
_CODES = {
    ttypes.AlreadyExistsException: error_codes.ALREADY_EXISTS,
    ttypes.NoSuchTxnException: error_codes.TRANSACTION_ENDED,
    ttypes.TxnAbortedException: error_codes.TRANSACTION_ENDED,
}
ANSWERS = (
    *_MISSING,
    *_CODES,
    ttypes.MetaException,
    ttypes.InvalidObjectException,
    ttypes.InvalidOperationException,
    ttypes.InvalidInputException,
    ttypes.ConfigValSecurityException,
    ttypes.TxnOpenException,
    ttypes.NoSuchLockException,
    TApplicationException,
)
"""Errors that are a whole answer: after them the connection is still in step with the server."""


BROKEN = (OSError, EOFError, TException, struct.error, ArithmeticError, ValueError, TypeError, LookupError,
          AttributeError, MemoryError, RecursionError)  # fmt: skip
"""Errors of a connection that is of no more use: it broke, or what came through it is no answer of a metastore."""


_LONGEST = 1000
"""Characters of a metastore's message; those of its database hold whole statements."""
_TOO_LONG = "StackOverflowError"
"""In the message where a statement of the metastore's own is too long: it would be so again."""
_DATABASE = re.compile(r"JDO\w*Exception|deadlock|savepoint", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait.

    Attributes:
        connect: For a connection to one address.
        read: For the next bytes of an answer.
        total: For one call in all, its repetitions included.
    """

    connect: float
    read: float
    total: float = 300.0


@contextmanager
def mapped_answers(what: str, missing: Callable[[str], ConnectorError]) -> Iterator[None]:
    """Turns the errors that are a metastore's answer into ours.

    Args:
        what: The call and the address, for the message.
        missing: Makes the error for "no such object" out of the message.
    """
    try:
        yield
    except _MISSING as error:
        raise missing(f"{what} says: {_shortened(error.message)}") from error
    except TApplicationException as error:
        code = error_codes.NO_SUCH_CALL if is_unknown_call(error) else error_codes.REFUSED_REQUEST
        raise MetastoreError(f"{what} says: {_shortened(error.message)}", code) from error
    except ANSWERS as error:
        code = _CODES.get(type(error), error_codes.REFUSED_REQUEST)
        raise MetastoreError(f"{what} says: {_shortened(error.message)}", code) from error


def is_database_failure(error: MetastoreError) -> bool:
    """Whether the metastore says that its own database failed, which may end a call for the sake of another.

    Hive's client makes such calls again, too (``RetryingMetaStoreClient``), by the first of these words.
    """
    return _DATABASE.search(error.message) is not None and _TOO_LONG not in error.message


def _shortened(message: object) -> str:
    """The beginning, and the end: the root cause comes last."""
    text = str(message)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


def is_unknown_call(error: TException) -> bool:
    """Whether the server says that it does not have the call."""
    return isinstance(error, TApplicationException) and error.type == TApplicationException.UNKNOWN_METHOD


def reason(error: Exception, timeouts: Timeouts) -> str:
    """Why a connection or a call failed, in words."""
    if isinstance(error, TimeoutError):
        return f"no connection within {timeouts.connect:g} s"
    if is_timeout(error):
        return f"no answer within {timeouts.read:g} s"
    if isinstance(error, TTransportException) and error.type == TTransportException.END_OF_FILE:
        return "it closed the connection"
    if isinstance(error, TTransportException) and error.type == TTransportException.SIZE_LIMIT:
        return str(error.message)
    if isinstance(error, TTransportException) and error.inner is not None:
        return f"the connection broke: {error.inner}"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, MemoryError):
        return "there is no memory for its answer"
    if isinstance(error, (TProtocolException, struct.error, ValueError, ArithmeticError, RecursionError, EOFError)):
        return f"it does not speak Thrift's binary protocol as this catalog does: {error}"
    if isinstance(error, (TypeError, LookupError, AttributeError)):
        return f"its answer is not one of a metastore: {type(error).__name__}: {error}"
    return str(error) or type(error).__name__


def is_timeout(error: Exception) -> bool:
    """Whether the error is that something took too long."""
    if isinstance(error, TTransportException):
        return bool(error.type == TTransportException.TIMED_OUT) or isinstance(error.inner, TimeoutError)
    return isinstance(error, TimeoutError)


def no_table(database: str, table: str) -> TableNotFoundError:
    """The error for a table that is not there."""
    return TableNotFoundError(f"the metastore has no table {database.lower()}.{table.lower()}")


def no_database(database: str) -> SchemaNotFoundError:
    """The error for a database that is not there."""
    return SchemaNotFoundError(f"the metastore has no database {database.lower()}")
