"""Tables, versions of tables and joins of Trino."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import Expr

from lakeport.trino.building import cast, text
from lakeport.trino.rules import Rule, UntranslatableError
from lakeport.trino.unnest import generated_query, unnest_as_lateral

__all__ = ["RELATION_RULES"]


def _table(node: Expr) -> Expr | None:
    for key, value in node.args.items():
        if value and key not in ("this", "db", "catalog", "alias", "joins", "version"):
            raise UntranslatableError(node, f"{key} is not translated", "")
    if not isinstance(node.this, exp.Identifier):
        raise UntranslatableError(node, "table functions are not translated", "")
    return None


def _version(node: Expr) -> Expr | None:
    """``FOR VERSION AS OF`` and ``FOR TIMESTAMP AS OF``, which Spark has without ``FOR``."""
    moment = node.args.get("expression")
    if node.args.get("kind") != "AS OF" or moment is None:
        raise UntranslatableError(node, "only AS OF is translated", "")
    if node.name == "VERSION":
        if not isinstance(moment, exp.Literal):
            raise UntranslatableError(node, "the version has to be a literal", "write a number or a text")
        return None
    if isinstance(moment, exp.Cast) and moment.this.is_string:
        # Spark reads a zone in the text, and takes the session's without one, as Trino does.
        node.set("expression", cast(text(moment.this.name), "TIMESTAMP"))
        return None
    return None


def _with(node: Expr) -> Expr | None:
    if node.args.get("recursive"):
        raise UntranslatableError(node, "WITH RECURSIVE is not translated", "")
    return None


def _from(node: Expr) -> Expr | None:
    if isinstance(node.this, exp.Unnest):
        node.set("this", generated_query(node.this))
    return None


RELATION_RULES: dict[str, Rule] = {
    "From": _from,
    "Join": unnest_as_lateral,
    "Table": _table,
    "Version": _version,
    "With": _with,
}
"""By the names of sqlglot's classes."""
