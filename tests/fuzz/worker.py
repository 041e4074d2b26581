"""A process that reads damaged files under limits, and writes how each read ended, one line of JSON each."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path

from connector_spi.errors import ConnectorError
from tests.fuzz.tables import CASES, FuzzedTable, open_table

__all__ = ["MEMORY_BYTES", "case_of", "main"]

MEMORY_BYTES = 1 << 30
"""What a read may take beyond the process with its libraries."""
_STATM_DATA = 5


def case_of(number: int) -> tuple[str, str]:
    """The case of a number, and the seed of its damage."""
    case = CASES[number % len(CASES)]
    return case, f"{case} {number}"


def main(first: int, last: int, step: int) -> None:
    """Reads the numbers ``first``, ``first + step`` and so on, below ``last``."""
    tables: dict[str, FuzzedTable] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last, step):
            case, seed = case_of(number)
            if case not in tables:
                _limit_memory(None)
                place = Path(folder) / case
                place.mkdir(parents=True)
                tables[case] = open_table(case, place)
                tables[case].rows()
            _tell({"number": number, "begins": f"{case} {tables[case].damaged_file(seed)}"})
            _limit_memory(MEMORY_BYTES)
            _tell({"number": number, **_read(tables[case], seed)})
        _limit_memory(None)
        for table in tables.values():
            table.close()


def _read(table: FuzzedTable, seed: str) -> dict[str, object]:
    start = time.process_time()
    try:
        file, rows = table.read_damaged(seed)
        outcome: dict[str, object] = {"rows": rows, "file": file}
    except ConnectorError as error:
        outcome = {"error": error.code.name, "words": str(error)[:300]}
    except Exception as error:
        outcome = {"wrong": type(error).__name__, "words": "".join(traceback.format_exception(error)[-6:])[-1500:]}
    return {**outcome, "seconds": round(time.process_time() - start, 2)}


def _limit_memory(extra: int | None) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most
    if extra is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[_STATM_DATA])
        soft = pages * resource.getpagesize() + extra
    resource.setrlimit(resource.RLIMIT_DATA, (soft, most))


def _tell(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:4]))
