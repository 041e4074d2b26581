"""Hive's ``RegexSerDe``: the groups of a regular expression are the columns. Executor side."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.lazy.parameters import python_charset, to_utf8
from connectors.hive.formats.row_serde import RowDecoder, RowLayout, RowSerDe
from connectors.hive.formats.text.java_regex import JavaRegex, java_regex
from connectors.hive.formats.text.times import parse_dates, timestamp_reader
from connectors.hive.formats.text.values import as_strings, parse_decimals, parse_floats, parse_integers, real_nulls

__all__ = ["RegexSerDe"]

_PARSE_TIMESTAMPS = timestamp_reader()


class RegexSerDe(RowSerDe):
    """A record that does not match is a row of NULLs, and so is a value that its type does not hold."""

    classes = frozenset({"org.apache.hadoop.hive.serde2.RegexSerDe"})

    def decoder(self, layout: RowLayout) -> RowDecoder:
        text = layout.properties.get("input.regex")
        if text is None:
            raise _refused(f"{layout.where} has no input.regex, which RegexSerDe needs")
        expression = java_regex(text, layout.where)
        if expression.groups != len(layout.declared):
            raise _refused(
                f"{layout.where} has {len(layout.declared)} columns and {expression.groups} groups in input.regex "
                f"{text!r}; expected as many groups as columns"
            )
        for field in layout.declared:
            if pa.types.is_nested(field.type) or pa.types.is_binary(field.type) or _is_instant(field.type):
                raise _refused(f"{layout.where} has the column '{field.name}' of {field.type}; RegexSerDe has no such")
        ignore_case = layout.properties.get("input.regex.case.insensitive", "").lower() == "true"
        charset = python_charset(layout.properties.get("serialization.encoding", ""), layout.where)

        def decode(records: pa.Array) -> Sequence[pa.Array]:
            texts = as_strings(to_utf8(records, charset))
            groups, matched = _groups(texts, expression, ignore_case, layout.wanted)
            types = [layout.declared.field(at).type for at in layout.wanted]
            return [_value(group, matched, arrow) for group, arrow in zip(groups, types, strict=True)]

        return decode


def _groups(
    texts: pa.Array, expression: JavaRegex, ignore_case: bool, wanted: Sequence[int]
) -> tuple[list[pa.Array], pa.Array]:
    """The texts of the groups that are asked, and which records match."""
    if expression.linear and not ignore_case:
        # \z is RE2's end of the text, where Python has \Z.
        pattern = rf"(?s)\A(?:{expression.pattern})\z".replace(r"\Z", r"\z")
        try:
            found = pc.extract_regex(texts, pattern)
            matched = found.is_valid()
            return [real_nulls(pc.struct_field(found, f"g{at + 1}"), matched) for at in wanted], matched
        except pa.ArrowInvalid:
            # Too large for RE2.
            pass
    # Case is that of ASCII alone for Java, and with this flag for Python.
    compiled = re.compile(expression.pattern, re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0))
    matches = [None if text is None else compiled.fullmatch(text) for text in texts.to_pylist()]
    groups = [
        pa.array([None if match is None else match.group(at + 1) for match in matches], pa.string()) for at in wanted
    ]
    return groups, pa.array([match is not None for match in matches], pa.bool_())


def _value(texts: pa.Array, matched: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_integer(target):
        # Integer.valueOf takes no fraction, and digits of all scripts.
        digits = real_nulls(texts, pc.match_substring_regex(texts, r"^[+-]?\p{Nd}+$"))
        if not bool(pc.all(pc.string_is_ascii(digits), min_count=0).as_py()):
            digits = pa.array(
                [None if text is None else _ascii_digits(text) for text in digits.to_pylist()], pa.string()
            )
        return parse_integers(digits, target)
    if pa.types.is_floating(target):
        return parse_floats(texts, target)
    if pa.types.is_boolean(target):
        # Boolean.valueOf: all other words are false, and so is a group without a value.
        return real_nulls(pc.fill_null(pc.equal(pc.utf8_lower(texts), "true"), False), matched)
    if pa.types.is_decimal(target):
        return parse_decimals(texts, target)
    if pa.types.is_date(target):
        return parse_dates(texts)
    return _PARSE_TIMESTAMPS(texts) if pa.types.is_timestamp(target) else texts


def _ascii_digits(text: str) -> str:
    return "".join(char if char in "+-" else str(int(char)) for char in text)


def _is_instant(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(arrow) and arrow.tz is not None)


def _refused(message: str) -> NotSupportedError:
    return NotSupportedError(message, error_codes.HIVE_UNSUPPORTED_FORMAT)
