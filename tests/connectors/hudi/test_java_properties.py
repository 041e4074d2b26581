from __future__ import annotations

import pytest

from connectors.hudi.java_properties import parse_java_properties


def test_escapes_that_hudi_writes() -> None:
    text = "#Properties saved\n#Sat Nov 21 10:14:06 UTC 2026\nhoodie.keygen.timebased.input.dateformat=" + (
        "yyyy-MM-dd'T'HH\\:mm\\:ss.SSSZ\nhoodie.table.partition.fields=region\\:SIMPLE,event_ms\\:TIMESTAMP\n"
    )
    assert parse_java_properties(text) == {
        "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
        "hoodie.table.partition.fields": "region:SIMPLE,event_ms:TIMESTAMP",
    }


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("a=b", "a", "b"),
        ("a = b ", "a", "b "),
        ("a:b", "a", "b"),
        ("a b c", "a", "b c"),
        ("a\t=\tb", "a", "b"),
        ("a", "a", ""),
        ("a=", "a", ""),
        ("a==b", "a", "=b"),
        ("  a=b", "a", "b"),
        ("a\\=b=c", "a=b", "c"),
        ("a\\ b=c", "a b", "c"),
        ("a=\\u00fc\\uD83D\\uDE00", "a", "ü😀"),
        ("a=x\\ty\\nz", "a", "x\ty\nz"),
        ("a=c\\:\\\\d", "a", "c:\\d"),
        ("a=b\\\n   c", "a", "bc"),
        ("a=b\\\\\nc=d", "a", "b\\"),
        ("a=b\\\n# not a comment", "a", "b# not a comment"),
        ("a=b\r\nz=1", "a", "b"),
        ("a=1\na=2", "a", "2"),
        ("! comment\na=b", "a", "b"),
        ("a=b \\q", "a", "b q"),
    ],
)
def test_lines(line: str, key: str, value: str) -> None:
    """As ``java.util.Properties`` documents them."""
    assert parse_java_properties(line)[key] == value


def test_comments_and_blank_lines_hold_nothing() -> None:
    assert parse_java_properties("#a=b\n!c=d\n\n   \n  # e=f\n") == {}


def test_a_broken_unicode_escape_is_an_error() -> None:
    with pytest.raises(ValueError, match="malformed"):
        parse_java_properties("a=\\u12")
