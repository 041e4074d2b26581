"""Other names for catalogs in the text of a view: names alone change, and only those of tables."""

from __future__ import annotations

import pytest

from lakeport.sql.catalog_names import catalogs_in, with_catalogs_renamed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT hive.s.t.id FROM hive.s.t", "SELECT new.s.t.id FROM new.s.t"),
        ("FROM `hive` . s /* x */ . `t`", "FROM new . s /* x */ . `t`"),
        ("SELECT 'hive.s.t', \"hive.s.t\", 'it\\'s hive.s.t', 'a''hive.s.t'", None),
        ("SELECT r'\\', hive.s, r\"hive.s.t\" -- hive.s.t\n/* hive.s.t */", None),
        ("SELECT x.hive.s.t, hive.a, hive, hives.s.t, Hive.s.t FROM t hive", None),
        ("SELECT `hive.s.t`, `a``hive.s.t`", None),
    ],
)
def test_names_of_catalogs(text: str, expected: str | None) -> None:
    assert with_catalogs_renamed(text, {"hive": "new"}) == (text if expected is None else expected)
    assert catalogs_in(text, ["hive", "other"]) == ({"hive"} if expected else set())
