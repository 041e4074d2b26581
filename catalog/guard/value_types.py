"""Types of values in row filters and masks: which are compared and mixed, as SQL does. Driver side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from catalog.guard.expressions import ConstantValue, Expression, FunctionCall

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

__all__ = ["UnclearError", "alike", "as_type", "chosen", "comparable", "day_of", "literal"]

_TEXT, _LONG, _NULL = pa.string(), pa.int64(), pa.null()


class UnclearError(Exception):
    """What is not understood, in words."""


def literal(node: Expr) -> Expression:
    """A number or a text of SQL."""
    text = str(node.this)
    if node.is_string:
        return ConstantValue(text, _TEXT)
    if re.fullmatch(r"\d{1,18}", text):
        return ConstantValue(int(text), _LONG)
    if re.fullmatch(r"\d*\.\d*", text) and len(text) <= 38:
        value = Decimal(text)
        return ConstantValue(value, pa.scalar(value).type)
    if re.fullmatch(r"[\d.]+[eE][+-]?\d+", text):
        return ConstantValue(float(text), pa.float64())
    raise UnclearError(f"the number {text:.80} is not understood")


def chosen(cases: Sequence[tuple[Expression, Expression]], default: Expression) -> Expression:
    """The value of the first condition that holds, else the default."""
    *values, found = alike([*(value for _, value in cases), default])
    for (condition, _), value in zip(reversed(cases), reversed(values), strict=True):
        found = FunctionCall("if", (condition, value, found), found.type)
    return found


def alike(values: Sequence[Expression]) -> list[Expression]:
    """The values, all of one type; where they are of several, of that of one that is no constant."""
    kinds = [value.type for value in values if not pa.types.is_null(value.type)]
    chosen = next(
        (value.type for value in values if not isinstance(value, ConstantValue)), kinds[0] if kinds else _NULL
    )
    made = [as_type(value, chosen) for value in values]
    found = [value for value in made if value is not None]
    if len(found) < len(values):
        raise UnclearError(f"values of the types {', '.join(sorted({str(kind) for kind in kinds}))} are mixed")
    return found


def comparable(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides as Arrow compares them the way SQL does."""
    if pa.types.is_floating(left.type) != pa.types.is_floating(right.type):
        # Trino makes a real of what meets a real, so that 0.1 is equal to the real 0.1.
        is_real = pa.types.is_float32(left.type) or pa.types.is_float32(right.type)
        wanted = pa.float32() if is_real else pa.float64()
        left, right = (as_type(one, wanted) or one for one in (left, right))
    for one, other in ((left, right), (right, left)):
        if pa.types.is_null(one.type):
            one_typed = ConstantValue(None, other.type)
            return (one_typed, other) if one is left else (other, one_typed)
    if _family(left.type) is None or _family(left.type) != _family(right.type):
        raise UnclearError(f"{left.type} and {right.type} are compared")
    return left, right


def _family(kind: pa.DataType) -> str | None:
    tests = {
        "text": pa.types.is_string,
        "exact": lambda one: pa.types.is_integer(one) or pa.types.is_decimal(one),
        "floating": lambda one: pa.types.is_float64(one) or pa.types.is_float32(one),
        "date": pa.types.is_date32,
        "boolean": pa.types.is_boolean,
        "bytes": pa.types.is_binary,
    }
    return next((name for name, test in tests.items() if test(kind)), None)


def as_type(value: Expression, target: pa.DataType) -> Expression | None:
    """The same value of another type, where no value is lost; else ``None``."""
    if value.type == target:
        return value
    if isinstance(value, ConstantValue):
        if value.value is None:
            return ConstantValue(None, target)
        if _family(value.type) not in ("exact", "floating") or _family(target) not in ("exact", "floating"):
            return None
        try:
            exact = value.value if pa.types.is_floating(value.type) else Decimal(str(value.value))
            made = pc.cast(pa.scalar(exact), target, safe=True)
        except pa.ArrowInvalid:
            return None
        return ConstantValue(made.as_py(), target)
    widens = pa.types.is_integer(value.type) and (target in (_LONG, pa.float64()))
    widens = widens or (pa.types.is_float32(value.type) and target == pa.float64())
    return FunctionCall("cast", (value,), target) if widens else None


def day_of(text: str) -> date:
    """The date of a text."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UnclearError(f"{text!r:.80} is no date") from error
