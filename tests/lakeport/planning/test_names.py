"""``session.schemas`` and ``session.tables``: full names, with no Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from connector_spi.errors import CatalogNotFoundError, InvalidArgumentError, SchemaNotFoundError
from connector_spi.names import SchemaTableName
from tests.lakeport.memory_session import memory_session, put


def test_full_names_of_schemas_and_tables() -> None:
    with memory_session() as (session, connector):
        session.catalogs.register("other", "memory", {})
        put(connector, "trips", pa.table({"id": [1]}))
        put(connector, "odd name", pa.table({"id": [2]}))
        connector.create_table(SchemaTableName("a", "t"), pa.table({"id": [3]}))
        assert session.schemas() == ["mem.a", "mem.default", "mem.s", "other.default"]
        assert session.schemas("MEM") == ["mem.a", "mem.default", "mem.s"]
        assert session.tables() == ["mem.a.t", "mem.s.`odd name`", "mem.s.trips"]
        assert session.tables("mem.S") == ["mem.s.`odd name`", "mem.s.trips"]
        assert session.tables("other") == []
        assert [session.scan(name).count() for name in session.tables("mem")] == [1, 1, 1]
        with pytest.raises(CatalogNotFoundError, match="no catalog 'men'; did you mean 'mem'"):
            session.tables("men")
        with pytest.raises(SchemaNotFoundError, match="no schema ss in catalog mem"):
            session.tables("mem.ss")
        with pytest.raises(InvalidArgumentError, match=r"'mem.s.trips' has 3 parts; expected a catalog and a schema"):
            session.tables("mem.s.trips")
        with pytest.raises(InvalidArgumentError, match=r"'mem.s' has 2 parts; expected a catalog, such as"):
            session.schemas("mem.s")
