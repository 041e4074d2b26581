from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.partition_names import escape_path_name
from connector_spi.predicate import Domain, Range, Value, ValueSet
from connectors.hudi.partition_path import PartitionPaths

TEXT = pa.string()


def paths(
    *fields: tuple[str, pa.DataType], hive_style: bool = True, url_encoded: bool = False, tells_values: bool = True
) -> PartitionPaths:
    return PartitionPaths(fields, tells_values, hive_style, url_encoded)


@pytest.mark.parametrize(
    ("paths_", "path", "expected"),
    [
        (paths(("d", pa.date32()), ("n", pa.int32())), "d=2024-01-01/n=-7", {"d": date(2024, 1, 1), "n": -7}),
        (paths(("a", TEXT), ("b", pa.bool_()), hive_style=False), "x/true", {"a": "x", "b": True}),
        (paths(("de", pa.decimal128(8, 2))), "de=-2.00", {"de": Decimal("-2.00")}),
        # One field takes the whole path, slashes and all.
        (paths(("p", TEXT), hive_style=False), "2024/01/15/10", {"p": "2024/01/15/10"}),
        (paths(("p", TEXT)), "p=a/b", {"p": "a/b"}),
        (paths(("p", TEXT)), "p=a=b", {"p": "a=b"}),
        (paths(("p", TEXT)), "p=__HIVE_DEFAULT_PARTITION__", {"p": None}),
        (paths(("p", TEXT), url_encoded=True), "p=colon%3Az", {"p": "colon:z"}),
        (paths(("p", TEXT), url_encoded=True), "p=q%2525", {"p": "q%25"}),
        (paths(("p", TEXT)), "p=colon%3Az", {"p": "colon%3Az"}),
        (PartitionPaths((("p", TEXT),), True, True, False, bootstrapped=True), "p=colon%3Az", {}),
        (PartitionPaths((("p", TEXT),), True, True, False, bootstrapped=True), "p=plain", {"p": "plain"}),
        # A time is written in more than one way; a date as a number is none.
        (paths(("tm", pa.timestamp("us", "UTC"))), "tm=1704112200000000", {}),
        (paths(("d", pa.date32())), "d=19723", {}),
        # More levels than fields: where a value ends is unknown.
        (paths(("a", TEXT), ("b", TEXT), hive_style=False), "x/y/z", {}),
        (paths(("a", TEXT), ("b", TEXT)), "a=x/c=y", {}),
        (paths(("p", TEXT), tells_values=False), "p=20240101", {}),
        (paths(), "", {}),
    ],
)
def test_values(paths_: PartitionPaths, path: str, expected: dict[str, Value | None]) -> None:
    assert paths_.values(path) == expected


def equal(value: str) -> dict[str, Domain]:
    return {"p": Domain.single_value(TEXT, value)}


def test_folders_on_the_way_are_pruned_by_what_they_begin() -> None:
    one = paths(("p", TEXT), hive_style=False)
    assert one.may_hold("2024", equal("2024/01/01"), complete=False)
    assert one.may_hold("2024/01", equal("2024/01/01"), complete=False)
    assert not one.may_hold("2023", equal("2024/01/01"), complete=False)
    assert not one.may_hold("2024/01/02", equal("2024/01/01"), complete=True)


def test_the_default_partition_holds_null_and_the_empty_text() -> None:
    default = "p=__HIVE_DEFAULT_PARTITION__"
    one = paths(("p", TEXT))
    assert one.may_hold(default, {"p": Domain.only_null(TEXT)}, complete=True)
    assert one.may_hold(default, equal(""), complete=True)
    assert not one.may_hold(default, equal("x"), complete=True)
    number = paths(("p", pa.int32()))
    assert not number.may_hold(default, {"p": Domain.not_null(pa.int32())}, complete=True)


def test_what_is_in_doubt_is_kept() -> None:
    domain = {"p": Domain.single_value(pa.int32(), 1)}
    assert paths(("p", pa.int32())).may_hold("p=one", domain, complete=True)
    assert paths(("p", pa.int32()), tells_values=False).may_hold("p=2", domain, complete=True)
    assert paths(("p", pa.float64())).may_hold("p=2.0", {"p": Domain.single_value(pa.float64(), 1.0)}, complete=True)
    assert paths(("p", TEXT)).may_hold("p=default", equal("x"), complete=True)
    # The domain is of another type than the table's: nothing is compared.
    assert paths(("p", pa.int64())).may_hold("p=2", domain, complete=True)


VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=6)
BOUNDS = st.text("ab/0=", min_size=1, max_size=3)


@given(st.lists(st.one_of(BOUNDS, VALUES), min_size=1, max_size=2), st.booleans(), BOUNDS, BOUNDS, st.booleans())
def test_no_partition_with_a_matching_row_is_left_out(
    values: list[str], hive_style: bool, low: str, high: str, encoded: bool
) -> None:
    """The folders are those that a file system makes of the written path, where it drops empty segments."""
    fields = tuple((f"f{number}", TEXT) for number in range(len(values)))
    texts = [escape_path_name(value) if encoded else value for value in values]
    segments = [f"{name}={text}" if hive_style else text for (name, _), text in zip(fields, texts, strict=True)]
    if any(strange in value for value in values for strange in ("//", "\\")) or any(
        v.startswith("/") for v in values[1:]
    ):
        return
    if len(values) > 1 and not encoded and any("/" in value for value in values):
        # Two values that are not encoded and hold slashes cannot be distinguished.
        return
    folders = [part for part in "/".join(segments).split("/") if part]
    ranges = [Range.between(TEXT, min(low, high), True, max(low, high), True)]
    domain = Domain.create(ValueSet.of_ranges(TEXT, ranges), False)
    read = PartitionPaths(fields, True, hive_style, encoded)
    for number, (name, _) in enumerate(fields):
        if domain.includes_value(values[number]):
            for depth in range(1, len(folders) + 1):
                assert read.may_hold("/".join(folders[:depth]), {name: domain}, complete=depth == len(folders))
