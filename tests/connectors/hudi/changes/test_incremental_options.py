"""Hudi's further options of incremental queries: path patterns and the columns of the end, against Hudi's answers."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import InvalidArgumentError
from tests.connectors.hudi.changes.test_incremental import history
from tests.connectors.hudi.corpus import CASES, answers, expected, opened
from tests.rows import assert_same_table

TYPE = "hoodie.datasource.query.type"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
GLOB = "hoodie.datasource.read.incr.path.glob"
FULL_SCAN = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"
END_SCHEMA = "hoodie.datasource.read.schema.use.end.instanttime"

pytestmark = pytest.mark.skipif(not CASES, reason="the corpus is not here")


def incremental(between: str, **more: str) -> dict[str, str]:
    begin, _, end = between.partition("_")
    return {TYPE: "incremental", BEGIN: begin, **({END: end} if end else {}), **more}


@pytest.mark.parametrize(
    ("glob", "partitions"),
    [
        ("/p1/*", ["p1"]),
        ("/p{1,3}/*.parquet", ["p1", "p3"]),
        ("/p[!1]/*", ["p2", "p3"]),
        ("/p?/*", ["p1", "p2", "p3"]),
        ("*", ["p1", "p2", "p3"]),
        ("/p1", []),
        (r"/p\*/*", []),
    ],
)
@pytest.mark.parametrize("case", ["v9_basic_cow", "v6_basic_cow"])
def test_rows_of_files_that_fit_a_pattern(case: str, glob: str, partitions: list[str], tmp_path: Path) -> None:
    catalog = opened(case, tmp_path)
    for between in answers(case, "incremental"):
        answer = expected(case, f"incremental_{between}")
        wanted = pc.is_in(answer.column("_hoodie_partition_path"), value_set=pa.array(partitions, pa.string()))
        met = catalog.read(options=incremental(between, **{GLOB: glob}))
        assert_same_table(met, answer.filter(wanted))


def test_a_slice_of_logs_alone_is_asked_by_its_newest_log(tmp_path: Path) -> None:
    """Rows of logs have the id of their group as name of their file."""
    catalog = opened("v9_basic_mor", tmp_path)
    found = 0
    for between in answers("v9_basic_mor", "incremental")[1:]:
        answer = expected("v9_basic_mor", f"incremental_{between}")
        in_base = pc.ends_with(answer.column("_hoodie_file_name"), ".parquet")
        met = catalog.read(options=incremental(between, **{GLOB: "/p?/.*.log.*"}))
        assert_same_table(met, answer.filter(pc.invert(in_base)))
        found += met.num_rows
    assert found


@pytest.mark.parametrize("glob", ["/p[1", "/p{1,2", "/p1\\"])
def test_patterns_that_are_not_closed_are_refused(glob: str, tmp_path: Path) -> None:
    catalog = opened("v9_basic_cow", tmp_path)
    with pytest.raises(InvalidArgumentError, match="not closed"):
        catalog.read(options=incremental(answers("v9_basic_cow", "incremental")[0], **{GLOB: glob}))


@pytest.mark.parametrize("case", ["v9_addcol_cow", "v9_addcol_mor", "v9_widen_cow", "v9_widen_mor"])
def test_the_columns_of_the_end(case: str, tmp_path: Path) -> None:
    """From the beginning it is the state of that time, which Hudi shows with the columns of that time."""
    catalog = opened(case, tmp_path)
    completed = history(tmp_path / "table" / case)
    columns = []
    for instant in answers(case, "asof"):
        then = expected(case, f"asof_{instant}")
        met = catalog.read(options=incremental(f"000_{completed[instant]}", **{END_SCHEMA: "true"}))
        assert_same_table(met, then)
        columns.append(met.schema)
    newest = expected(case, "snapshot").schema
    assert newest not in columns
    assert catalog.read(options=incremental("000", **{END_SCHEMA: "true"})).schema.names == newest.names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({GLOB: "*"}, "need '.*' incremental"),
        ({END_SCHEMA: "true"}, "need '.*' incremental"),
        ({"hoodie.datasource.query.incremental.format": "cdc"}, "need '.*' incremental"),
        (incremental("000", **{GLOB: "*", FULL_SCAN: "true"}), "remove one"),
        (
            incremental("000", **{"hoodie.datasource.query.incremental.format": "cdc", GLOB: "*"}),
            "cdc does not go with",
        ),
        (
            incremental("000", **{"hoodie.datasource.query.incremental.format": "changes"}),
            "expected latest_state, cdc",
        ),
    ],
)
def test_options_that_do_not_fit_together(options: dict[str, str], message: str, tmp_path: Path) -> None:
    catalog = opened("v9_basic_cow", tmp_path)
    with pytest.raises(InvalidArgumentError, match=message):
        catalog.read(options=options)
