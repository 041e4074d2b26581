"""Hudi's change feed (``hoodie.datasource.query.incremental.format`` is ``cdc``) against real Hudi's answers.

Where answers of Hudi differ:

| case | choice | reason |
|---|---|---|
| ``v9_*`` | equal, letter by letter | 1.1.1 gave these answers |
| ``v6_*``, ``v8_*`` | the same members of the JSON objects, NULLs left out | 0.15 and 1.0.2 order them by hash, and tell a NULL or leave it out by the way they found the row |
| ``v6_*``, ``v8_*`` | each change once | 0.15 and 1.0.2 tell the last row of a file twice, in place of another; which rows there are is held to 1.1.1's answer for the same history |
| ``v8_*`` | begin is exclusive | 1.0.2 includes it; 1.1 and later do not |
"""  # noqa: E501

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.hudi.timeline.instant import parse_instant
from tests.connectors.hudi.catalog_helper import HudiCatalog
from tests.connectors.hudi.corpus import CASES, HUDI, answers, expected, opened, refused

TYPE = "hoodie.datasource.query.type"
FORMAT = "hoodie.datasource.query.incremental.format"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
ASKED = [(case, between) for case in CASES for between in answers(case, "cdc") if not refused(case, f"cdc_{between}")]

real = pytest.mark.skipif(not CASES, reason="the corpus is not here")

Change = tuple[Hashable, ...]


def feed(catalog: HudiCatalog, between: str = "000", columns: list[str] | None = None) -> pa.Table:
    begin, _, end = between.partition("_")
    options = {TYPE: "incremental", FORMAT: "cdc", BEGIN: begin, **({END: end} if end else {})}
    return catalog.read(options=options, columns=columns)


def parsed(table: pa.Table, *, meta: bool) -> Counter[Change]:
    """The changes with what their JSON says, NULLs left out."""

    def image(text: str | None) -> Hashable:
        row = json.loads(text) if text is not None else None
        if row is None:
            return None
        kept = [(name, value) for name, value in row.items() if value is not None]
        return tuple(sorted((name, str(value)) for name, value in kept if meta or name not in META_COLUMNS))

    return Counter((row["op"], row["ts_ms"], image(row["before"]), image(row["after"])) for row in table.to_pylist())


def ranked(changes: Counter[Change]) -> Counter[Change]:
    """The writes by their position in the history, to compare tables that were written by the same steps."""
    positions = {write: position for position, write in enumerate(sorted({str(change[1]) for change in changes}))}
    return Counter({(op, positions[str(write)], *images): count for (op, write, *images), count in changes.items()})


def begin_left_out(case: str, between: str, table: pa.Table) -> pa.Table:
    """The answer without the write at its begin."""
    names = json.loads((HUDI / f"{case}.json").read_text())["timeline"]
    instants = [parse_instant(name, 1 if case.startswith("v6") else 2) for name in names]
    begin = between.partition("_")[0]
    first = {item.requested for item in instants if item is not None and item.completion == begin}
    return table.filter(pa.array([write not in first for write in table.column("ts_ms").to_pylist()], pa.bool_()))


@real
@pytest.mark.parametrize(("case", "between"), ASKED)
def test_the_feed_is_what_hudi_returns(case: str, between: str, tmp_path: Path) -> None:
    met, answer = feed(opened(case, tmp_path), between), expected(case, f"cdc_{between}")
    assert answer.num_rows
    assert met.schema.equals(answer.schema)
    if case.startswith("v9_"):
        assert Counter(map(str, met.to_pylist())) == Counter(map(str, answer.to_pylist()))
        return
    answered = parsed(begin_left_out(case, between, answer), meta=True)
    assert set(answered) <= set(parsed(met, meta=True))
    newest = "v9" + case[2:]
    same_range = answers(newest, "cdc")[answers(case, "cdc").index(between)]
    assert ranked(parsed(met, meta=False)) == ranked(parsed(expected(newest, f"cdc_{same_range}"), meta=False))
