"""Procedures of connectors as Spark procedures: ``CALL catalog.system.name(argument => value)``.

One more is ours: statements about privileges, which Spark's parser does not know, come as a call of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from lakeport.planning.procedures import run_procedure
from lakeport.spark.bridge.jvm import CATALOG, READ, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.rows import internal_row, python_value
from lakeport.spark.bridge.types import spark_schema_json, spark_type_json
from lakeport.sql.grants.call import GRANTS
from lakeport.sql.grants.request import grant_request
from lakeport.sql.grants.running import run_grant
from lakeport.transactions.statement import CatalogAccess

__all__ = ["LocalRowsProxy", "ProcedureProxy", "grants_procedure"]

_INTERNAL_ROW = "org.apache.spark.sql.catalyst.InternalRow"

_PROCEDURES = CATALOG + "procedures."


class ProcedureProxy(Proxy):
    """One procedure; Spark checks names and types of the arguments."""

    class Java:
        implements: ClassVar[list[str]] = [_PROCEDURES + "UnboundProcedure", _PROCEDURES + "BoundProcedure"]

    def __init__(self, jvm: Jvm, procedure: Procedure, access: CatalogAccess) -> None:
        super().__init__(jvm)
        self._procedure = procedure
        self._access = access

    def name(self) -> str:
        """The procedure's name."""
        return self._procedure.name

    def description(self) -> str:
        """A description in one sentence."""
        return self._procedure.description

    def bind(self, inputType: JavaObject) -> ProcedureProxy:
        """The procedure itself: each has one form."""
        return self

    def isDeterministic(self) -> bool:
        """No: procedures have side effects."""
        return False

    def parameters(self) -> JavaObject:
        """The arguments, with defaults as SQL."""
        parameter = self._jvm.cls(_PROCEDURES + "ProcedureParameter")
        built = []
        for argument in self._procedure.arguments:
            data_type = self._jvm.data_type(spark_type_json(argument.type, argument.name))
            builder = getattr(parameter, "in")(argument.name, data_type).comment(argument.description)
            if not argument.required:
                builder = builder.defaultValue(_sql(argument.default))
            built.append(builder.build())
        return self._jvm.array(_PROCEDURES + "ProcedureParameter", built)

    def call(self, row: JavaObject) -> JavaObject:
        """Runs the procedure; returns its rows as a scan."""
        arguments = {
            argument.name: python_value(row, index, argument.type)
            for index, argument in enumerate(self._procedure.arguments)
        }
        result = run_procedure(self._access, self._procedure, arguments)  # type: ignore[arg-type]
        scans = self._jvm.cls("java.util.ArrayList")()
        if result.num_columns or self._procedure.name != GRANTS[-1]:
            scans.add(LocalRowsProxy(self._jvm, result))
        return scans.iterator()


def grants_procedure(access: CatalogAccess) -> Procedure:
    """Runs a statement about privileges, as ``grant_call`` words it; who may do what, the statement asks itself."""

    def run(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        text, *current = json.loads(bytes.fromhex(str(arguments["statement"])))
        request = grant_request(text)
        if request is None:
            raise InvalidArgumentError(f"{'.'.join(GRANTS)} runs statements about privileges and roles alone")
        return run_grant(access.statement, request, (current[0], current[1]))

    return Procedure(
        *GRANTS,
        "Runs a statement about privileges.",
        arguments=(ProcedureArgument("statement", pa.string(), "It and the names that are current, encoded."),),
        result=pa.schema([]),  # that of the statement
        function=run,
        checks_access=True,
    )


class LocalRowsProxy(Proxy):
    """The rows of a procedure, or of a small system table; Spark needs no task for them as they are."""

    class Java:
        implements: ClassVar[list[str]] = [READ + "LocalScan"]

    def __init__(self, jvm: Jvm, rows: pa.Table) -> None:
        super().__init__(jvm)
        self._rows = rows
        self._schema = jvm.data_type(spark_schema_json(ColumnMetadata(f.name, f.type) for f in rows.schema))

    def readSchema(self) -> JavaObject:
        """The columns."""
        return self._schema

    def rows(self) -> JavaObject:
        """All rows."""
        types = list(self._rows.schema.types)
        made = [internal_row(self._jvm, self._schema, types, list(row.values())) for row in self._rows.to_pylist()]
        return self._jvm.array(_INTERNAL_ROW, made)


def _sql(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value)
