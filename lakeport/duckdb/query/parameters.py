"""Values of parameters in a statement: ``?`` in their order, ``:name`` by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.expressions import Expr

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.duckdb.query.queries import parsed
from lakeport.duckdb.refusal import refused
from lakeport.engine import Parameters

__all__ = ["parameter_value", "parsed_with"]

_NUMBERED = "lakeport_"
_LARGEST_BIGINT = 2**63 - 1


def parsed_with(text: str, given: Parameters) -> Expr:
    """A statement in Spark's SQL, with values in the places of its parameters.

    Args:
        text: The statement.
        given: The values: ``None``, truth values, numbers, texts, dates and times.

    Raises:
        InvalidArgumentError: It is no statement, or a parameter has no value.
        NotSupportedError: A value is of another type.
    """
    statement = parsed(_numbered(text))
    for mark in [one for one in statement.walk() if isinstance(one, exp.Placeholder)]:
        name = mark.name
        position = name.removeprefix(_NUMBERED)
        if position != name and position.isdecimal():
            value, written = _by_position(int(position), given), f"parameter {int(position) + 1}"
        else:
            value, written = _by_name(name, given), f":{name}"
        mark.replace(_literal(value, f"the value of {written}"))
    return statement


def parameter_value(name: str, given: Parameters) -> Expr:
    """The value of a parameter as it is written: of a number, counted from 1, or of a name.

    Raises:
        InvalidArgumentError: It has no value.
        NotSupportedError: The value is of another type.
    """
    value = _by_position(int(name) - 1, given) if name.isdecimal() else _by_name(name, given)
    return _literal(value, f"the value of parameter {name}")


def _numbered(text: str) -> str:
    """Names the parameters without a name by their places in the text, which the parsed statement does not know."""
    if "?" not in text:
        return text
    try:
        tokens = sqlglot.tokenize(text, dialect="spark")
    except SqlglotError:
        return text  # the parser says what is wrong
    made: list[str] = []
    end = 0
    for number, token in enumerate(one for one in tokens if one.token_type.name == "PLACEHOLDER"):
        made += [text[end : token.start], f":{_NUMBERED}{number}"]
        end = token.end + 1
    return "".join([*made, text[end:]])


def _by_position(position: int, given: Parameters) -> object:
    if isinstance(given, Sequence) and position < len(given):
        return given[position]
    count = len(given) if isinstance(given, Sequence) else 0
    raise InvalidArgumentError(f"there are {count} values for the parameters '?' of the statement; give args=[...]")


def _by_name(name: str, given: Parameters) -> object:
    if isinstance(given, Mapping) and name in given:
        return given[name]
    near = closest(name, given) if isinstance(given, Mapping) else ""
    raise InvalidArgumentError(f"the parameter :{name} has no value{near}; give args={{'{name}': ...}}")


def _literal(value: object, place: str) -> Expr:
    """A value as Spark's ``lit`` takes it."""
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int) and abs(value) <= _LARGEST_BIGINT:
        return _signed(str(abs(value)), value < 0)
    if isinstance(value, float) and math.isfinite(value):
        text = repr(abs(value))
        return _signed(text if "e" in text else f"{text}E0", math.copysign(1, value) < 0)
    if isinstance(value, Decimal) and value.is_finite():
        return _decimal(value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return exp.cast(exp.Literal.string(value.astimezone(UTC).isoformat(" ", "microseconds")), "TIMESTAMPTZ")
    if isinstance(value, date) and not isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    raise refused(f"{value!r:.80}", f"{place} is a {type(value).__name__}, of which it makes no parameter")


def _decimal(value: Decimal) -> Expr:
    sign, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    precision = max(len(digits) + max(int(exponent), 0), scale, 1)
    made = exp.cast(exp.Literal.string(f"{abs(value):f}"), f"DECIMAL({precision}, {scale})")
    return exp.Neg(this=made) if sign else made


def _signed(text: str, is_negative: bool) -> Expr:
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if is_negative else literal
