"""The file of the embedded metastore: SQLite connections, transactions and the schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock

from catalog.metastore import error_codes
from catalog.metastore.calls.statistics import CallStatistics
from connector_spi.errors import MetastoreError

__all__ = ["SqliteStore"]

_BUSY_SECONDS = 60.0
_MAX_IDLE = 8
_APPLICATION_ID = 0x4C4B5054
_VERSION = 1
_SCHEMA = """
CREATE TABLE databases (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tables (
    database TEXT NOT NULL REFERENCES databases, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (database, name)) WITHOUT ROWID;
CREATE TABLE storages (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
CREATE TABLE partitions (
    database TEXT NOT NULL, table_name TEXT NOT NULL, name TEXT NOT NULL, partition_values TEXT NOT NULL,
    location TEXT, storage INTEGER NOT NULL REFERENCES storages, parameters TEXT NOT NULL, create_time INTEGER NOT NULL,
    PRIMARY KEY (database, table_name, name),
    FOREIGN KEY (database, table_name) REFERENCES tables ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE statistics (
    database TEXT NOT NULL, table_name TEXT NOT NULL, partition TEXT NOT NULL, column_name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (database, table_name, partition, column_name),
    FOREIGN KEY (database, table_name) REFERENCES tables ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL,
    heartbeat REAL NOT NULL);
CREATE INDEX transactions_not_committed ON transactions (state) WHERE state <> 'committed';
CREATE TABLE next_write_ids (
    database TEXT NOT NULL, table_name TEXT NOT NULL, next INTEGER NOT NULL,
    PRIMARY KEY (database, table_name)) WITHOUT ROWID;
CREATE TABLE write_ids (
    database TEXT NOT NULL, table_name TEXT NOT NULL, write_id INTEGER NOT NULL, txn INTEGER NOT NULL,
    PRIMARY KEY (database, table_name, write_id)) WITHOUT ROWID;
CREATE TABLE locks (id INTEGER PRIMARY KEY AUTOINCREMENT, txn INTEGER NOT NULL, acquired INTEGER NOT NULL);
CREATE TABLE lock_components (
    lock INTEGER NOT NULL REFERENCES locks ON DELETE CASCADE, database TEXT NOT NULL, table_name TEXT,
    partition TEXT, type TEXT NOT NULL);
CREATE INDEX lock_components_by_lock ON lock_components (lock);
"""


class SqliteStore:
    """Connections to one SQLite file, for many threads and many processes at once.

    The file, and the directory it lies in, are made by the first write; until then reads meet a new, empty metastore
    that is only in memory. Writes of different processes wait for each other, a minute at most. The file must lie on a
    local disk: SQLite's locks fail on many network file systems.

    Args:
        path: The file.
        default_database: JSON of the database that a new file begins with.
    """

    def __init__(self, path: Path, default_database: str) -> None:
        self.path = path
        self.statistics = CallStatistics()
        self._default_database = default_database
        self._lock = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._prepared = False
        self._closed = False

    @contextmanager
    def read(self, method: str) -> Iterator[sqlite3.Connection]:
        """One consistent view of the file for the block; counted as one call of ``method``."""
        if not self._prepared and self.is_missing():
            with self.statistics.measure(method), closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
                self._create_tables(empty)
                yield empty
            return
        with self._transaction(method, "BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self, method: str) -> Iterator[sqlite3.Connection]:
        """A transaction that no other may write beside; rolled back when the block fails."""
        with self._transaction(method, "BEGIN IMMEDIATE") as connection:
            yield connection

    def is_missing(self) -> bool:
        """Whether there is no file yet, or one that nothing was written to."""
        try:
            return self.path.stat().st_size == 0
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            # What is wrong with it is SQLite's to say.
            return False

    def close(self) -> None:
        """Closes the idle connections; one in use is closed when its transaction ends."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _transaction(self, method: str, begin: str) -> Iterator[sqlite3.Connection]:
        with self.statistics.measure(method), self._mapped(method):
            connection = self._take()
            try:
                with _within(connection, begin):
                    yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def _mapped(self, method: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            code = error_codes.TIMED_OUT if "locked" in str(error) else error_codes.REFUSED_REQUEST
            raise MetastoreError(f"{method}: the embedded metastore {self.path}: {error}", code) from error
        except sqlite3.DatabaseError as error:
            raise MetastoreError(f"{method}: the embedded metastore {self.path}: {error}") from error
        except OSError as error:
            if isinstance(error, MetastoreError) or error.filename is None:
                raise
            raise MetastoreError(f"{method}: the embedded metastore {self.path}: {error.strerror}") from error

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            prepared = self._prepared
        if not prepared:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if not prepared:
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._prepared = True
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Makes the tables, once, whichever process comes first."""
        with _within(connection, "BEGIN"):
            if self._is_ours(connection):
                return
        with _within(connection, "BEGIN IMMEDIATE"):
            if self._is_ours(connection):
                return
            self._create_tables(connection)

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO databases VALUES ('default', ?)", (self._default_database,))
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is a metastore of this version; false for an empty one.

        Raises:
            MetastoreError: It is another SQLite file, or of another version.
        """
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == version == tables == 0:
            return False
        if application != _APPLICATION_ID:
            raise MetastoreError(f"{self.path} is a SQLite file but no metastore; check hive.metastore.embedded.path")
        if version != _VERSION:
            raise MetastoreError(
                f"the embedded metastore {self.path} has schema version {version}, this Lakeport reads {_VERSION}; "
                "use the Lakeport that wrote it, or make the metastore again"
            )
        return True


@contextmanager
def _within(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    try:
        connection.execute(begin)
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
