"""The read options of one use of a table: those of a stream, those of the connector, and those that no one knows."""

from __future__ import annotations

from py4j.java_gateway import JavaObject

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion
from connector_spi.schema import TableMetadata
from lakeport.planning.streams import StreamRequest
from lakeport.spark.scan.scan import ScannedTable
from lakeport.spark.streaming.micro_batch import StreamedTable
from lakeport.spark.streaming.options import StreamOptions

__all__ = ["given_options", "refuse_options", "streamed_table"]


def streamed_table(
    table: ScannedTable,
    metadata: TableMetadata,
    options: StreamOptions,
    others: tuple[str, ...],
    *,
    changes: bool,
    ends: TableVersion | None = None,
) -> StreamedTable:
    """What makes a stream of a table, or of its changes.

    Args:
        table: The table.
        metadata: With the columns of each row.
        options: Of the stream.
        others: Names of options that only batch reads know.
        changes: The rows are changes.
        ends: The last version that was asked for, which no stream has.
    """
    others = (*others, *(("the end of the range",) if ends is not None else ()))
    access = table.plan.access
    columns = tuple((column.name, column.type) for column in metadata.visible_columns())
    request = StreamRequest(table.name, columns, changes, options.start, options.limits)
    registry = access.statement.lease.registry
    return StreamedTable(
        request=request,
        access=access,
        registry=registry,
        options=options,
        batch_options=others,
        schema_json=table.schema_json,
    )


def given_options(options: JavaObject, sparks: frozenset[str]) -> dict[str, str]:
    """The read options of one use of a table, by name in lower case.

    Args:
        options: A Java map by name, in any case.
        sparks: Names of options that Spark follows itself, in lower case; left out.
    """
    # Asking whether there are any spares a round trip for each.
    names = [] if options.isEmpty() else [str(key) for key in options.keySet()]
    return {name.lower(): str(options.get(name)) for name in names if name.lower() not in sparks}


def refuse_options(name: object, options: JavaObject, known: frozenset[str] = frozenset()) -> None:
    """Refuses read options.

    Args:
        name: The table.
        options: A Java map by name, in any case.
        known: Names of options that are understood, in lower case.

    Raises:
        InvalidArgumentError: There is another one.
    """
    unknown = given_options(options, known)
    if unknown:
        names = ", ".join(sorted(unknown))
        raise InvalidArgumentError(
            f"table {name} is read with the option {names}, which it does not know; leave it out"
        )
