"""Java's properties syntax; expected values follow the text of ``java.util.Properties.load``."""

from __future__ import annotations

import pytest

from catalog.properties_file import parse_properties_text
from connector_spi.errors import InvalidPropertyError


def pairs(text: str) -> list[tuple[str, str, int]]:
    return [(found.key, found.text, found.line) for found in parse_properties_text(text, "x.properties")]


@pytest.mark.parametrize(
    "line", ["Truth = Beauty", "  Truth:Beauty", "Truth         :Beauty", "Truth Beauty", "Truth\tBeauty"]
)
def test_separators(line: str) -> None:
    assert pairs(line) == [("Truth", "Beauty", 1)]


def test_continuation_drops_the_blanks_of_the_next_line_and_keeps_the_first_line_number() -> None:
    text = "# fruit\nfruits   apple, banana, pear, \\\n        cantaloupe, watermelon, \\\n   kiwi, mango\nnext=1"
    assert pairs(text) == [("fruits", "apple, banana, pear, cantaloupe, watermelon, kiwi, mango", 2), ("next", "1", 5)]


def test_a_comment_does_not_go_on() -> None:
    assert pairs("# end \\\na=1\n! b=2\n\n   # c=3\n") == [("a", "1", 2)]


def test_a_key_without_value_is_empty() -> None:
    assert pairs("cheeses") == [("cheeses", "", 1)]


def test_an_even_number_of_backslashes_ends_the_line() -> None:
    assert pairs("path=c:\\\\\nb=2") == [("path", "c:\\", 1), ("b", "2", 2)]


def test_escapes() -> None:
    assert pairs("a\\:b\\=c\\ d = x\\ty\\u00e9\\z") == [("a:b=c d", "x\tyéz", 1)]


def test_value_keeps_separators_and_hashes() -> None:
    assert pairs("uri=thrift://h:9083,k=v#1") == [("uri", "thrift://h:9083,k=v#1", 1)]


def test_line_ends_of_all_systems() -> None:
    assert [line for *_, line in pairs("a=1\r\nb=2\rc=3\n")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=1\nb=2\na=3", "line 3: property 'a' is set already on line 1"),
        ("\n=v", "line 2: expected 'key=value'"),
        ("a=\\u00g1", "line 1: expected four hexadecimal digits"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidPropertyError, match=message) as met:
        pairs(text)
    assert "x.properties" in str(met.value)


def test_values_are_not_in_repr() -> None:
    assert "hunter2" not in repr(parse_properties_text("password=hunter2", "x.properties"))
