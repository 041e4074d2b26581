"""The sample warehouse, registered with no Spark."""

from __future__ import annotations

from pathlib import Path

import lakeport
from lakeport.demo.sample_warehouse import SCHEMA, TABLES, prepare
from lakeport.session import Session
from lakeport.transactions.plain_statement import plain_statement

__all__ = ["sample_session"]


def sample_session(folder: Path) -> Session:
    """A session over the tables that ``lakeport demo`` has."""
    warehouse = prepare(folder)
    session = lakeport.connect(catalogs=warehouse.catalogs)
    for table in TABLES:
        access = plain_statement(session.catalogs).access(table.connector)
        [register] = [one for one in access.connector.procedures if one.name == "register_table"]
        given: dict[str, object] = {argument.name: argument.default for argument in register.arguments}
        given |= {
            "schema_name": SCHEMA,
            "table_name": table.name,
            "table_location": str(warehouse.location(table)),
        }
        if table.transactional:
            given["transactional"] = True
        register.function(access.session, given)  # type: ignore[arg-type]
    return session
