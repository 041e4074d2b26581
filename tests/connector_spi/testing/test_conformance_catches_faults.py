"""Each fault that authors put into a connector is caught by a check, which says what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.testing import Behaviour, assert_same_rows
from connector_spi.testing.sample_data import TYPED_COLUMNS
from tests.connector_spi.testing import faulty_connectors as faulty
from tests.connector_spi.testing.sqlite_connector import (
    SqliteConnector,
    SqliteMetadata,
    SqliteProvider,
    SqliteSplitManager,
)
from tests.connector_spi.testing.sqlite_suite import SqliteConformance

Check = Callable[[SqliteConformance], object]


@dataclass(frozen=True)
class Fault:
    """What is broken, the check that has to notice, and words of what it says."""

    name: str
    check: Check
    says: str
    metadata: type[SqliteMetadata] = SqliteMetadata
    splits: type[SqliteSplitManager] = SqliteSplitManager
    provider: type[SqliteProvider] = SqliteProvider
    connector: type[SqliteConnector] = SqliteConnector
    missing: frozenset[Behaviour] = field(default_factory=frozenset)


def lists_as_missing(behaviour: Behaviour) -> Fault:
    return Fault(
        f"lists {behaviour.name} as missing",
        lambda suite: suite.test_what_is_listed_as_missing_is_missing(behaviour),
        f"{behaviour.name} is listed as missing, and is there",
        missing=frozenset({behaviour}),
    )


def strings(suite: SqliteConformance) -> None:
    suite.test_strings_are_compared_letter_by_letter()


def many_rows(suite: SqliteConformance) -> None:
    suite.test_many_rows_come_in_bounded_batches_exactly_once()


def end_of_many(suite: SqliteConformance) -> None:
    suite.test_filters_find_rows_at_the_end_of_many()


def damaged(suite: SqliteConformance) -> None:
    suite.test_damaged_data_is_an_error()


def vanished(suite: SqliteConformance) -> None:
    suite.test_data_that_vanishes_while_it_is_read_is_an_error()


def secrets(suite: SqliteConformance) -> None:
    suite.test_secrets_do_not_travel_and_are_not_shown()


def system_tables(suite: SqliteConformance) -> None:
    suite.test_system_tables_have_the_rows_that_their_metadata_says()


def procedures(suite: SqliteConformance) -> None:
    suite.test_procedures_give_what_they_are_described_to()


def time_zone(suite: SqliteConformance) -> None:
    suite.test_the_time_zone_of_the_process_changes_nothing()


def other_process(suite: SqliteConformance) -> None:
    suite.test_a_task_reads_in_another_process_and_meets_no_driver_module()


def splits_end(suite: SqliteConformance) -> None:
    suite.seconds_for_splits = 0.5  # type: ignore[misc]
    suite.test_splits_come_to_an_end()


NO_ERROR = "DID NOT RAISE"
FAULTS = [
    Fault(
        "filter in the driver",
        other_process,
        "in another process, filter id in .*0 rows are missing",
        metadata=faulty.DriverFilterMetadata,
        provider=faulty.DriverFilterProvider,
    ),
    Fault(
        "never null",
        lambda suite: suite.test_columns_that_are_not_nullable_hold_no_null(),
        r"columns \['name', .*\] say nullable=False, and hold NULL",
        metadata=faulty.NeverNullMetadata,
    ),
    Fault("pasted values", strings, "", provider=faulty.PastedValuesProvider),
    Fault(
        "pasted names",
        lambda suite: suite.test_columns_may_have_any_name(),
        "",
        provider=faulty.PastedNamesProvider,
    ),
    Fault(
        "bare names",
        lambda suite: suite.test_columns_may_be_named_as_keywords_are(),
        "",
        provider=faulty.BareNamesProvider,
    ),
    Fault(
        "names as paths",
        lambda suite: suite.test_names_that_no_table_has_are_not_found("*"),
        "",
        metadata=faulty.PathNamesMetadata,
    ),
    Fault(
        "limit before filter",
        lambda suite: suite.test_a_limit_after_a_filter_counts_what_the_filter_lets_through(),
        r"the limit 7 left \[\] of the 10 rows that fit",
        provider=faulty.EarlyLimitProvider,
    ),
    Fault(
        "a hundred values",
        lambda suite: suite.test_long_lists_are_exact(101),
        "1 rows are missing .-., 0 should not be there",
        provider=faulty.ShortListProvider,
    ),
    Fault(
        "integers as floats",
        lambda suite: suite.test_integers_are_compared_as_integers(),
        "filter n in .*90071992547409",
        provider=faulty.FloatProvider,
    ),
    Fault("capitals", strings, "filter v in .*\\+ id=1, v='A'", provider=faulty.CaseProvider),
    Fault(
        "result of a procedure",
        procedures,
        "procedure count_rows gave .*'count'.*, not .*'rows'",
        connector=faulty.OddResultConnector,
    ),
    Fault("KeyError in a procedure", procedures, "tabel_name", connector=faulty.KeyErrorConnector),
    Fault(
        "KeyError in a refusing procedure",
        lambda suite: suite.test_procedures_refuse_what_is_not_there(),
        "tabel_name",
        connector=faulty.KeyErrorConnector,
    ),
    Fault(
        "type in a system table",
        system_tables,
        "met .'row_count', DataType.int32.*expected .'row_count', DataType.int64",
        metadata=faulty.OddSystemTableMetadata,
    ),
    Fault("empty system table", system_tables, "has no rows", metadata=faulty.EmptySystemTableMetadata),
    Fault("error of sqlite3", vanished, "unable to open database file", provider=faulty.RawErrorProvider),
    Fault(
        "KeyError of a version",
        lambda suite: suite.test_odd_versions_raise_the_errors_of_the_spi("null"),
        "null",
        metadata=faulty.RawKeyErrorMetadata,
    ),
    Fault("error of Arrow", vanished, "Tried reading schema message", provider=faulty.RawArrowProvider),
    Fault("vanished data as none", vanished, NO_ERROR, provider=faulty.ForgivingProvider),
    Fault(
        "damaged data as none",
        damaged,
        NO_ERROR,
        metadata=faulty.ForgivingMetadata,
        provider=faulty.ForgivingProvider,
    ),
    Fault("secret in a handle", secrets, "a SqliteTable holds a secret", connector=faulty.SecretHandleConnector),
    Fault(
        "secret in a property",
        secrets,
        "the metadata holds a secret",
        connector=faulty.SecretPropertyConnector,
    ),
    Fault(
        "open connections",
        lambda suite: suite.test_reading_leaves_no_file_open(),
        r"reading left open .*t\.db",
        provider=faulty.OpenConnectionProvider,
    ),
    Fault(
        "open file",
        lambda suite: suite.test_shutdown_leaves_no_file_open(),
        r"the connector left open .*log\.txt",
        connector=faulty.OpenFileConnector,
    ),
    Fault(
        "all at once",
        many_rows,
        "a batch of 250000 rows; expected at most 65536",
        splits=faulty.LargeSplitManager,
        provider=faulty.AllAtOnceProvider,
    ),
    Fault("endless splits", splits_end, "more than 100000 splits", splits=faulty.EndlessSplitManager),
    Fault("endless eager splits", splits_end, "had no end after 0.5 seconds", splits=faulty.EagerSplitManager),
    Fault("local time", time_zone, "under TZ=Asia/Kathmandu", provider=faulty.LocalTimeProvider),
    Fault("local time of a task", other_process, "in another process", provider=faulty.LocalTimeProvider),
    Fault("last batch", end_of_many, "rows came, expected 6000", provider=faulty.LosesLastBatchProvider),
    Fault("last split", end_of_many, "rows came, expected 6000", splits=faulty.LosesLastSplitManager),
    Fault(
        "last write",
        lambda suite: suite.test_rows_of_several_writes_all_come(),
        "2 rows are missing .-., 0 should not be there .*; 6 came\n- id=6, v='w3'",
        metadata=faulty.FirstWriteMetadata,
    ),
    Fault(
        "-0.0",
        lambda suite: suite.test_values_and_nulls_of_a_type_come_back(Behaviour.TYPE_DOUBLE),
        r"differ in the columns \['v'\]\n- id=1, v=-0.0\n\+ id=1, v=0.0",
        provider=faulty.PlainZeroProvider,
    ),
    *(
        lists_as_missing(behaviour)
        for behaviour in (
            Behaviour.ADDED_ROWS,
            Behaviour.ANY_COLUMN_NAME,
            Behaviour.EMPTY_TABLES,
            Behaviour.FILTER_PUSHDOWN,
            Behaviour.PROCEDURES,
            Behaviour.SEVERAL_SCHEMAS,
            Behaviour.SYSTEM_TABLES,
            Behaviour.TYPE_DOUBLE,
            Behaviour.TYPE_TIMESTAMP,
            Behaviour.VALUE_EMPTY_STRING,
        )
    ),
]


@pytest.mark.process
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_fault_is_caught(fault: Fault, tmp_path: Path) -> None:
    suite = suite_of(fault, tmp_path)
    with pytest.raises((Exception, pytest.fail.Exception)) as met:
        fault.check(suite)
    assert re.search(fault.says, str(met.value), re.DOTALL), str(met.value)


def test_a_value_may_be_listed_as_missing(tmp_path: Path) -> None:
    listed = frozenset({Behaviour.VALUE_NEGATIVE_ZERO})
    fault = Fault("-0.0", lambda suite: None, "", provider=faulty.PlainZeroProvider, missing=listed)
    suite = suite_of(fault, tmp_path)
    suite.test_values_and_nulls_of_a_type_come_back(Behaviour.TYPE_DOUBLE)
    suite.test_what_is_listed_as_missing_is_missing(Behaviour.VALUE_NEGATIVE_ZERO)


def test_what_differs_is_shown() -> None:
    expected = pa.table({"id": [1, 2, 3], "v": TYPED_COLUMNS[Behaviour.TYPE_DOUBLE].slice(0, 3)})
    met = pa.table({"id": [1, 2, 4], "v": [0.0, None, None]})
    with pytest.raises(AssertionError) as caught:
        assert_same_rows(met, expected)
    assert str(caught.value).splitlines() == [
        "3 rows are missing (-), 3 should not be there (+); 3 came",
        "rows with the same id differ in the columns ['v']",
        "- id=1, v=-0.0",
        "- id=2, v=nan",
        "- id=3, v=None",
        "+ id=1, v=0.0",
        "+ id=2, v=None",
        "+ id=4, v=None",
    ]


def suite_of(fault: Fault, folder: Path) -> SqliteConformance:
    classes = {"metadata_class": fault.metadata, "splits_class": fault.splits, "provider_class": fault.provider}

    class Broken(SqliteConformance):
        connector_class = type("Broken", (fault.connector,), classes)
        missing_behaviours = SqliteConformance.missing_behaviours | fault.missing

    suite = Broken()
    suite.folder = folder
    suite.open_at_first = {}
    suite.connector = suite.create_connector()
    return suite
