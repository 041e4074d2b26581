"""Tasks that read ahead, and a large file that is cut for all cores, each against the same without, in one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks.data.acid_tables import AcidShape, create_acid_table, write_acid
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.turns import take_turns

_GROUP = "task_parallelism"
_QUERIES = {
    "3 columns summed by tasks": "SELECT sum(quantity), sum(price), sum(weight) FROM hive.bench.acid",
    "rows of 2 columns handed over": "SELECT sum(quantity * price) FROM hive.bench.acid",
}
_AHEAD = "spark.lakeport.hive.task_read_ahead"
_WHOLE = {"spark.sql.files.minPartitionNum": "1", "spark.lakeport.hive.max_split_size": "1GB"}
_Rows = list[tuple[object, ...]]


def measure(size: Size, folder: Path) -> list[Figure]:
    """One bucket: a base of four fifths of the rows in one file, and small deltas."""
    shape = AcidShape(size.of(2_000_000, 20_000), buckets=1)
    write_acid(folder / "acid", folder / "plain", shape)
    figures: list[Figure] = []
    with open_lake(folder) as lake:
        create_acid_table(lake, "acid", folder / "acid")
        for name, off in (("read ahead", {_AHEAD: "false"}), ("cut for all cores", _WHOLE)):
            for what, query in _QUERIES.items():
                contenders = {key: partial(_collect, lake, given, query) for key, given in (("on", {}), ("off", off))}
                figures += _compared(contenders, f"{name}, {what}", size.of(5, 1))
    return figures


def _collect(lake: Lake, settings: Mapping[str, str], query: str) -> _Rows:
    conf = lake.session.spark.conf
    for name, value in settings.items():
        conf.set(name, value)
    try:
        return lake.collect(query)
    finally:
        for name in settings:
            conf.unset(name)


def _compared(contenders: Mapping[str, Callable[[], _Rows]], what: str, rounds: int) -> list[Figure]:
    taken = take_turns(contenders, rounds)
    on, off = taken["on"], taken["off"]
    answers = [[f"{value:.6g}" for value in one.answer[0]] for one in (on, off)]
    assert answers[0] == answers[1], answers
    note = f"{on.note}, without {off.note}"
    return [
        Figure(_GROUP, f"{what}: least time of that without", min(on.seconds) / min(off.seconds), "x", note=note),
        Figure(_GROUP, f"{what}: least CPU of that without", min(on.cpu) / min(off.cpu), "x"),
    ]


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
