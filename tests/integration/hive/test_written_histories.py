"""Long random histories of transactional tables: after each step Hive and Lakeport read what a dict holds.

LAKEPORT_HISTORY_STEPS says how many steps, LAKEPORT_HISTORY_SEED which ones.
"""

from __future__ import annotations

import os
import random
from uuid import uuid4

from connector_spi.names import SchemaTableName
from connectors.hive.connector import HiveConnector
from tests.integration.hive.changed_table import ChangedTable
from tests.integration.hive.engine import HiveEngine
from tests.integration.hive.trino import Trino

_STEPS = int(os.environ.get("LAKEPORT_HISTORY_STEPS", "25"))
_SEED = int(os.environ.get("LAKEPORT_HISTORY_SEED", "1"))


def test_all_read_the_same_after_each_step(hive: HiveConnector, hive_engine: HiveEngine, trino: Trino | None) -> None:
    made = random.Random(_SEED)
    schema = f"h{uuid4().hex[:8]}"
    hive_engine.sql(f"CREATE DATABASE {schema}")
    tables = [
        ChangedTable.create(hive, hive_engine, SchemaTableName(schema, kind), made, kind)
        for kind in ("flat", "bucketed", "parted")
    ]
    history: list[str] = []
    for _ in range(_STEPS):
        table = made.choice(tables)
        try:
            history.append(f"{table.name.table}: {table.step()}")
            table.check()
        except Exception as error:
            error.add_note(f"seed {_SEED}, after the steps:\n" + "\n".join(history))
            raise
    for table in tables:
        # Trino 483 passes over delete files that Hive names by an attempt (bucket_00000_0), until they are compacted.
        table.compact_all()
        table.check()
        expected = [[one, *row] for one, row in table.rows.items()]
        found = [] if trino is None else trino.sql(f"SELECT id, v, ds FROM hive.{table.name}")
        assert trino is None or sorted(found, key=str) == sorted(expected, key=str), (table.name, history)
