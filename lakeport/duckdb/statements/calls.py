"""``CALL catalog.system.procedure(argument => value)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.properties import closest
from lakeport.duckdb.current_names import CurrentNames
from lakeport.planning.procedures import find_procedure, run_procedure
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope

__all__ = ["Call", "call"]


@dataclass(frozen=True, slots=True)
class Call:
    """A call as written.

    Attributes:
        name: Parts of the procedure's name.
        by_position: Values without a name.
        by_name: Values with one, in lower case.
    """

    name: tuple[str, ...]
    by_position: Sequence[Value | None]
    by_name: dict[str, Value | None]

    @classmethod
    def of(cls, text: str) -> Call:
        """The call in what follows the word ``CALL``.

        Raises:
            InvalidArgumentError: It is none.
        """
        try:
            # It has the form of a function; a statement of its own is a mere text to sqlglot.
            written = sqlglot.parse_one(f"SELECT {text}", read="spark", into=exp.Select).selects[0]
        except (SqlglotError, IndexError) as error:
            raise _unclear(text) from error
        parts = list(written.flatten()) if isinstance(written, exp.Dot) else [written]
        function = parts[-1]
        if not isinstance(function, exp.Anonymous) or not all(isinstance(one, exp.Identifier) for one in parts[:-1]):
            raise _unclear(text)
        named = [one for one in function.expressions if isinstance(one, exp.Kwarg)]
        plain = function.expressions[: len(function.expressions) - len(named)]
        if any(isinstance(one, exp.Kwarg) for one in plain):
            raise InvalidArgumentError(f"CALL {text}: a value without a name follows one with a name")
        by_name = {one.this.name.lower(): _value(one.expression) for one in named}
        if len(by_name) < len(named):
            raise InvalidArgumentError(f"CALL {text}: an argument is given twice")
        name = (*(one.name for one in parts[:-1]), function.name)
        return cls(tuple(part.lower() for part in name), [_value(one) for one in plain], by_name)

    def arguments(self, procedure: Procedure) -> dict[str, Value | None]:
        """All arguments of a procedure by name.

        Raises:
            InvalidArgumentError: One is missing, unknown, given twice or of another type.
        """
        known = {one.name: one for one in procedure.arguments}
        if len(self.by_position) > len(known):
            raise InvalidArgumentError(
                f"{procedure.name} takes {len(known)} arguments ({', '.join(known)}), not {len(self.by_position)}"
            )
        given = dict(zip(known, self.by_position, strict=False))
        for name, value in self.by_name.items():
            if name not in known:
                raise InvalidArgumentError(f"{procedure.name} has no argument {name}{closest(name, known)}")
            if name in given:
                raise InvalidArgumentError(f"the argument {name} of {procedure.name} is given twice")
            given[name] = value
        missing = [one.name for one in procedure.arguments if one.required and one.name not in given]
        if missing:
            raise InvalidArgumentError(f"{procedure.name} needs {', '.join(missing)}")
        return {name: _typed(one, given[name]) if name in given else one.default for name, one in known.items()}


def call(registry: CatalogRegistry, current: CurrentNames, text: str, lease: ReadLease | None) -> pa.Table:
    """Runs the procedure of what follows the word ``CALL``; returns its rows.

    Args:
        registry: The catalogs.
        current: The catalog of names that say none.
        text: Name and arguments.
        lease: On transactions that it shares with other statements.

    Raises:
        InvalidArgumentError: The text is no call, or an argument is wrong.
        ConnectorError: There is no such catalog or procedure, or it failed.
    """
    written = Call.of(text)
    *catalog, schema, name = ("", "", *written.name)[-max(len(written.name), 2) :]
    if not schema or len(catalog) > 1 or not (catalog or current.catalog):
        raise InvalidArgumentError(f"'{'.'.join(written.name)}' names no procedure; expected catalog.system.procedure")
    with statement_scope(plain_statement(registry, lease, current.properties)) as statement:
        access = statement.access(catalog[0] if catalog else current.catalog)
        procedure = find_procedure(access, schema, name)
        rows = run_procedure(access, procedure, written.arguments(procedure))
        statement.commit()
    return rows


def _value(node: Expr) -> Value | None:
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.name)
    if isinstance(inner, exp.Literal) and inner.name.isdigit():
        return -int(inner.name) if inner is not node else int(inner.name)
    raise InvalidArgumentError(
        f"{node.sql('spark')} is no value of an argument; expected a text, a whole number, or TRUE, FALSE or NULL"
    )


def _typed(argument: ProcedureArgument, value: Value | None) -> Value | None:
    kinds = {bool: pa.types.is_boolean, int: pa.types.is_integer, str: pa.types.is_string}
    if value is None or any(type(value) is kind and fits(argument.type) for kind, fits in kinds.items()):
        return value
    raise InvalidArgumentError(f"the argument {argument.name} is {value!r}; expected a value of type {argument.type}")


def _unclear(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"CALL {text} is not understood; expected catalog.system.procedure(argument => value)")
