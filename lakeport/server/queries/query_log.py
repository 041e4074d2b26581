"""The queries of a server as lines of JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

from connector_spi.errors import InvalidArgumentError
from connector_spi.optional.event_listener import EventListener, QueryCompletedEvent

__all__ = ["QueryLog"]


class QueryLog(EventListener):
    """Appends a line to a file for each query that has ended; only the server's user may read it.

    Args:
        path: The file; others may move it away, and it is made anew.

    Raises:
        InvalidArgumentError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            os.close(self._open())
        except OSError as error:
            raise InvalidArgumentError(f"the query log {path} cannot be written: {error.strerror}") from error

    def query_completed(self, event: QueryCompletedEvent) -> None:
        """Appends its line."""
        line = json.dumps(_line(event), ensure_ascii=False) + "\n"
        file = self._open()
        try:
            os.write(file, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _line(event: QueryCompletedEvent) -> dict[str, object]:
    query = event.query
    return {
        "query_id": query.query_id,
        "user": query.user,
        "source": query.source,
        "query": query.text,
        "state": "FAILED" if event.failed else "FINISHED",
        "created": query.created.isoformat(),
        "end": event.end.isoformat(),
        "elapsed_ms": round(1000 * (event.end - query.created).total_seconds()),
        "planning_ms": round(1000 * sum(table.planning_seconds for table in event.tables)),
        "output_rows": event.rows,
        "error_code": event.error_code,
        "error_message": event.error,
        "tables": [
            {
                "table": str(table.name),
                "columns": list(table.columns),
                "snapshot": table.snapshot,
                "splits": table.splits,
                "bytes": table.size_bytes,
            }
            for table in event.tables
        ],
    }
