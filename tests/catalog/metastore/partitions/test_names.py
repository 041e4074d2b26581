"""Partition names. What Hive itself answers is compared in test_interoperability."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.metastore.partitions.names import make_partition_name, parse_partition_name, prune_partition_names
from connector_spi.errors import MetastoreError
from connector_spi.partition_names import DEFAULT_PARTITION, unescape_path_name
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet


def test_reads_escapes() -> None:
    assert parse_partition_name("a=1/b=x%20y%2Fz") == (("a", "1"), ("b", "x y/z"))
    assert parse_partition_name("a%3Db=c=d") == (("a=b", "c=d"),)
    assert parse_partition_name(f"a={DEFAULT_PARTITION}") == (("a", DEFAULT_PARTITION),)


@pytest.mark.parametrize(
    ("text", "expected"), [("100%", "100%"), ("%zz", "%zz"), ("%4", "%4"), ("%41%", "A%"), ("%e9", "é")]
)
def test_leaves_what_is_no_escape(text: str, expected: str) -> None:
    assert unescape_path_name(text) == expected


@pytest.mark.parametrize("name", ["", "a", "a=1/b", "=1"])
def test_refuses_what_is_no_name(name: str) -> None:
    with pytest.raises(MetastoreError, match="key=value"):
        parse_partition_name(name)


def test_wants_a_value_for_each_key() -> None:
    with pytest.raises(MetastoreError, match="1 values"):
        make_partition_name(["a", "b"], ["1"])


@pytest.mark.slow
@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_any_values_come_back(values: list[str]) -> None:
    keys = [f"k{position}" for position in range(len(values))]
    assert [value for _, value in parse_partition_name(make_partition_name(keys, values))] == values


def _kept(text: str, domain: Domain) -> bool:
    name = make_partition_name(["k"], [text])
    return prune_partition_names([name], TupleDomain.with_column_domains({"k": domain})) == [name]


def _one(arrow: pa.DataType, value: Value) -> Domain:
    return Domain.single_value(arrow, value)


@pytest.mark.parametrize(
    ("text", "domain", "kept"),
    [
        ("5", _one(pa.int32(), 5), True),
        ("05", _one(pa.int32(), 5), True),
        ("+5", _one(pa.int32(), 5), True),
        ("6", _one(pa.int32(), 5), False),
        # Not a number, or too great for the type: engines read NULL, or fail; not for us to say.
        ("five", _one(pa.int32(), 5), True),
        ("99999999999", _one(pa.int32(), 5), True),
        ("1_0", _one(pa.int32(), 5), True),
        (DEFAULT_PARTITION, _one(pa.int32(), 5), False),
        (DEFAULT_PARTITION, Domain.only_null(pa.int32()), True),
        (DEFAULT_PARTITION, Domain.only_null(pa.string()), True),
        (DEFAULT_PARTITION, _one(pa.string(), DEFAULT_PARTITION), True),
        (DEFAULT_PARTITION, _one(pa.string(), "x"), False),
        ("x", Domain.only_null(pa.string()), False),
        # char(3) compares without the blanks at the end.
        ("x  ", _one(pa.string(), "x"), True),
        ("x", _one(pa.string(), "x  "), True),
        ("1.50", _one(pa.decimal128(5, 2), Decimal("1.5")), True),
        ("1.51", _one(pa.decimal128(5, 2), Decimal("1.5")), False),
        ("1.505", _one(pa.decimal128(5, 2), Decimal("1.5")), True),
        ("2024-02-29", _one(pa.date32(), date(2024, 2, 29)), True),
        ("2024-02-28", _one(pa.date32(), date(2024, 2, 29)), False),
        ("20240228", _one(pa.date32(), date(2024, 2, 29)), True),
        ("2024-02-30", _one(pa.date32(), date(2024, 2, 29)), True),
        ("2024-02-29 01:02:03.5", _one(pa.timestamp("us"), datetime(2024, 2, 29, 1, 2, 3, 500_000)), True),
        ("2024-02-29 01:02:03", _one(pa.timestamp("us"), datetime(2024, 2, 29, 1, 2, 4)), False),
        ("true", _one(pa.bool_(), True), True),
        ("FALSE", _one(pa.bool_(), True), False),
        ("yes", _one(pa.bool_(), True), True),
        ("1.5", _one(pa.float64(), 2.5), True),
    ],
)  # fmt: skip
def test_keeps_a_partition_unless_it_surely_does_not_match(text: str, domain: Domain, kept: bool) -> None:
    assert _kept(text, domain) is kept


def test_any_key_may_exclude_and_names_keep_their_order() -> None:
    names = ["ds=2/n=1", "ds=1/n=2", "ds=1/n=1", "odd"]
    below = ValueSet.of_ranges(pa.int64(), [Range.less_than(pa.int64(), 2)])
    predicate = TupleDomain.with_column_domains({"n": Domain.create(below, False)})
    assert prune_partition_names(names, predicate) == ["ds=2/n=1", "ds=1/n=1", "odd"]
    assert prune_partition_names(names, TupleDomain.none()) == []
    assert prune_partition_names(names, TupleDomain.all()) == names
