"""Functions in row filters and column masks: of texts, bytes and dates. Driver side."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from catalog.guard.expressions import ConstantValue, Expression, FunctionCall
from catalog.guard.operands import Operands
from catalog.guard.value_types import UnclearError

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["Functions", "Node"]

Node: TypeAlias = "tuple[tuple[str, ...], Callable[[Expr], Expression]]"
"""The arguments that a node of sqlglot may have, and what makes an expression of it."""

_TEXT, _LONG = pa.string(), pa.int64()
_TEXT_FUNCTIONS = {"Lower": "lower", "Upper": "upper", "Reverse": "reverse"}
_UNITS = ("day", "week", "month", "quarter", "year")
# Trino's expressions and RE2's mean the same by these parts. By \d, \w and $ they do not: RE2's know ASCII only, and no
# end before a last newline, so that a mask would leave more than its rule says.
_SAFE_PATTERN = re.compile(r"(?:[A-Za-z0-9 @_/:,;#%&=~-]|\\[.@+*?()/\-]|\.|\[\^?[A-Za-z0-9 @._-]+\]|[+*?^|()])*")


class Functions:
    """Compiles calls of functions.

    Args:
        operands: Compiles their arguments.

    Attributes:
        nodes: By the name of sqlglot's class.
    """

    def __init__(self, operands: Operands) -> None:
        self._operands = operands
        self.nodes: Mapping[str, Node] = {
            "Concat": (("expressions", "safe", "coalesce"), lambda node: self._concat(node.expressions)),
            "DPipe": (("this", "expression", "safe"), lambda node: self._concat([node.this, node.expression])),
            "Substring": (("this", "start", "length"), self._substring),
            "Length": (("this",), lambda node: FunctionCall("length", (self._operands.text(node.this),), _LONG)),
            "Replace": (("this", "expression", "replacement"), self._replace),
            "RegexpReplace": (("this", "expression", "replacement"), self._regexp_replace),
            "Encode": (("this", "charset"), self._to_utf8),
            "MD5Digest": (("this",), partial(self._hash, "md5")),
            "SHA2Digest": (("this", "length"), self._sha2),
            "Hex": (("this",), self._hex),
            "LowerHex": (("this",), lambda node: FunctionCall("lower", (self._hex(node),), _TEXT)),
            "Year": (("this",), partial(self._part, "year")),
            "Month": (("this",), partial(self._part, "month")),
            "TimestampTrunc": (("this", "unit"), self._truncated),
            **{name: (("this",), partial(self._text_function, function)) for name, function in _TEXT_FUNCTIONS.items()},
        }

    def _concat(self, nodes: Sequence[Expr]) -> Expression:
        return FunctionCall("concat", tuple(self._operands.text(node) for node in nodes), _TEXT)

    def _substring(self, node: Expr) -> Expression:
        numbers = [
            self._operands.constant(node.args[key], int)
            for key in ("start", "length")
            if node.args.get(key) is not None
        ]
        return FunctionCall("substr", (self._operands.text(node.this), *numbers), _TEXT)

    def _replace(self, node: Expr) -> Expression:
        texts = [self._operands.constant(node.args[key], str) for key in ("expression", "replacement")]
        if texts[0] == ConstantValue("", _TEXT):
            raise UnclearError("replace of an empty text is not understood")
        return FunctionCall("replace", (self._operands.text(node.this), *texts), _TEXT)

    def _regexp_replace(self, node: Expr) -> Expression:
        pattern, made = (self._operands.constant(node.args[key], str) for key in ("expression", "replacement"))
        assert isinstance(pattern, ConstantValue)
        assert isinstance(made, ConstantValue)
        text = str(pattern.value)
        if "(?" in text or not _SAFE_PATTERN.fullmatch(text) or set(str(made.value)) & {"$", "\\"}:
            raise UnclearError("of regular expressions simple ones are understood: characters, classes and + * ? |")
        return FunctionCall("regexp_replace", (self._operands.text(node.this), pattern, made), _TEXT)

    def _text_function(self, function: str, node: Expr) -> Expression:
        return FunctionCall(function, (self._operands.text(node.this),), _TEXT)

    def _to_utf8(self, node: Expr) -> Expression:
        if node.args["charset"].name.lower() != "utf-8":
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        return FunctionCall("to_utf8", (self._operands.text(node.this),), pa.binary())

    def _hash(self, function: str, node: Expr) -> Expression:
        return FunctionCall(function, (self._operands.binary(node.this),), pa.binary())

    def _sha2(self, node: Expr) -> Expression:
        length = node.args["length"].name
        if length not in ("256", "512"):
            raise UnclearError(f"{node.sql('trino')!r:.80} is not understood")
        return self._hash(f"sha{length}", node)

    def _hex(self, node: Expr) -> Expression:
        return FunctionCall("to_hex", (self._operands.binary(node.this),), _TEXT)

    def _part(self, function: str, node: Expr) -> Expression:
        return FunctionCall(function, (self._operands.day(node.this),), _LONG)

    def _truncated(self, node: Expr) -> Expression:
        unit = node.args["unit"].name.lower()
        if unit not in _UNITS:
            raise UnclearError(f"date_trunc of '{unit}' is not understood; expected one of {', '.join(_UNITS)}")
        value = self._operands.day(node.this)
        return FunctionCall("date_trunc", (ConstantValue(unit, _TEXT), value), value.type)
