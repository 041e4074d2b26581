"""What a query in DuckDB's own SQL may not name: all that reads something else than the catalogs.

Tables and files are found by name in ``tables.py``. DuckDB has to be asked for nothing else: its table functions read
files, other databases and its own state, and some of its functions do.
"""

from __future__ import annotations

from lakeport.duckdb.own_sql.syntax import Node, below, node_of, not_run, text_of, texts_of

__all__ = ["check_parts"]

TABLE_FUNCTIONS = frozenset({"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"})
"""Those that give rows of their arguments alone."""
_REFUSED = frozenset(
    {
        "add_parquet_key", "col_description", "current_query", "current_setting", "currval", "getenv", "getvariable",
        "in_search_path", "json_deserialize_sql", "json_serialize_plan", "nextval", "obj_description", "set_config",
        "setval", "shobj_description", "write_log",
    }
)  # fmt: skip
_REFUSED_PREFIXES = ("__", "duckdb_", "has_", "inet_", "lakeport_", "pg_", "pragma_")
_HARMLESS = frozenset({"pg_typeof", "pg_size_pretty"})
_READS = ("BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SUBQUERY", "TABLE_FUNCTION")
_PLACES = ("from_table", "left", "right", "source")


def check_parts(document: Node) -> None:
    """Refuses what reads something else than the tables that a query names.

    Raises:
        NotSupportedError: The message names it.
    """
    for node in below(document):
        for place in _PLACES:
            _check_read(node_of(node.get(place)))
        if node.get("type") == "TABLE_FUNCTION":
            name = _name(node_of(node.get("function")))
            if name not in TABLE_FUNCTIONS:
                known = ", ".join(sorted(TABLE_FUNCTIONS))
                raise not_run(
                    f"{name}(...)", f"it reads tables of the catalogs alone; of table functions it has {known}"
                )
        elif node.get("class") in ("FUNCTION", "WINDOW"):
            name = _name(node)
            if name in _REFUSED or (name.startswith(_REFUSED_PREFIXES) and name not in _HARMLESS):
                raise not_run(f"{name}(...)", "it tells or changes the state of the engine")


def _check_read(node: Node) -> None:
    """Refuses what rows come from, if it is not known; expressions and queries are none of it."""
    kind = text_of(node, "type")
    if kind and "class" not in node and kind not in _READS and not kind.endswith("_NODE"):
        raise not_run(
            text_of(node, "show_type") or kind, "write DESCRIBE table, or another statement of docs/local-engine.md"
        )


def _name(function: Node) -> str:
    path = texts_of(node_of(function.get("qualified_name")), "path")
    return (text_of(function, "function_name") or (path[-1] if path else "")).lower()
