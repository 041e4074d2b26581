"""Queries as DuckDB's own parser sees them: ``json_serialize_sql``, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator

import duckdb

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.error_codes import UNSUPPORTED_LOCAL_SQL

__all__ = ["Node", "below", "node_of", "nodes_of", "not_run", "parsed", "text_of", "texts_of", "written"]

Node = dict[str, object]
"""A part of a query; what it is says ``class``, of tables and queries ``type``."""


def parsed(connection: duckdb.DuckDBPyConnection, text: str) -> Node:
    """One query.

    Raises:
        InvalidArgumentError: DuckDB does not understand it.
        NotSupportedError: It is another statement, or more than one.
    """
    [found] = connection.execute("SELECT json_serialize_sql($text)", {"text": text}).fetchall()
    document: Node = json.loads(str(found[0]))
    if document.get("error"):
        message = str(document.get("error_message")).splitlines()[0]
        if document.get("error_type") == "not implemented":
            raise not_run(text.strip(), f"{message} Of PIVOT, write FROM (PIVOT ... ON column IN (values) ...)")
        raise InvalidArgumentError(f"the statement is not understood: {message}")
    if len(nodes_of(document.get("statements"))) != 1:
        raise not_run(text.strip(), "it is more than one statement")
    return document


def written(connection: duckdb.DuckDBPyConnection, document: Node) -> str:
    """The text of a query."""
    [found] = connection.execute("SELECT json_deserialize_sql($given)", {"given": json.dumps(document)}).fetchall()
    return str(found[0])


def not_run(what: str, reason: str) -> NotSupportedError:
    """The error for what the dialect has not got."""
    shown = what if len(what) <= 100 else what[:100] + "..."
    return NotSupportedError(f"{shown} is not run in the dialect duckdb: {reason}", UNSUPPORTED_LOCAL_SQL)


def below(node: object) -> Iterator[Node]:
    """All parts of a query, itself too, the whole before its parts."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from below(value)
    elif isinstance(node, list):
        for one in node:
            yield from below(one)


def node_of(value: object) -> Node:
    """A value that is a part, or an empty one."""
    return value if isinstance(value, dict) else {}


def nodes_of(value: object) -> list[Node]:
    """A value that is a list of parts, or an empty one."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(node: Node, key: str) -> str:
    """A value that is a text; empty where there is none."""
    value = node.get(key)
    return value if isinstance(value, str) else ""


def texts_of(node: Node, key: str) -> list[str]:
    """A value that is a list of texts, or an empty one."""
    value = node.get(key)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
