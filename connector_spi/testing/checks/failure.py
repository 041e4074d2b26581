"""What a connector does with names that are none, damage, secrets and files: errors are its own, nothing is left."""

from __future__ import annotations

import gc
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

import pyarrow as pa
import pytest

from connector_spi.errors import ConnectorError
from connector_spi.metadata import SupportsTimeTravel, TableVersion, VersionKind
from connector_spi.names import SchemaTableName
from connector_spi.predicate import Domain, TupleDomain
from connector_spi.testing.base import SCHEMA, ConformanceBase, open_files
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.reading import read_table
from connector_spi.testing.sample_data import mixed_table

__all__ = ["FailureChecks"]

_ROWS = pa.table({"id": pa.array(range(60), pa.int64()), "v": pa.array([f"value {row}" for row in range(60)])})
_LOOKS = 10
_BETWEEN_LOOKS = 0.2
_NO_NAMES = (
    *("' OR '1'='1", "'; DROP TABLE t; --", '"', "`", "%", "_", "*", "?", "\\", "..", ".", "../t", "/", "/etc"),
    *("t\0", "a" * 300, "t ", " t", "t;", "{0}", "\U0001f600", "t$", "$t"),
)
_SHORTEST_SECRET = 4


class FailureChecks(ConformanceBase):
    """Odd names and versions, damaged data, secrets, open files, splits without end."""

    @pytest.mark.parametrize("odd", _NO_NAMES)
    def test_names_that_no_table_has_are_not_found(self, odd: str) -> None:
        name = self.made(_ROWS.slice(0, 2))
        with self.query() as query:
            metadata, session = query.metadata, query.session
            assert metadata.get_table_handle(session, SchemaTableName(SCHEMA, odd)) is None
            assert metadata.get_table_handle(session, SchemaTableName(odd, name.table)) is None
            assert list(metadata.list_tables(session, odd)) == []
            assert not metadata.schema_exists(session, odd)
            assert name in metadata.list_tables(session, SCHEMA), "the table is gone"

    @pytest.mark.parametrize("odd", ["", "-1", "'", "1e9", "9" * 30, "%", "null", "\U0001f600"])
    def test_odd_versions_raise_the_errors_of_the_spi(self, odd: str) -> None:
        self.require(Behaviour.TIME_TRAVEL)
        name = self.made(_ROWS.slice(0, 2))
        with self.query() as query:
            assert isinstance(query.metadata, SupportsTimeTravel)
            with pytest.raises(ConnectorError):
                query.metadata.get_table_handle_at(query.session, name, TableVersion(VersionKind.VERSION, odd))

    def test_damaged_data_is_an_error(self) -> None:
        self.require(Behaviour.DAMAGED_DATA)
        name = self.made(_ROWS)
        self.damage(name, delete=False)
        with pytest.raises(ConnectorError):
            read_table(self.connector, name)

    def test_data_that_vanishes_while_it_is_read_is_an_error(self) -> None:
        self.require(Behaviour.DAMAGED_DATA)
        name = self.made(_ROWS)
        with self.query() as query:
            scan = query.table(name)
            splits, _ = scan.splits()
            self.damage(name, delete=True)
            with pytest.raises(ConnectorError):
                _ = [scan.read_split(split) for split in splits]

    def test_secrets_do_not_travel_and_are_not_shown(self) -> None:
        given = self.catalog_properties()
        sensitive = [prop.name for prop in self.factory().config_properties if prop.sensitive]
        secrets = [given[name] for name in sensitive if len(given.get(name, "")) >= _SHORTEST_SECRET]
        if not secrets:
            pytest.skip("catalog_properties sets no property that is sensitive")
        name = self.made(_ROWS.slice(0, 10))
        only = TupleDomain({"id": Domain.single_value(pa.int64(), 3)})
        with self.query() as query:
            scan = query.table(name).filter_by_name(only)
            splits, summary = scan.splits()
            table = query.metadata.get_table_metadata(query.session, scan.table)
            properties = query.metadata.get_schema_properties(query.session, name.schema)
        shown: dict[str, object] = {f"a {type(one).__name__}": one for one in (scan.table, *splits, *scan.columns)}
        shown |= {"the summary": summary, "the metadata": table, "the properties of the schema": properties}
        for secret in secrets:
            for what, value in shown.items():
                is_held = secret in repr(value) or secret.encode() in pickle.dumps(value)
                assert not is_held, f"{what} holds a secret of the catalog"

    def test_reading_leaves_no_file_open(self) -> None:
        name = self.made(_ROWS)
        self._read_in_all_ways(name)
        before = _open_now()
        for _ in range(3):
            self._read_in_all_ways(name)
        left = _left_open(before)
        assert len(left) == 0, f"reading left open {left}"

    def test_shutdown_leaves_no_file_open(self) -> None:
        name = self.made(_ROWS)
        self._read_in_all_ways(name)
        self.connector.shutdown()
        left = _left_open(self.open_at_first)
        # The fixture shuts down what this leaves in its place.
        self.connector = self.create_connector()
        assert left == [], f"the connector left open {left}"

    def test_splits_come_to_an_end(self) -> None:
        name = self.made(mixed_table(self.missing_behaviours))
        with self.query() as query:
            scan = query.table(name)
            with _ends(self.seconds_for_splits, "planning the splits of a table of 24 rows"):
                splits, _ = scan.splits()
            assert splits
            manager = self.connector.split_manager
            with manager.get_splits(
                query.transaction, query.session, scan.table, scan.columns, TupleDomain.all()
            ) as source:
                next(iter(source))

    def _read_in_all_ways(self, name: SchemaTableName) -> None:
        provider = self.connector.page_source_provider
        with self.query() as query:
            scan = query.table(name)
            scan.read()
            splits, _ = scan.splits()
            for taken in (0, 1):
                with provider.create_page_source(
                    query.session, splits[0], scan.table, scan.columns, TupleDomain.all()
                ) as source:
                    for _ in range(taken):
                        next(source)


def _left_open(before: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was opened since and stays open: threads of others open files for a moment, too."""
    left: list[tuple[str, str]] = []
    for _ in range(_LOOKS):
        left = sorted(_open_now().items() - before.items())
        if not left:
            break
        time.sleep(_BETWEEN_LOOKS)
    return left


def _open_now() -> dict[str, str]:
    # What is open only until a cycle of objects is collected is not what is looked for.
    gc.collect()
    return dict(open_files())


@contextmanager
def _ends(seconds: float, what: str) -> Iterator[None]:
    """Ends a block that does not end by itself, where the system can."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"{what} had no end after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
