"""Incremental queries through read options, against real Hudi's answers and states that it does not leave on demand.

Where answers of Hudi differ:

| case | choice | reason |
|---|---|---|
| ``v8_*`` | begin is exclusive | 1.0.2, which gave these answers, includes it; 1.1 and later do not. Here such ranges begin a moment earlier |
| ``v6_archived_*`` from the beginning | all rows | 0.15 passes over what was archived, without a word; the rows are in the table's files |
| ``v6_bootstrap_meta_mor`` from the beginning | the rows of the snapshot | 0.15 leaves all columns NULL of rows that are in the original files still |
| ``v8_archived_mor``, ``v8_cleaned_mor`` to the newest write | the rows of the snapshot | 1.0.2 passes over the newest log |
| ``v6_ordering_default_mor``, ``v6_payload_mysql_mor``, ``v6_payload_nondefaults_mor``, ``v6_payload_default_marker_mor`` | merged as the snapshot is | 0.15 merges logs otherwise than 1.x: see ``test_merge_on_read`` |
| ``*_cleaned_*``, files of the range gone | refused; with the full scan asked for, Hudi's rows | 1.x falls back to the newest state by itself, and gives fewer rows than the range had |
| ``*_droppartcols_*``, ``*_typedparts_*``, ``*_urlencode_*`` | partition values as in the snapshot | in incremental queries Hudi gives NULL, or leaves values encoded |
"""  # noqa: E501

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import TableVersion, VersionKind
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.timeline.instant import WRITE_ACTIONS, InstantState, parse_instant
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, HUDI, answers, expected, opened, refused
from tests.connectors.hudi.writer import HudiWriter, avro_schema
from tests.rows import assert_same_table

READABLE = [case for case in CASES if "_hfilelog_" not in case]
COW = [case for case in READABLE if case.endswith("_cow")]
ASKED = [(case, between) for case in READABLE for between in answers(case, "incremental")]
REFUSED = [asked for asked in ASKED if refused(asked[0], f"incremental_{asked[1]}")]
OF_0_15 = [
    "v6_ordering_default_mor",
    "v6_payload_default_marker_mor",
    "v6_payload_mysql_mor",
    "v6_payload_nondefaults_mor",
]
PASSES_OVER_A_LOG = ["v8_archived_mor", "v8_cleaned_mor"]
STALE = [("v8_cleaned_mor", answers("v8_cleaned_mor", "incremental")[-1])] if CASES else []
LEFT_OUT = [*REFUSED, *STALE, *(asked for asked in ASKED if asked[0] in OF_0_15)]
ANSWERED = [asked for asked in ASKED if asked not in LEFT_OUT]

real = pytest.mark.skipif(not CASES, reason="the corpus is not here")


def incremental(begin: str, end: str | None = None, **more: str) -> dict[str, str]:
    options = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": begin,
        **({"hoodie.datasource.read.end.instanttime": end} if end is not None else {}),
    }
    return {**options, **{name.replace("__", "."): text for name, text in more.items()}}


def answer(case: str, between: str) -> pa.Table:
    """Hudi's rows, as the newest version would have them."""
    begin, _, end = between.partition("_")
    if case.startswith(("v6_archived", "v6_bootstrap_meta_mor")) and begin == "000":
        return expected(case, "snapshot")
    rows = expected(case, f"incremental_{between}")
    if case in PASSES_OVER_A_LOG and end == answers(case, "incremental")[0].rpartition("_")[2]:
        newest = expected(case, "snapshot")
        written = rows.column("_hoodie_commit_time").combine_chunks()
        latest = pc.max(newest.column("_hoodie_commit_time"))
        wanted = pa.concat_arrays([written, pa.array([latest.as_py()])]) if begin != "000" else None
        return (
            newest
            if wanted is None
            else newest.filter(pc.is_in(newest.column("_hoodie_commit_time"), value_set=wanted))
        )
    return rows


def asked_begin(case: str, begin: str) -> str:
    """1.0.2 includes the begin; of some of its tables 1.1.1 is the judge."""
    recorded = json.loads((HUDI / f"{case}.json").read_text())
    inclusive = "1.0.2" in recorded.get("judge_bundle", recorded["hudi_bundle"])
    return f"{int(begin) - 1:017d}" if inclusive and begin != "000" else begin


PARTITION_VALUES = {"droppartcols": "part", "typedparts": "tm", "urlencode": "part"}
FULL_SCAN = "hoodie.datasource.read.incr.fallback.fulltablescan.enable"


def is_cleaned(case: str, between: str) -> bool:
    return "_cleaned_" in case and not between.startswith("000") and between == answers(case, "incremental")[-1]


@real
@pytest.mark.parametrize(("case", "between"), ANSWERED)
def test_rows_of_a_range_are_what_hudi_returns(case: str, between: str, tmp_path: Path) -> None:
    begin, _, end = between.partition("_")
    catalog = opened(case, tmp_path)
    options = incremental(asked_begin(case, begin), end)
    if is_cleaned(case, between):
        options[FULL_SCAN] = "true"
    met, hudis = catalog.read(options=options), answer(case, between)
    for mark, column in PARTITION_VALUES.items():
        if mark in case:
            pairs = {(row["id"], row[column]) for row in catalog.read().to_pylist()}
            assert {(row["id"], row[column]) for row in met.to_pylist()} <= pairs
            met, hudis = met.drop_columns([column]), hudis.drop_columns([column])
    assert_same_table(met, hudis)


@real
@pytest.mark.parametrize(("case", "between"), [asked for asked in ASKED if is_cleaned(*asked)])
def test_ranges_whose_files_are_gone_are_refused_and_say_what_is_left(case: str, between: str, tmp_path: Path) -> None:
    begin, _, end = between.partition("_")
    catalog = opened(case, tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"is not on storage.*there (is|are).*fulltablescan") as caught:
        catalog.read(options=incremental(begin, end))
    assert caught.value.code.name == "HUDI_CLEANED"


def history(table: Path) -> dict[str, str]:
    """What places each write of a table in ranges, by requested time; archived ones, too."""
    found: dict[str, str] = {}
    for archive in table.glob(".hoodie/timeline/history/*.parquet"):
        for row in pq.read_table(archive, columns=["instantTime", "completionTime", "action"]).to_pylist():
            if row["action"] in WRITE_ACTIONS:
                found[row["instantTime"]] = row["completionTime"]
    layout = 2 if (table / ".hoodie" / "timeline").is_dir() else 1
    folder = table / ".hoodie" / "timeline" if layout == 2 else table / ".hoodie"
    for path in folder.iterdir():
        instant = parse_instant(path.name, layout)
        if instant is not None and instant.action in WRITE_ACTIONS and instant.state is InstantState.COMPLETED:
            found[instant.requested] = instant.completion or instant.requested
    return found


@real
@pytest.mark.parametrize("case", [case for case in COW if "virtualkeys" not in case])
def test_from_any_write_to_the_newest_it_is_the_snapshots_rows_that_were_written_since(
    case: str, tmp_path: Path
) -> None:
    catalog = opened(case, tmp_path)
    [table] = [path for path in (tmp_path / "table").iterdir() if (path / ".hoodie").is_dir()]
    completed = history(table)
    rows = catalog.read()
    for begin in sorted(completed.values()):
        since = [requested for requested, placed in completed.items() if placed > begin]
        wanted = pc.is_in(rows.column("_hoodie_commit_time"), value_set=pa.array(since, pa.string()))
        assert_same_table(catalog.read(options=incremental(begin)), rows.filter(wanted))


def rows(ids: list[int], part: str = "a") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([part] * len(ids), pa.string())})


def stamped(written: dict[int, str]) -> pa.Table:
    """Rows with the write that made each."""
    return rows(list(written)).append_column("_hoodie_commit_time", pa.array(list(written.values()), pa.string()))


@pytest.fixture(params=[6, 9], ids=["layout1", "layout2"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> HudiWriter:
    return HudiWriter(tmp_path / "table", request.param, ("part",)).create()


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def ids(catalog: HudiCatalog, options: dict[str, str]) -> list[int]:
    found: list[int] = sorted(catalog.read(columns=["id"], options=options).column("id").to_pylist())
    return found


def keys(writer: HudiWriter) -> list[str]:
    """What places each write, in the order of requested times."""
    placed = history(writer.folder)
    return [placed[requested] for requested in sorted(placed)]


def test_begin_is_exclusive_and_end_inclusive(catalog: HudiCatalog, writer: HudiWriter) -> None:
    for number in range(1, 5):
        writer.commit({("part=a", f"g{number}"): rows([number])})
    catalog.register(writer.folder)
    first, second, third, fourth = keys(writer)
    assert ids(catalog, incremental(first, third)) == [2, 3]
    assert ids(catalog, incremental(second)) == [3, 4]
    assert ids(catalog, incremental("earliest", second)) == [1, 2]
    assert ids(catalog, incremental("000")) == [1, 2, 3, 4]
    assert ids(catalog, incremental(fourth)) == []
    assert ids(catalog, incremental(fourth, fourth)) == []
    assert ids(catalog, incremental("2023-12-31", "2024-01-02")) == [1, 2, 3, 4]
    assert ids(catalog, incremental("2024-01-02T00:00:00Z")) == []


def test_rows_of_other_writes_in_the_same_file_do_not_come(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1, 2])})
    second = writer.commit({("part=a", "g1"): stamped({1: first, 2: "x"})})
    catalog.register(writer.folder)
    [begin, _] = keys(writer)
    assert ids(catalog, incremental(begin)) == []
    writer.commit({("part=a", "g1"): stamped({1: first, 2: second})})
    assert ids(catalog, incremental(begin)) == [2]


def test_counting_rows_needs_no_column(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2, 3])})
    catalog.register(writer.folder)
    met = catalog.read(columns=[], options=incremental(keys(writer)[0]))
    assert met.num_rows == 2


def test_groups_that_were_replaced_in_the_range_do_not_come(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2])})
    writer.commit({("part=a", "g3"): rows([3])}, action="replacecommit", replaced={"part=a": ["g1", "g2"]})
    catalog.register(writer.folder)
    first, second, _ = keys(writer)
    assert ids(catalog, incremental(first)) == [3]
    assert ids(catalog, incremental(first, second)) == [2]


def test_partitions_that_a_filter_leaves_out_are_not_listed(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2]), ("part=b", "g3"): rows([3], "b")})
    catalog.register(writer.folder)
    (writer.folder / "part=b" / "strange.parquet").touch()
    domain = Domain.single_value(pa.string(), "a")
    constraint = TupleDomain.with_column_domains({ColumnHandle("part", pa.string()): domain})
    met = catalog.read(columns=["id"], options=incremental(keys(writer)[0]), constraint=constraint)
    assert met.column("id").to_pylist() == [2]


def test_a_write_that_finishes_late_is_found_by_its_completion_time(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ("part",)).create()
    late = writer.commit({("part=a", "g1"): rows([1])}, complete=False)
    writer.commit({("part=a", "g2"): rows([2])})
    catalog.register(writer.folder)
    [seen] = keys(writer)
    assert ids(catalog, incremental("000", seen)) == [2]
    stat = {"fileId": "g1", "path": f"part=a/g1_0-1-1_{late}.parquet", "numWrites": 1}
    extra = {"schema": avro_schema(rows([1]).schema)}
    writer.complete(late, "commit", {"partitionToWriteStats": {"part=a": [stat]}, "extraMetadata": extra})
    assert ids(catalog, incremental(seen)) == [1]
    assert ids(catalog, incremental("000", seen)) == [2]


def test_a_hole_in_a_timeline_of_requested_times(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 6, ("part",)).create()
    first = writer.commit({("part=a", "g1"): rows([1])})
    second = writer.commit({("part=a", "g2"): rows([2])})
    hole = writer.commit({("part=a", "g3"): rows([3])}, complete=False)
    writer.commit({("part=a", "g4"): rows([4])})
    catalog.register(writer.folder)
    with pytest.raises(InvalidArgumentError, match=f"commit {hole} is not finished.*BLOCK") as caught:
        ids(catalog, incremental(first))
    assert caught.value.code.name == "HUDI_PENDING_WRITE"
    block = {**incremental(first), "hoodie.read.timeline.holes.resolution.policy": "BLOCK"}
    assert ids(catalog, block) == [2]
    assert ids(catalog, incremental(first, second)) == [2]
    assert ids(catalog, incremental(hole)) == [4]


def test_a_table_without_commit_times_is_refused(catalog: HudiCatalog, tmp_path: Path) -> None:
    writer = HudiWriter(tmp_path / "table", 9, ("part",), populate_meta_fields=False).create()
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    with pytest.raises(NotSupportedError, match="no meta columns"):
        ids(catalog, incremental("000"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hoodie.datasource.query.typo": "incremental"}, r"did you mean 'hoodie\.datasource\.query\.type'"),
        ({"hoodie.datasource.query.type": "changes"}, "expected snapshot, read_optimized, incremental"),
        ({"hoodie.datasource.query.type": "incremental"}, r"needs 'hoodie\.datasource\.read\.begin"),
        ({"hoodie.datasource.read.begin.instanttime": "000"}, "need .* incremental"),
        ({**incremental("000"), "as.of.instant": "2024-01-01"}, "does not fit an incremental query"),
        (incremental("2024-01-02", "2024-01-01"), "swap them"),
        (incremental("soon"), "'soon' is no instant"),
        ({"as.of.instant": "soon"}, "'soon' is no instant"),
        ({**incremental("000"), FULL_SCAN: "maybe"}, "expected true or false"),
        ({**incremental("000"), "hoodie.datasource.read.incr.filters": "id > 1"}, "put the conditions into WHERE"),
        ({"hoodie.datasource.merge.type": "skip_merge"}, "only payload_combine"),
    ],
)
def test_options_that_are_refused(
    options: dict[str, str], message: str, catalog: HudiCatalog, writer: HudiWriter
) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    with pytest.raises((InvalidArgumentError, NotSupportedError), match=message):
        ids(catalog, options)


def test_options_of_how_hudi_reads_change_nothing(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    assert ids(catalog, {"hoodie.metadata.enable": "true", "hoodie.datasource.query.type": "snapshot"}) == [1]


def test_time_travel_by_option_keeps_the_newest_columns(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g2"): rows([2]).append_column("c", pa.array(["x"]))})
    catalog.register(writer.folder)
    met = catalog.read(columns=["id", "c"], options={"as.of.instant": first})
    assert met.to_pylist() == [{"id": 1, "c": None}]


def test_two_times_at_once_are_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    version = TableVersion(VersionKind.VERSION, first)
    with pytest.raises(InvalidArgumentError, match="remove one"):
        catalog.read(version=version, options={"as.of.instant": first})


@real
def test_read_optimized_by_option(tmp_path: Path) -> None:
    catalog = opened("v9_basic_mor", tmp_path)
    met = catalog.read(options={"hoodie.datasource.query.type": "read_optimized"})
    assert_same_table(met, expected("v9_basic_mor", "read_optimized"))
