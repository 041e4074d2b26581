"""What can go wrong, and whose side it is on.

    ConnectorError
    ├── UserError                       the statement or a setting is wrong
    │   ├── CatalogNotFoundError, SchemaNotFoundError, TableNotFoundError,
    │   │   ColumnNotFoundError, ProcedureNotFoundError        (also LookupError)
    │   ├── InvalidPropertyError, InvalidArgumentError         (also ValueError)
    │   ├── AccessDeniedError                                  (also PermissionError)
    │   └── NotSupportedError                                  (also NotImplementedError)
    ├── ExternalError                   a server, file or network is wrong (also OSError)
    │   ├── MetastoreError
    │   ├── StorageError
    │   │   └── FileMissingError                               (also FileNotFoundError)
    │   └── CorruptFileError
    ├── ResourceError                   a limit was met
    └── InternalError                   we are wrong

A message names the object, the value met, the value expected and the way out. It never holds a secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

__all__ = [
    "AccessDeniedError",
    "CatalogNotFoundError",
    "ColumnNotFoundError",
    "ConnectorError",
    "CorruptFileError",
    "ErrorCode",
    "ErrorType",
    "ExternalError",
    "FileMissingError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidPropertyError",
    "MetastoreError",
    "NotSupportedError",
    "ProcedureNotFoundError",
    "ResourceError",
    "SchemaNotFoundError",
    "StorageError",
    "TableNotFoundError",
    "UserError",
]


class ErrorType(Enum):
    """Who has to act on an error."""

    USER_ERROR = "user error"
    INTERNAL_ERROR = "internal error"
    EXTERNAL = "external"
    INSUFFICIENT_RESOURCES = "insufficient resources"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A stable name for one kind of failure, such as ``HIVE_BAD_PARTITION``.

    Attributes:
        name: Upper-case words joined by ``_``; a connector's own codes begin with its name.
        type: Who has to act.
    """

    name: str
    type: ErrorType


class ConnectorError(Exception):
    """Base of every error that a connector, a catalog or the engine raises on purpose.

    Args:
        message: One or two sentences: the object, what was met, what was expected, the way out.
        code: A code more exact than the class's own.
    """

    default_code: ClassVar[ErrorCode] = ErrorCode("GENERIC_INTERNAL_ERROR", ErrorType.INTERNAL_ERROR)

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code

    def __str__(self) -> str:
        return f"[{self.code.name}] {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        # OSError has a __reduce__ of its own that would drop the code; the state keeps the notes of add_note.
        return (type(self), (self.message, self.code), dict(self.__dict__))


class UserError(ConnectorError):
    """The statement, a name or a setting is wrong."""

    default_code = ErrorCode("GENERIC_USER_ERROR", ErrorType.USER_ERROR)


class CatalogNotFoundError(UserError, LookupError):
    """No catalog has this name. ``SHOW CATALOGS`` lists those there are."""

    default_code = ErrorCode("CATALOG_NOT_FOUND", ErrorType.USER_ERROR)


class SchemaNotFoundError(UserError, LookupError):
    """No schema has this name in the catalog. ``SHOW SCHEMAS IN catalog`` lists those there are."""

    default_code = ErrorCode("SCHEMA_NOT_FOUND", ErrorType.USER_ERROR)


class TableNotFoundError(UserError, LookupError):
    """No table has this name in the schema. ``SHOW TABLES IN catalog.schema`` lists those there are."""

    default_code = ErrorCode("TABLE_NOT_FOUND", ErrorType.USER_ERROR)


class ColumnNotFoundError(UserError, LookupError):
    """No column has this name in the table. ``DESCRIBE`` lists those there are."""

    default_code = ErrorCode("COLUMN_NOT_FOUND", ErrorType.USER_ERROR)


class ProcedureNotFoundError(UserError, LookupError):
    """No procedure has this name in the catalog. The page of properties lists them."""

    default_code = ErrorCode("PROCEDURE_NOT_FOUND", ErrorType.USER_ERROR)


class InvalidPropertyError(UserError, ValueError):
    """A catalog, session or table property is unknown or has a wrong value."""

    default_code = ErrorCode("INVALID_PROPERTY", ErrorType.USER_ERROR)


class InvalidArgumentError(UserError, ValueError):
    """An argument of a call or of a procedure is wrong."""

    default_code = ErrorCode("INVALID_ARGUMENT", ErrorType.USER_ERROR)


class AccessDeniedError(UserError, PermissionError):
    """The access control denies what was asked. Whoever keeps its rules can allow it."""

    default_code = ErrorCode("PERMISSION_DENIED", ErrorType.USER_ERROR)


class NotSupportedError(UserError, NotImplementedError):
    """A statement, layout, codec or version that is understood to be not supported, refused by name."""

    default_code = ErrorCode("NOT_SUPPORTED", ErrorType.USER_ERROR)


class ExternalError(ConnectorError, OSError):
    """Something outside of this process is down, slow or wrong."""

    default_code = ErrorCode("GENERIC_EXTERNAL", ErrorType.EXTERNAL)


class MetastoreError(ExternalError):
    """The metastore cannot be reached, or answered with an error. ``lakeport catalogs check`` says more."""

    default_code = ErrorCode("METASTORE_ERROR", ErrorType.EXTERNAL)


class StorageError(ExternalError):
    """The storage cannot be reached, or refused. Check address, credentials and rights."""

    default_code = ErrorCode("STORAGE_ERROR", ErrorType.EXTERNAL)


class FileMissingError(StorageError, FileNotFoundError):
    """A file or directory that the metadata names is not on storage. Restore it, or correct the metadata."""

    default_code = ErrorCode("FILE_MISSING", ErrorType.EXTERNAL)


class CorruptFileError(ExternalError):
    """A file is truncated, or is not of the format that the metadata says. Restore it, or drop its partition."""

    default_code = ErrorCode("CORRUPT_FILE", ErrorType.EXTERNAL)


class ResourceError(ConnectorError):
    """A limit of memory, time or count was met. The message names the property that raises it."""

    default_code = ErrorCode("EXCEEDED_LIMIT", ErrorType.INSUFFICIENT_RESOURCES)


class InternalError(ConnectorError):
    """A broken promise inside Lakeport or a plugin: worth a bug report."""

    default_code = ErrorCode("GENERIC_INTERNAL_ERROR", ErrorType.INTERNAL_ERROR)
