"""Tables as they were, against real Hudi's answers and states that it does not leave on demand.

Where answers of Hudi are not followed:

| case | choice | reason |
|---|---|---|
| ``v8_upgraded_from_v6_mor`` as of the write after the upgrade | that write's rows are there | 1.0.2 passes over their log |
| ``v6_payload_default_marker_mor`` | the row stays | see ``test_merge_on_read``: the marker was an option of the writer |
"""  # noqa: E501

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connectors.hudi.timeline.instant_text import time_of_instant
from tests.connectors.hudi.catalog_helper import HudiCatalog, make_catalog
from tests.connectors.hudi.corpus import CASES, answers, expected, opened, refused
from tests.connectors.hudi.writer import HudiWriter
from tests.rows import assert_same_table

READABLE = [case for case in CASES if "_hfilelog_" not in case]
ASKED = [(case, instant) for case in READABLE for instant in answers(case, "asof")]
NOT_FOLLOWED = [
    ("v8_upgraded_from_v6_mor", "20261121094215978"),
    ("v6_payload_default_marker_mor", "20261121103345021"),
]
ANSWERED = [asked for asked in ASKED if not refused(asked[0], f"asof_{asked[1]}") and asked not in NOT_FOLLOWED]
# Hudi 0.15 looks for the columns of today in the log-free files of the first write, and fails.
BEFORE_RENAMING = ("v6_sor_mor", "20261121092117272")
REFUSED = [asked for asked in ASKED if refused(asked[0], f"asof_{asked[1]}") and asked != BEFORE_RENAMING]

real = pytest.mark.skipif(not CASES, reason="the corpus is not here")


def as_of(instant: str) -> TableVersion:
    return TableVersion(VersionKind.VERSION, instant)


@real
@pytest.mark.parametrize(("case", "instant"), ANSWERED)
def test_rows_as_of_an_instant_are_what_hudi_returns(case: str, instant: str, tmp_path: Path) -> None:
    catalog = opened(case, tmp_path)
    answer = expected(case, f"asof_{instant}")
    assert_same_table(catalog.read(version=as_of(instant)), answer)
    time = time_of_instant(instant, UTC)
    # Instants that bootstrapping reserves are no dates.
    assert (time is None) == instant.startswith("0000")
    if time is not None:
        assert_same_table(catalog.read(version=TableVersion(VersionKind.TIMESTAMP, time)), answer)


@real
@pytest.mark.parametrize(("case", "instant"), REFUSED)
def test_what_was_cleaned_is_refused_and_says_what_is_left(case: str, instant: str, tmp_path: Path) -> None:
    catalog = opened(case, tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"cleaner kept .* there (is|are)") as caught:
        catalog.read(version=as_of(instant))
    assert caught.value.code.name == "HUDI_CLEANED"


@real
def test_columns_before_they_were_renamed(tmp_path: Path) -> None:
    """The same rows were written in the copy-on-write case, which Hudi reads."""
    case, instant = BEFORE_RENAMING
    met = opened(case, tmp_path).read(version=as_of(instant))
    answer = expected("v6_sor_cow", f"asof_{answers('v6_sor_cow', 'asof')[0]}")
    own = [name for name in answer.column_names if not name.startswith("_hoodie_")]
    assert_same_table(met.select(own), answer.select(own))


@real
def test_the_write_after_an_upgrade_is_seen(tmp_path: Path) -> None:
    """It wrote two rows, one of them over an older one."""
    instant = "20261121094215978"
    met = opened("v8_upgraded_from_v6_mor", tmp_path).read(version=as_of(instant))
    written = met.filter(pc.equal(met.column("_hoodie_commit_time"), instant))
    assert sorted(written.column("name").to_pylist()) == ["after-upgrade", "new"]
    assert met.num_rows == expected("v8_upgraded_from_v6_mor", f"asof_{instant}").num_rows


def rows(ids: list[int], part: str = "a") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array([part] * len(ids), pa.string())})


@pytest.fixture(params=[5, 6, 8, 9])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> HudiWriter:
    return HudiWriter(tmp_path / "table", request.param, ("part",)).create()


@pytest.fixture
def catalog(tmp_path: Path) -> HudiCatalog:
    return make_catalog(tmp_path)


def ids(catalog: HudiCatalog, instant: str | datetime, zone: str = "UTC") -> list[int]:
    kind = VersionKind.VERSION if isinstance(instant, str) else VersionKind.TIMESTAMP
    found: list[int] = sorted(
        catalog.in_zone(zone).read(columns=["id"], version=TableVersion(kind, instant)).column("id").to_pylist()
    )
    return found


def test_groups_that_were_replaced_later_are_there(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1, 2])})
    second = writer.commit({("part=a", "g2"): rows([3])}, action="replacecommit", replaced={"part=a": ["g1"]})
    third = writer.commit({("part=a", "g2"): rows([3, 4])})
    catalog.register(writer.folder)
    assert [ids(catalog, instant) for instant in (first, second, third)] == [[1, 2], [3], [3, 4]]


def test_a_write_that_was_rolled_back_is_not_there(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    lost = writer.commit({("part=a", "g1"): rows([1, 2])})
    for path in writer.timeline.glob(f"{lost}*"):
        path.unlink()
    last = writer.commit({("part=a", "g1"): rows([1, 3])})
    catalog.register(writer.folder)
    assert ids(catalog, lost) == [1]
    assert ids(catalog, last) == [1, 3]


def test_instants_between_writes_and_after_them(catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    between = writer.next_instant()
    writer.commit({("part=a", "g1"): rows([2])})
    catalog.register(writer.folder)
    assert ids(catalog, between) == [1]
    assert ids(catalog, "2030-01-01") == [2]


@pytest.mark.parametrize(
    "text", ["2024-01-02", "2024-01-02 00:00:00", "2024-01-02T00:00:00.000", "20240102000000", "20240102000000000"]
)
def test_every_form_of_an_instant(text: str, catalog: HudiCatalog, writer: HudiWriter) -> None:
    writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    assert ids(catalog, text) == [1]


def test_times_are_the_sessions_wall_clock_unless_the_timeline_is_in_utc(tmp_path: Path, catalog: HudiCatalog) -> None:
    zones = {"LOCAL": [1, 2], "UTC": [1]}
    for zone, seen in zones.items():
        properties = {"hoodie.table.timeline.timezone": zone}
        writer = HudiWriter(tmp_path / zone, 9, ("part",), properties=properties).create()
        writer.commit({("part=a", "g1"): rows([1])})
        writer.clock = 10_000_000
        writer.commit({("part=a", "g1"): rows([1, 2])})
        catalog.register(writer.folder, zone.lower())
        # The second write is of 01:00 of the timeline's clock.
        half_past = datetime(2024, 1, 1, 0, 30, tzinfo=UTC)
        version = TableVersion(VersionKind.TIMESTAMP, half_past)
        met = catalog.in_zone("Europe/Berlin").read(zone.lower(), columns=["id"], version=version)
        assert sorted(met.column("id").to_pylist()) == seen


@pytest.mark.parametrize("text", ["yesterday", "2024", "2024-13-01", "20240101", "2024-01-01 25:00:00", ""])
def test_what_is_no_instant_is_refused_and_says_what_is(text: str, catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    catalog.register(writer.folder)
    with pytest.raises(InvalidArgumentError, match=f"is no instant.*there is: {first}") as caught:
        ids(catalog, text)
    assert caught.value.code.name == "HUDI_BAD_INSTANT"


def test_before_the_first_write_there_is_no_table(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    last = writer.commit({("part=a", "g1"): rows([2])})
    catalog.register(writer.folder)
    with pytest.raises(InvalidArgumentError, match=f"no write as of .*2 writes from {first} to {last}"):
        ids(catalog, "2023-12-31")


def test_an_unfinished_write_of_that_time_is_refused(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    pending = writer.commit({("part=a", "g2"): rows([2])}, complete=False)
    last = writer.commit({("part=a", "g1"): rows([1, 3])})
    catalog.register(writer.folder)
    assert ids(catalog, first) == [1]
    for instant in (pending, last):
        with pytest.raises(InvalidArgumentError, match=f"commit {pending} is not finished") as caught:
            ids(catalog, instant)
        assert caught.value.code.name == "HUDI_PENDING_WRITE"


def test_files_that_are_gone_are_an_error_and_not_fewer_rows(catalog: HudiCatalog, writer: HudiWriter) -> None:
    """Cleaned by a policy that leaves no instant to compare with (KEEP_LATEST_FILE_VERSIONS)."""
    first = writer.commit({("part=a", "g1"): rows([1]), ("part=a", "g2"): rows([2])})
    second = writer.commit({("part=a", "g1"): rows([1, 3])}, previous=first)
    catalog.register(writer.folder)
    assert ids(catalog, first) == [1, 2]
    [old] = writer.folder.glob(f"part=a/g1_*_{first}.parquet")
    old.unlink()
    assert ids(catalog, second) == [1, 2, 3]
    with pytest.raises(InvalidArgumentError, match="no longer on storage") as caught:
        ids(catalog, first)
    assert caught.value.code.name == "HUDI_CLEANED"


def test_groups_that_are_gone_are_an_error_though_their_write_was_archived(
    catalog: HudiCatalog, writer: HudiWriter
) -> None:
    first = writer.commit({("part=a", "g1"): rows([1]), ("part=b", "g2"): rows([2], "b")})
    second = writer.commit({("part=a", "g3"): rows([3])})
    writer.commit({("part=b", "g4"): rows([4], "b")}, action="replacecommit", replaced={"part=b": ["g2"]})
    for path in writer.timeline.glob(f"{first}*"):
        path.unlink()
    catalog.register(writer.folder)
    assert ids(catalog, second) == [1, 2, 3]
    for path in writer.folder.glob("part=b/g2*"):
        path.unlink()
    with pytest.raises(InvalidArgumentError, match="file group g2"):
        ids(catalog, second)


def test_the_columns_are_those_of_that_time(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    wider = rows([2]).append_column("c", pa.array(["x"]))
    second = writer.commit({("part=a", "g2"): wider})
    catalog.register(writer.folder)
    assert catalog.read(version=as_of(first)).column_names[5:] == ["id", "part"]
    assert catalog.read(version=as_of(second)).column_names[5:] == ["id", "part", "c"]


def test_milliseconds_are_cut_not_rounded(catalog: HudiCatalog, writer: HudiWriter) -> None:
    first = writer.commit({("part=a", "g1"): rows([1])})
    writer.commit({("part=a", "g1"): rows([2])})
    catalog.register(writer.folder)
    time = time_of_instant(first, UTC)
    assert time is not None
    assert ids(catalog, time + timedelta(microseconds=999)) == [1]
