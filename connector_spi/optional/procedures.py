"""Procedures that ``CALL catalog.schema.name(argument => value)`` runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession

__all__ = ["Procedure", "ProcedureArgument", "ProcedureFunction"]

ProcedureFunction = Callable[[ConnectorSession, Mapping[str, Value | None]], pa.Table]


@dataclass(frozen=True, slots=True)
class ProcedureArgument:
    """An argument by name.

    Attributes:
        name: Lower case.
        type: Arrow type.
        description: One sentence.
        required: Has to be given.
        default: Used where it is not given.
    """

    name: str
    type: pa.DataType
    description: str = ""
    required: bool = True
    default: Value | None = None


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure; driver side.

    Attributes:
        schema: ``system`` for those of a connector.
        name: Lower case.
        description: One sentence.
        arguments: In order, the required ones first.
        result: Schema of the rows that ``function`` returns.
        function: Gets the session and all arguments by name; returns a table of schema ``result``.
        checks_access: It looks itself at what its caller may do; else the access control says who may call it.
    """

    schema: str
    name: str
    description: str
    arguments: tuple[ProcedureArgument, ...]
    result: pa.Schema
    function: ProcedureFunction
    checks_access: bool = False
