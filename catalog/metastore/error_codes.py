"""Codes of the errors that any metastore raises, beside those of the SPI."""

from __future__ import annotations

from connector_spi.errors import ErrorCode, ErrorType

__all__ = [
    "ALREADY_EXISTS",
    "AUTHENTICATION_FAILED",
    "CLOSED",
    "CONNECTION_FAILED",
    "NOT_CREATED",
    "NOT_EMPTY",
    "NOT_READABLE",
    "NO_SUCH_CALL",
    "NO_WRITE_IDS",
    "REFUSED_REQUEST",
    "REFUSED_ROLE",
    "ROLE_NOT_FOUND",
    "TIMED_OUT",
    "TRANSACTION_ENDED",
    "UNSUPPORTED_VIEW",
]

ALREADY_EXISTS = ErrorCode("METASTORE_ALREADY_EXISTS", ErrorType.USER_ERROR)
"""A schema, table or partition of that name is there already. Drop it first, or choose another name."""
CLOSED = ErrorCode("METASTORE_CLOSED", ErrorType.USER_ERROR)
"""The client was closed, perhaps while the call waited. Connect again."""
AUTHENTICATION_FAILED = ErrorCode("METASTORE_AUTHENTICATION_FAILED", ErrorType.EXTERNAL)
"""We or the metastore could not prove who we are; the same again does not help."""
NOT_CREATED = ErrorCode("METASTORE_NOT_CREATED", ErrorType.USER_ERROR)
"""There is no file of the embedded metastore yet. Check its path, or let the first schema or table create it."""
NOT_EMPTY = ErrorCode("METASTORE_NOT_EMPTY", ErrorType.USER_ERROR)
"""A schema that is to be dropped has tables. Drop them first, or say CASCADE."""
UNSUPPORTED_VIEW = ErrorCode("METASTORE_UNSUPPORTED_VIEW", ErrorType.USER_ERROR)
"""The metastore's text of a view is damaged. Make the view again."""
CONNECTION_FAILED = ErrorCode("METASTORE_CONNECTION_FAILED", ErrorType.EXTERNAL)
"""No connection, or it was lost. The call may be repeated if it is safe to do twice."""
TIMED_OUT = ErrorCode("METASTORE_TIMED_OUT", ErrorType.EXTERNAL)
"""The metastore did not answer in time. Try again, or raise the time limit that the message names."""
NO_SUCH_CALL = ErrorCode("METASTORE_NO_SUCH_CALL", ErrorType.EXTERNAL)
"""The metastore is of a version that lacks the call. What needs it cannot be had there."""
NOT_READABLE = ErrorCode("METASTORE_TABLE_NOT_READABLE", ErrorType.EXTERNAL)
"""Hive 4 keeps the table from clients with our abilities."""
NO_WRITE_IDS = ErrorCode("METASTORE_NO_WRITE_IDS", ErrorType.EXTERNAL)
"""The metastore is of Hive 2 or older, which does not know the write ids of tables."""
REFUSED_REQUEST = ErrorCode("METASTORE_REFUSED_REQUEST", ErrorType.EXTERNAL)
"""The metastore refused the call for the reason that it gave."""
TRANSACTION_ENDED = ErrorCode("METASTORE_TRANSACTION_ENDED", ErrorType.EXTERNAL)
"""A transaction was used after its end. Begin another one."""
REFUSED_ROLE = ErrorCode("METASTORE_REFUSED_ROLE", ErrorType.USER_ERROR)
"""A role would be within itself, or be dropped although each metastore has it. Leave it as it is."""
ROLE_NOT_FOUND = ErrorCode("METASTORE_ROLE_NOT_FOUND", ErrorType.USER_ERROR)
"""There is no role of this name. The message names a close one."""
