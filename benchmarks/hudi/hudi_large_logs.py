"""``lineitem`` of TPC-H as merge-on-read, two slices with large logs, against the same rows as copy-on-write, in Arrow.

``--folder`` is that of ``tpch``: the tables are made, or left out, as there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.data.tpch_tables import make_tables
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import Taken, take_turns
from connectors.hudi.read.log_cache import APPLIED_CACHE, LOG_CACHE

__all__ = ["measure"]

_GROUP = "hudi_large_logs"
_COLUMNS = ("l_quantity", "l_extendedprice", "l_discount", "l_shipdate")
_MORE = ("l_commitdate", *_COLUMNS)

Run = Callable[[], int]


def measure(kept_folder: Path | None, size: Size, folder: Path) -> list[Figure]:
    """All contenders take turns; numbers of rows are compared."""
    scale = 0.01 if size.small else 1
    place = (kept_folder or folder) / f"scale-{scale}"
    make_tables(place, scale)
    if not (place / "hudi").exists():
        print("left out: BENCHMARK_HUDI_PYTHON or BENCHMARK_HUDI_BUNDLE is not set", file=sys.stderr)
        return []
    with open_lake(folder) as lake:
        for kind in ("mor", "cow"):
            lake.register("hudi", kind, place / "hudi" / f"lineitem_{kind}")
        four, five, rows = (_read(lake, *asked) for asked in (("mor", _COLUMNS), ("mor", _MORE), ("cow", _COLUMNS)))
        contenders = {"nothing kept": [_forget, four], "and one column more": [_forget, four, five], "written": [rows]}
        alone = take_turns({name: _all_of(runs) for name, runs in contenders.items()}, size.of(3, 1))
        kept = take_turns({"kept": four, "written": rows}, size.of(3, 1))
    assert len({taken.answer for taken in (*alone.values(), *kept.values())}) == 1
    what = "four columns of lineitem, large logs"
    first, more, written = (alone[name] for name in contenders)
    column = [both - one for both, one in zip(more.cpu, first.cpu, strict=True)]
    return [
        _ratio(f"{what}, decoded anew: of written", first.cpu, written),
        _ratio(f"{what}, kept: of written", kept["kept"].cpu, kept["written"]),
        _ratio("a column more than is kept, five columns: of four columns written", column, written),
    ]


def _ratio(name: str, mine: Sequence[float], written: Taken[int]) -> Figure:
    value = median(one / max(other, 0.01) for one, other in zip(mine, written.cpu, strict=True))
    return Figure(_GROUP, f"{name}, CPU", value, "x", note=f"{median(mine):.2f} s")


def _read(lake: Lake, table: str, columns: Sequence[str]) -> Run:
    def run() -> int:
        with lake.session.arrow(f"hudi.bench.{table}", columns=list(columns)) as reader:
            return sum(batch.num_rows for batch in reader)

    return run


def _forget() -> int:
    LOG_CACHE.clear()
    APPLIED_CACHE.clear()
    return 0


def _all_of(runs: Sequence[Run]) -> Run:
    return lambda: [run() for run in runs][-1]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--folder", type=Path, help="where the tables are kept, and made when they are not there")
    return parser


if __name__ == "__main__":
    own = _parser()
    given, _ = own.parse_known_args()
    run_command(__doc__ or "", partial(measure, given.folder), parents=[own])
