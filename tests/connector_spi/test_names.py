from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import (
    CatalogSchemaTableName,
    SchemaTableName,
    SystemTableName,
    parse_name,
    quote_identifier,
)

PARTS = st.lists(st.text(min_size=1), min_size=1, max_size=4)


@given(PARTS)
def test_what_is_quoted_is_read_back(parts: list[str]) -> None:
    assert parse_name(".".join(map(quote_identifier, parts))) == tuple(parts)


@given(PARTS)
def test_double_quotes_are_read_as_in_trino(parts: list[str]) -> None:
    text = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    assert parse_name(text) == tuple(parts)


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("orders", "orders"),
        ("_x1", "_x1"),
        ("Orders", "Orders"),
        ("2024", "`2024`"),
        ("1e5", "`1e5`"),
        ("orders$partitions", "`orders$partitions`"),
        ("a.b", "`a.b`"),
        ("a`b", "`a``b`"),
        ("größe", "`größe`"),
        ("a\n", "`a\n`"),
    ],
)
def test_quoting_follows_spark(name: str, quoted: str) -> None:
    assert quote_identifier(name) == quoted


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hive.sales.orders", ("hive", "sales", "orders")),
        ("hive.sales.orders$partitions", ("hive", "sales", "orders$partitions")),
        ("hive.`a.b`.c", ("hive", "a.b", "c")),
        ("`a``b`", ("a`b",)),
        ('"a""b".c', ('a"b', "c")),
        ("größe", ("größe",)),
    ],
)
def test_names_that_people_write(text: str, parts: tuple[str, ...]) -> None:
    assert parse_name(text) == parts


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "``", "`a", "a`", "`a``", "`a`b", '"a', '""', "a b", " a", "a\n", '`a`"b"']
)
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        parse_name(text)
    assert repr(text) in str(refusal.value)


def test_names_print_as_sql() -> None:
    name = CatalogSchemaTableName("hive", "sales", "orders$partitions")
    assert str(name) == "hive.sales.`orders$partitions`"
    assert str(name.schema_table) == "sales.`orders$partitions`"
    assert parse_name(str(name)) == ("hive", "sales", "orders$partitions")


@pytest.mark.parametrize(
    ("table", "base", "kind"), [("orders$partitions", "orders", "partitions"), ("a$b$files", "a$b", "files")]
)
def test_a_system_table_is_named_after_the_last_dollar(table: str, base: str, kind: str) -> None:
    parsed = SystemTableName.parse(SchemaTableName("sales", table))
    assert parsed == SystemTableName(SchemaTableName("sales", base), kind)


@pytest.mark.parametrize("table", ["orders", "$partitions", "orders$", "$"])
def test_other_tables_are_no_system_tables(table: str) -> None:
    assert SystemTableName.parse(SchemaTableName("sales", table)) is None
