"""Values of every type that Hive 4.0.1 itself was asked to show as every other type.

``hive_coercions.json`` holds values by their type and, for each kind of format, what Hive answered: ``orc`` for ORC
files read by another schema, ``parquet`` for Parquet files (its vectorized reader, which is on by default), ``rows``
for the rows of a SerDe brought from a partition's types to its table's. ``null`` in place of a list is a refusal.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connectors.hive.formats.coercions.rules import ORC_RULES, PARQUET_RULES, ROW_RULES
from connectors.hive.schema.text_types import apply_text_rule, text_rule
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.type_adaptation import CastRules, adaptation

_Answers = Mapping[str, Mapping[str, Mapping[str, Sequence[str | None] | None]]]
_TOLD = json.loads((Path(__file__).parent / "hive_coercions.json").read_text())
_VALUES: Mapping[str, Sequence[str]] = _TOLD["values"]
_ANSWERS: _Answers = _TOLD["answers"]
_RULES = {"orc": ORC_RULES, "parquet": PARQUET_RULES, "rows": ROW_RULES}
_INSTANT = "timestamp with local time zone"
_FLOATS, _INTEGERS = ("float", "double"), ("tinyint", "smallint", "int", "bigint")
_TEXTS = ("string", "varchar(6)", "char(6)")


@pytest.mark.parametrize(
    ("kind", "source"), [(kind, source) for kind in _RULES for source in _VALUES if source in _ANSWERS[kind]]
)
def test_values_are_those_of_hive(kind: str, source: str) -> None:
    values = _array(_VALUES[source], source)
    for target, answers in _ANSWERS[kind][source].items():
        found = _cast(values, source, target, kind)
        refused = answers is None or _garbage(kind, source, target)
        if found is None or refused:
            agreed = (found is None) == refused or _beyond(kind, source, target)
            assert agreed, f"{source} as {target}: {'refused' if found is None else 'read'}, and not so by Hive"
            continue
        for value, mine, hives in zip(_VALUES[source], _shown(found, target), answers or (), strict=True):
            if mine != _expected(hives, target) and not _on_purpose(kind, source, target, value, mine, hives):
                pytest.fail(f"{value!r} of {source} as {target}: {mine!r}, and by Hive {hives!r}")


def _cast(values: pa.Array, source: str, target: str, kind: str) -> pa.Array | None:
    arrow = parse_hive_type(target)
    try:
        function = adaptation(values.type, arrow, TimeConventions(), "v", rules=_RULES[kind])
    except NotSupportedError:
        return None
    # In a slice and with a NULL before and behind.
    nulls = pa.nulls(2, values.type)
    padded = pa.concat_arrays([nulls, values, nulls]).slice(1, len(values) + 2)
    result = function(padded) if function else padded
    result.validate(full=True)
    assert result.type == arrow
    assert not result[0].is_valid
    assert not result[-1].is_valid
    result = result.slice(1, len(values))
    rule = text_rule(target)
    return result if rule is None else apply_text_rule(result, rule)


@pytest.mark.parametrize("rules", [ORC_RULES, ROW_RULES], ids=["orc", "rows"])
def test_times_after_2255_keep_their_digits_as_doubles(rules: CastRules) -> None:
    # Hive's q-test schema_evol_text_nonvec_part_all_primitive; the microseconds alone are more than a double holds.
    times = pa.array(["5966-07-09 03:30:50.597"]).cast(pa.timestamp("us"))
    function = adaptation(times.type, pa.float64(), TimeConventions(), "c", rules)
    assert function is not None
    assert function(times).to_pylist() == [126117919850.597]


def _array(texts: Sequence[str], hive_type: str) -> pa.Array:
    arrow = parse_hive_type(hive_type)
    if pa.types.is_boolean(arrow):
        return pa.array([text == "true" for text in texts])
    if pa.types.is_floating(arrow):
        return pa.array([float(text) for text in texts], pa.float64()).cast(arrow, safe=False)
    if pa.types.is_decimal(arrow):
        return pa.array([Decimal(text) for text in texts], arrow)
    if pa.types.is_integer(arrow):
        return pa.array([int(text) for text in texts], arrow)
    if pa.types.is_binary(arrow):
        return pa.array([text.encode() for text in texts], arrow)
    if hive_type == _INSTANT:
        return pa.array([text.removesuffix(" UTC") for text in texts]).cast(pa.timestamp("us")).cast(arrow)
    if pa.types.is_temporal(arrow):
        return pa.array(texts, pa.string()).cast(arrow)
    if hive_type == "string":
        return pa.array(texts, pa.string())
    cut = [text[:6].rstrip(" ") if hive_type == "char(6)" else text[:6] for text in texts]
    return pa.array(cut, pa.string())


def _shown(array: pa.Array, hive_type: str) -> list[object]:
    if pa.types.is_temporal(array.type):
        return [None if value is None else value.rstrip("Z") for value in array.cast(pa.string()).to_pylist()]
    if pa.types.is_float32(array.type):
        return [None if value is None else str(np.float32(value)) for value in array.to_pylist()]
    if pa.types.is_floating(array.type):
        return [None if value is None else str(value) for value in array.to_pylist()]
    return list(array.to_pylist())


def _expected(text: str | None, hive_type: str) -> object:
    arrow = parse_hive_type(hive_type)
    if text is None:
        return None
    if pa.types.is_boolean(arrow):
        return text == "true"
    if pa.types.is_integer(arrow):
        return int(text)
    if pa.types.is_floating(arrow):
        number = float(text)
        return str(np.float32(number)) if arrow == pa.float32() else str(number)
    if pa.types.is_decimal(arrow):
        return Decimal(text)
    if pa.types.is_binary(arrow):
        return base64.b64decode(text)
    if pa.types.is_timestamp(arrow):
        whole, _, fraction = text.removesuffix(" UTC").partition(".")
        # Hive has nanoseconds.
        return f"{whole}.{fraction.ljust(6, '0')[:6]}"
    return text


def _garbage(kind: str, source: str, target: str) -> bool:
    """Pairs of Parquet that Hive reads by the bytes below, and are refused here."""
    if kind != "parquet":
        return False
    numbers = (*_INTEGERS, *_FLOATS, *(one for one in _VALUES if one.startswith("decimal")))
    from_texts = source in (*_TEXTS, "binary") and target.startswith("decimal")
    dates = (source in numbers and target == "date") or (source == "date" and target in numbers)
    raw = target == "binary" and (source.startswith("decimal") or source == "timestamp")
    return from_texts or dates or raw or (source == "timestamp" and target.startswith("decimal"))


def _beyond(kind: str, source: str, target: str) -> bool:
    """Pairs in which Hive and this reader do not take the same ones."""
    # Hive 4.0.1 cannot read the instants that it writes to ORC.
    instants = kind == "orc" and source == _INSTANT and target in ("timestamp", _INSTANT)
    # A wall-clock time is no instant without a zone that nobody names; Hive takes that of its session.
    zones = kind == "rows" and _INSTANT in (source, target)
    return instants or zones or (kind == "rows" and source in _TEXTS and target == "boolean")


def _on_purpose(kind: str, source: str, target: str, value: str, mine: object, hives: str | None) -> bool:
    """Whether what comes here is other than Hive's answer for a reason that the docs give."""
    lossy = target in (*_INTEGERS, "timestamp")
    if kind == "rows" and lossy and mine is None:
        # Hive cuts the upper bits off, and shows other numbers and times; "." is 0, and a time alone is of today.
        return hives is not None
    if kind == "rows" and source == "bigint" and target == "boolean":
        return int(value) % (1 << 32) == 0
    if source in _FLOATS and value == "2.14748365E9":
        # Java 17 writes one digit more than it needs.
        return str(mine).startswith("21474836") or str(mine).startswith("2.1474836E9")
    if kind == "orc" and source == "bigint" and target == "timestamp":
        return mine is None or int(value) >= 253402300800
    if kind == "rows" and source == "bigint" and target == "timestamp":
        return int(value) >= 253402300800000
    if kind == "orc" and source == "binary" and target in _TEXTS:
        return mine == value[:6] or mine == value or str(mine).rstrip() == value
    if kind == "parquet" and source.startswith("decimal") and target in _INTEGERS and mine is None:
        # Hive looks for a fraction, and for an overflow, in a double.
        return "." in value or abs(int(value)) > 1 << 63 or int(value) == 1 << 63
    if kind == "parquet" and target == "float" and hives is None:
        # Hive takes what is no number of the float's range for an overflow, and so 0, NaN and infinity.
        return float(value) == 0 or value in ("NaN", "Infinity", "-Infinity")
    if kind == "parquet" and source == "date" and target in _TEXTS:
        return str(mine) == value[: 10 if target == "string" else 6]
    if source == "char(6)" and target == "binary":
        return mine == value[:6].rstrip().encode()
    if kind == "rows" and source == "timestamp" and target.startswith("decimal"):
        return value.startswith("9999")
    return (
        kind == "rows" and source in ("varchar(6)", "char(6)") and target in (*_INTEGERS, "date") and mine in (1, None)
    )
