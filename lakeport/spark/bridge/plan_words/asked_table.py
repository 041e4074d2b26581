"""What Spark asks a catalog for when it loads a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.plan_words.reading import plan_words

__all__ = ["AskedTable", "AskedVersion", "read_asked_table", "table_of_words"]

_ORIGIN = "org.apache.spark.sql.catalyst.trees.CurrentOrigin"


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """A version of a table.

    Attributes:
        kind: Spark's class of it: ``AsOfVersion``, ``AsOfTimestamp``, or one that is not known here.
        value: The version's name, or microseconds since 1970.
        text: How Spark says it.
    """

    kind: str
    value: str | int | None
    text: str


@dataclass(frozen=True, slots=True)
class AskedTable:
    """The arguments of ``TableCatalog.loadTable``, of any of its forms.

    Attributes:
        namespace: The schema's names, as written.
        name: The table's name, as written.
        version: An older version; ``None`` for the newest.
        privileges: What the statement writes, such as ``INSERT``; empty for a read.
        sql: The statement, where it writes and is said in SQL.
        options: Read options by name, from Spark 4.3 on.
        statement: The local property of this thread that names the statement; ``None`` for none, or where it was not
            asked for.
    """

    namespace: tuple[str, ...]
    name: str
    version: AskedVersion | None = None
    privileges: tuple[str, ...] = ()
    sql: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    statement: str | None = None


def read_asked_table(jvm: Jvm, ident: JavaObject, context: tuple[object, ...], statement: str) -> AskedTable:
    """Reads the arguments of ``loadTable``.

    Args:
        jvm: The JVM.
        ident: The ``Identifier``.
        context: The other arguments: none, a version's name, microseconds since 1970, a set of privileges to write, or
            from Spark 4.3 on a ``TableContext`` and read options.
        statement: Name of the local property that names the statement.
    """
    first, options = (*context, None, None)[:2]
    version = None
    if isinstance(first, str):
        version = AskedVersion("AsOfVersion", first, first)
    elif isinstance(first, int):
        version = AskedVersion("AsOfTimestamp", first, str(first))
    given = first if isinstance(first, JavaObject) else None
    words = plan_words(jvm)
    if words is None:
        return _asked_one_by_one(jvm, ident, given, options, version)
    return table_of_words(words.table(ident, given, options, statement), version)


def table_of_words(text: str, version: AskedVersion | None = None) -> AskedTable:
    """The arguments of ``loadTable`` in what ``PlanWords.java`` tells, beside a version that comes apart."""
    found = json.loads(text)
    if "time travel" in found:
        kind, name, micros, text = found["time travel"]
        version = AskedVersion(kind, name if micros is None else micros, text)
    return AskedTable(
        tuple(found["namespace"]),
        found["name"],
        version,
        privileges=tuple(sorted(found.get("privileges", ()))),
        sql=found.get("sql"),
        options=found["options"],
        statement=found["statement"],
    )


def _asked_one_by_one(
    jvm: Jvm, ident: JavaObject, context: JavaObject | None, options: object, version: AskedVersion | None
) -> AskedTable:
    privileges: tuple[str, ...] = ()
    sql, given = None, {}
    if context is not None:
        kind = jvm.class_name(context)
        written = context.writePrivileges() if kind == "TableContext" else context
        privileges = tuple(sorted(str(one) for one in jvm.items(written.toArray()))) if written else ()
        if privileges:
            text = jvm.cls(_ORIGIN).get().sqlText()
            sql = str(text.get()) if text.isDefined() else None
        if kind == "TableContext" and context.timeTravel().isPresent():
            version = _version(jvm, context.timeTravel().get())
    if isinstance(options, JavaObject) and not options.isEmpty():
        given = {str(name): str(options.get(name)) for name in options.keySet()}
    namespace = tuple(jvm.texts(ident.namespace()))
    return AskedTable(namespace, str(ident.name()), version, privileges=privileges, sql=sql, options=given)


def _version(jvm: Jvm, asked: JavaObject) -> AskedVersion:
    kind, text = jvm.class_name(asked), str(asked.toString())
    value: str | int | None = None
    if kind == "AsOfVersion":
        value = str(asked.version())
    elif kind == "AsOfTimestamp":
        value = int(asked.micros())
    return AskedVersion(kind, value, text)
