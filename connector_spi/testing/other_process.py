"""Reads scans in a process that has nothing but what travelled, and whose local time is another."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence

import pyarrow as pa

from connector_spi.page_source import rows_without_columns
from connector_spi.testing.reading import ReferenceScan

__all__ = ["read_in_another_process"]

_TASK = """
import json, pickle, sys
from connector_spi.predicate import TupleDomain
found = []
for provider, session, splits, table, columns in pickle.load(sys.stdin.buffer):
    batches = []
    for split in splits:
        with provider.create_page_source(session, split, table, columns, TupleDomain.all()) as source:
            batches += list(source)
    found.append(batches)
roots = sorted({name.partition(".")[0] for name in sys.modules})
sys.stdout.buffer.write(pickle.dumps((roots, found)))
"""
_TIME_ZONE = "Pacific/Marquesas"


def read_in_another_process(scans: Sequence[ReferenceScan]) -> tuple[set[str], list[pa.Table]]:
    """The top-level modules that the process had imported, and the rows of each scan as the connector gave them."""
    sent = []
    for scan in scans:
        provider = scan.query.connector.page_source_provider
        sent.append((provider, scan.query.session, scan.splits()[0], scan.table, scan.read_columns()))
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", _TASK],
        input=pickle.dumps(sent),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path, "TZ": _TIME_ZONE},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    roots, found = pickle.loads(done.stdout)
    schemas = [pa.schema([(column.name, column.type) for column in scan.read_columns()]) for scan in scans]
    return set(roots), [_table(batches, schema) for batches, schema in zip(found, schemas, strict=True)]


def _table(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    if not schema.names:
        return pa.Table.from_batches([rows_without_columns(sum(batch.num_rows for batch in batches))])
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)
