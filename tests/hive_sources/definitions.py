"""Statements of Hive that define tables and that Spark does not take: what they change in the metastore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from catalog.metastore.model import FieldSchema, Parameters, Table
from connectors.hive.definitions.instants import INSTANT_COLUMNS

__all__ = ["altered", "altered_name", "created_for_spark"]

_TEXT = r"'((?:\\.|[^'\\])*)'|\"((?:\\.|[^\"\\])*)\""
_PAIR = re.compile(rf"(?:{_TEXT})\s*=\s*(?:{_TEXT})")
_ALTER = re.compile(
    r"alter\s+table\s+`?(\w+)`?\s+(add|replace|set\s+serdeproperties|set\s+serde)\s*(columns)?\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_NULL = re.compile(rf"\bnull\s+defined\s+as\s+(?:{_TEXT})", re.IGNORECASE)
_INSTANT = re.compile(r"`?(\w+)`?\s+timestamp\s+with\s+local\s+time\s+zone\b", re.IGNORECASE)
_PROPERTIES = re.compile(r"\btblproperties\s*\(", re.IGNORECASE)
# Hive ignores the delimiters of a table in a format that has none.
_DELIMITED = re.compile(
    r"\brow\s+format\s+delimited(?:\s+(?:fields|collection\s+items|map\s+keys|lines|escaped)\s+"
    rf"(?:terminated\s+)?by\s+(?:{_TEXT}))*(?=.*\bstored\s+as\s+(?:avro|orc|parquet|rcfile))",
    re.IGNORECASE | re.DOTALL,
)


def created_for_spark(text: str) -> str:
    """CREATE TABLE without what Spark refuses or ignores."""
    text = _DELIMITED.sub("", text)
    properties = []
    if (found := _NULL.search(text)) is not None:
        text = _NULL.sub("", text)
        properties.append(f"'serialization.null.format'='{found[1] or found[2] or ''}'")
    if instants := _INSTANT.findall(text):
        properties.append(f"'{INSTANT_COLUMNS}'='{','.join(instants)}'")
    if not properties:
        return text
    added = f"TBLPROPERTIES ({', '.join(properties)}"
    more = _PROPERTIES.sub(lambda _: f"{added}, ", text, count=1)
    return more if more != text else f"{text}\n{added})"


def altered_name(text: str) -> str | None:
    """The table of an ALTER TABLE that ``altered`` knows; ``None`` for other statements, and if partitions change."""
    found = _ALTER.match(text)
    if found is None or re.search(r"\bcascade\s*$|\bpartition\s*\(", text, re.IGNORECASE):
        return None
    if found[2].lower() in ("add", "replace") and not found[3]:
        return None
    return found[1].lower()


def altered(table: Table, text: str) -> Table:
    """A table after such a statement: its own entry alone, as without CASCADE."""
    found = _ALTER.match(text)
    assert found is not None
    change, rest = " ".join(found[2].lower().split()), found[4].strip()
    storage = table.storage
    if change in ("add", "replace"):
        columns = tuple(_columns(rest.strip().removeprefix("(").removesuffix(")")))
        kept = storage.columns if change == "add" else ()
        return replace(table, storage=replace(storage, columns=(*kept, *columns)))
    serde = storage.serde
    pairs = {one[1] or one[2] or "": _plain(one[3] or one[4] or "") for one in _PAIR.finditer(rest)}
    if change == "set serde":
        name = re.match(_TEXT, rest)
        assert name is not None
        serde = replace(serde, serialization_lib=name[1] or name[2])
    serde = replace(serde, parameters=Parameters.of({**serde.parameters, **pairs}))
    return replace(table, storage=replace(storage, serde=serde))


def _columns(text: str) -> Iterator[FieldSchema]:
    depth, held = 0, ""
    for sign in (*(found[0] for found in re.finditer(rf"{_TEXT}|.", text, re.DOTALL)), ","):
        depth += (sign in ("(", "<")) - (sign in (")", ">"))
        if sign == "," and depth == 0:
            plain = re.sub(rf"\s+comment\s+(?:{_TEXT})\s*$", "", held.strip(), flags=re.IGNORECASE)
            name, kind = plain.split(None, 1)
            yield FieldSchema(name.strip("`").lower(), "".join(kind.split()).lower().replace("numeric(", "decimal("))
            held = ""
        else:
            held += sign


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
