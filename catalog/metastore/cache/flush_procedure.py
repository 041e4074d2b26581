"""``CALL system.flush_metadata_cache``: forgets what was kept of a metastore."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from catalog.metastore.partitions.names import make_partition_name, parse_partition_name
from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.predicate import Value
from connector_spi.session import ConnectorSession

__all__ = ["flush_procedure"]

_RESULT = pa.schema([("flushed", pa.int64())])
_ARGUMENTS = tuple(
    ProcedureArgument(name, pa.string(), description, required=False)
    for name, description in (
        ("schema_name", "Only what is kept of this schema."),
        ("table_name", "Only what is kept of this table of the schema."),
        ("partition_name", "Only what is kept of this partition of the table, such as ds=2024-01-01/hour=7."),
    )
)


def flush_procedure(forget: Callable[[str | None, str | None, str | None], int]) -> Procedure:
    """The procedure of a catalog; its row says how many answers were forgotten.

    Args:
        forget: Forgets what is kept of a schema, a table and a partition, each or all; gives how many answers.
    """

    def flush(session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        given = [None if arguments.get(one.name) is None else str(arguments[one.name]) for one in _ARGUMENTS]
        schema, table, partition = given
        if (partition is not None and table is None) or (table is not None and schema is None):
            raise InvalidArgumentError(
                "flush_metadata_cache needs schema_name with table_name, and both with partition_name"
            )
        if partition is not None:
            pairs = parse_partition_name(partition)
            partition = make_partition_name([key for key, _ in pairs], [value for _, value in pairs])
        return pa.table({"flushed": [forget(schema, table, partition)]}, _RESULT)

    return Procedure(
        schema="system",
        name="flush_metadata_cache",
        description="Forgets what is kept of the metastore: of all, of a schema, of a table, or of a partition.",
        arguments=_ARGUMENTS,
        result=_RESULT,
        function=flush,
    )
