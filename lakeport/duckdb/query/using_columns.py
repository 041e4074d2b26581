"""``SELECT *`` of joins with ``USING``: Spark gives the columns of ``USING`` first, sqlglot where they stand."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.duckdb.refusal import refused

__all__ = ["note_using", "using_first"]

_USING = "lakeport_using"


def note_using(tree: Expr) -> None:
    """Marks queries whose ``*`` means columns of ``USING``.

    Raises:
        NotSupportedError: There are other results beside such a ``*``, another ``*`` may mean its columns, or the
            join is NATURAL.
    """
    starred = [one for one in tree.find_all(exp.Select) if any(isinstance(part, exp.Star) for part in one.expressions)]
    for select in starred:
        first: list[str] = []
        for join in select.args.get("joins") or []:
            if str(join.args.get("method") or "").upper() == "NATURAL":
                raise refused(select, "* of a NATURAL join; write USING, or name the columns")
            names = [one.name.lower() for one in join.args.get("using") or []]
            first = [*names, *(name for name in first if name not in names)]
        if first and select is not tree and len(starred) > 1:
            raise refused(select, "* of a join with USING below another *; name the columns")
        if first and len(select.expressions) > 1:
            raise refused(select, "other results beside * of a join with USING; name the columns")
        if first:
            select.meta[_USING] = first


def using_first(tree: Expr) -> None:
    """Puts the columns of ``USING`` first, where ``*`` is written out; changes the queries."""
    for select in tree.find_all(exp.Select):
        first: list[str] = select.meta.pop(_USING, [])
        if first and not select.is_star:
            found = list(select.expressions)
            keys = [next(one for one in found if one.alias_or_name.lower() == name) for name in first]
            select.set("expressions", [*keys, *(one for one in found if not any(one is key for key in keys))])
