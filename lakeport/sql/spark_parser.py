"""Spark's SQL as sqlglot parses it, where Spark 4 reads it in another way than sqlglot."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.expressions import Expr
from sqlglot.parsers.spark import SparkParser

__all__ = ["SparkSql"]

_BIT_OPERATORS: tuple[tuple[TokenType, type[exp.Binary]], ...] = (
    (TokenType.PIPE, exp.BitwiseOr),
    (TokenType.CARET, exp.BitwiseXor),
    (TokenType.AMP, exp.BitwiseAnd),
)
"""Those that bind less come first (``valueExpression`` in ``SqlBaseParser.g4``); sqlglot has one level for all."""


class SparkSql(Spark):
    """Spark's SQL."""

    class Tokenizer(Spark.Tokenizer):
        """Two quotes inside of a text are one (``spark.sql.legacy.consecutiveStringLiterals.enabled`` is false)."""

        STRING_ESCAPES: ClassVar = ["\\", "'", '"']

    class Parser(SparkParser):
        """Knows which of ``&``, ``^`` and ``|`` binds more."""

        BITWISE: ClassVar = {}

        def _parse_bitwise(self, level: int = 0) -> Expr | None:
            if level == len(_BIT_OPERATORS):
                return super()._parse_bitwise()
            token, operator = _BIT_OPERATORS[level]
            found = self._parse_bitwise(level + 1)
            while self._match(token):
                found = self.expression(operator(this=found, expression=self._parse_bitwise(level + 1)))
            return found
