"""Finding and running procedures of connectors."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from connector_spi.errors import ProcedureNotFoundError
from connector_spi.names import quote_identifier
from connector_spi.optional.procedures import Procedure
from connector_spi.predicate import Value
from connector_spi.properties import closest
from lakeport.transactions.statement import CatalogAccess

__all__ = ["find_procedure", "run_procedure"]


def find_procedure(access: CatalogAccess, schema: str, name: str) -> Procedure:
    """A procedure of a catalog; names are in lower case.

    Raises:
        ProcedureNotFoundError: There is none.
    """
    known = {(procedure.schema, procedure.name): procedure for procedure in access.connector.procedures}
    found = known.get((schema, name))
    if found is not None:
        return found
    names = sorted(one for _, one in known)
    hint = closest(name, names) + (f"; there are: {', '.join(names)}" if names else "")
    raise ProcedureNotFoundError(f"no procedure {schema}.{name} in catalog {quote_identifier(access.catalog)}{hint}")


def run_procedure(access: CatalogAccess, procedure: Procedure, arguments: Mapping[str, Value | None]) -> pa.Table:
    """Runs a procedure; what is asked of the catalog from now on is asked in a new transaction.

    Raises:
        ConnectorError: It failed.
    """
    try:
        with access.origin.errors(f"run the procedure {procedure.schema}.{procedure.name}"):
            return procedure.function(access.session, arguments)
    finally:
        # Nothing says which tables it is about.
        access.statement.lease.redefined(access.catalog)
