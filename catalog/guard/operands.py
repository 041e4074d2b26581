"""Arguments of conditions and functions in row filters and column masks: of the types that they want. Driver side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa

from catalog.guard.expressions import ConstantValue, Expression
from catalog.guard.value_types import UnclearError

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["Operands"]

_TEXT, _BOOLEAN = pa.string(), pa.bool_()


class Operands:
    """Compiles nodes that have to be of a type; each method raises ``UnclearError`` for another one.

    Args:
        compile_node: Gives the expression of a node.
    """

    def __init__(self, compile_node: Callable[[Expr], Expression]) -> None:
        self._compile = compile_node

    def condition(self, node: Expr) -> Expression:
        """A condition."""
        found = self._compile(node)
        if pa.types.is_null(found.type):
            return ConstantValue(None, _BOOLEAN)
        if not pa.types.is_boolean(found.type):
            raise UnclearError(f"{node.sql('trino')!r:.80} is {found.type}, expected a condition")
        return found

    def text(self, node: Expr) -> Expression:
        """A text; a NULL of no type becomes one."""
        found = self._compile(node)
        if pa.types.is_null(found.type):
            return ConstantValue(None, _TEXT)
        if not pa.types.is_string(found.type):
            raise UnclearError(f"{node.sql('trino')!r:.80} is {found.type}, expected a text")
        return found

    def binary(self, node: Expr) -> Expression:
        """Bytes."""
        found = self._compile(node)
        if not pa.types.is_binary(found.type):
            raise UnclearError(
                f"{node.sql('trino')!r:.80} is {found.type}, expected bytes; to_utf8 makes them of texts"
            )
        return found

    def constant(self, node: Expr, kind: type) -> Expression:
        """A constant of a kind of Python."""
        found = self._compile(node)
        if not isinstance(found, ConstantValue) or type(found.value) is not kind:
            raise UnclearError(f"{node.sql('trino')!r:.80} is no constant of {kind.__name__}")
        return found

    def day(self, node: Expr) -> Expression:
        """A date."""
        found = self._compile(node)
        if not pa.types.is_date32(found.type):
            raise UnclearError(f"{node.sql('trino')!r:.80} is {found.type}, expected a date")
        return found
