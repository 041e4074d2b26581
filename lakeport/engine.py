"""What runs SQL over the catalogs, whichever library does the work.

A session and the shell know an engine by this interface alone:

- resolve and plan: ``Engine.plan`` finds the tables of a statement by the catalogs, in one transaction;
- run: ``LazyResult.rows`` computes what was planned;
- cancel: ``Work.cancel`` ends what a thread has the engine do, from another thread;
- explain: ``Engine.explain``.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Generic, TypeAlias, TypeVar

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.properties import closest
from lakeport.scan_facts import JobCounts
from lakeport.sql.explain.request import ExplainRequest
from lakeport.transactions.lease import ReadLease

__all__ = [
    "ENGINES",
    "Engine",
    "FunctionUsage",
    "LazyResult",
    "Parameters",
    "ResultRows",
    "Work",
    "check_engine",
    "default_engine",
]

Parameters: TypeAlias = "Mapping[str, object] | Sequence[object] | None"
"""Values of the parameters of a statement, by name or in their order; ``None`` where there are none."""

ENGINES = ("spark", "duckdb")
"""Names of the engines; the first is the default where it can run."""
_LOCAL_LIBRARIES = ("duckdb", "sqlglot")


@dataclass(frozen=True, slots=True)
class FunctionUsage:
    """How a function is called.

    Attributes:
        name: Lower case.
        signature: Its arguments as the engine's documentation has them: ``fmt, ts``; empty where there are none.
        description: One sentence.
    """

    name: str
    signature: str
    description: str


@dataclass(frozen=True, slots=True)
class ResultRows:
    """A stream of result rows.

    Attributes:
        schema: Schema of every batch; names may be duplicate. Instants have the session's time zone.
        batches: The batches; the query runs while they are read, and the engine's errors are raised.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


class LazyResult(ABC):
    """A planned statement; one that only does something is done, and has no columns."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """Names of the columns."""

    @property
    @abstractmethod
    def native(self) -> object:
        """What users of the engine work with, such as Spark's DataFrame."""

    @abstractmethod
    def rows(self) -> ResultRows:
        """Runs it; each call runs it anew."""

    @abstractmethod
    def first(self, count: int) -> pa.Table:
        """Its first rows."""

    def cancel(self) -> None:
        """Ends what runs of it alone, if the engine can; whoever reads it gets an error."""

    def counts(self) -> JobCounts:
        """How far its runs are, as far as the result knows it."""
        return JobCounts()


class Work:
    """What a thread has an engine do from now on, for other threads."""

    def __init__(self) -> None:
        self._result: LazyResult | None = None

    def watch(self, result: LazyResult) -> None:
        """Has ``cancel`` end what runs of this, too."""
        self._result = result

    def cancel(self) -> None:
        """Ends what runs, and what would follow."""
        if self._result is not None:
            self._result.cancel()

    def counts(self) -> JobCounts:
        """How far it is."""
        return JobCounts() if self._result is None else self._result.counts()

    def last_counts(self) -> JobCounts:
        """How far it came; may wait a moment."""
        return self.counts()

    def may_plan_again(self, error: Exception) -> bool:
        """Whether an error before the first row would not meet a new plan, such as a file that is gone."""
        return False


ResultT_co = TypeVar("ResultT_co", bound=LazyResult, covariant=True)


class Engine(ABC, Generic[ResultT_co]):
    """An engine as far as a session and the shell know it. May be used by several threads.

    Attributes:
        name: One of ``ENGINES``.
        title: As people write it.
        own_catalogs: Catalogs that it has besides those of the registry.
        setting_names: Settings to complete after ``SET``, beside session properties.
        patience_seconds: How long a cancelled statement is waited for; then it ends unseen.
        own_dialect: A dialect that ``plan_own`` takes as it is written; empty where there is none but Spark's.
        distinct_count: How statistics of a column count distinct values, in Spark's SQL, with braces for the column.
    """

    name: str
    title: str
    own_catalogs: tuple[str, ...] = ()
    setting_names: tuple[str, ...] = ()
    own_dialect: str = ""
    distinct_count: str = "approx_count_distinct({})"
    patience_seconds: float = 5.0

    @property
    @abstractmethod
    def is_started(self) -> bool:
        """Whether statements can run at once; asking starts nothing."""

    @abstractmethod
    def start(self) -> None:
        """Gets ready, which all else does where it is needed.

        Raises:
            UserError: The session is closed.
            ExternalError: It does not start.
        """

    @abstractmethod
    def close(self) -> None:
        """Ends what runs, also a start."""

    @abstractmethod
    def facts(self) -> list[str]:
        """What there is to know of it, a line each; starts nothing."""

    @abstractmethod
    def setting(self, name: str) -> str | None:
        """A setting of the session; ``None`` where it is not set."""

    @abstractmethod
    def session_properties(self) -> dict[str, str]:
        """The session properties that are set, by ``CATALOG.PROPERTY``; starts nothing."""

    @abstractmethod
    def keep_session_properties(self, properties: Mapping[str, str]) -> None:
        """Sets session properties, which are checked, and takes back all others; starts nothing."""

    @abstractmethod
    def plan(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> ResultT_co:
        """Resolves the names of a statement and plans it; what has no rows is done. All its tables of a catalog share
        one transaction.

        Args:
            text: Spark's SQL.
            args: Values of parameters.
            lease: On transactions that it shares with other statements.

        Raises:
            ConnectorError: A name is not there, a catalog refused, or the engine does not run such a statement.
        """

    def plan_own(self, text: str, args: Parameters = None, lease: ReadLease | None = None) -> ResultT_co:
        """As ``plan``, of a statement in the engine's own dialect."""
        raise InvalidArgumentError(f"the engine {self.name} has no dialect of its own")

    @abstractmethod
    def table(self, name: str, lease: ReadLease | None = None) -> ResultT_co:
        """A table by its name; raises as ``plan``."""

    @abstractmethod
    def show_stats(self, name: str, lease: ReadLease | None = None) -> ResultT_co:
        """What ``SHOW STATS FOR name`` shows, the name as it is written; raises as ``plan``."""

    @abstractmethod
    def rows_of(self, table: pa.Table) -> ResultT_co:
        """A result of rows that are there; without columns, of a statement that is done."""

    @abstractmethod
    def explain(self, request: ExplainRequest, lease: ReadLease | None = None) -> ResultT_co:
        """What ``EXPLAIN`` in its forms shows; raises as ``plan``."""

    @abstractmethod
    def block(self, lease: ReadLease) -> AbstractContextManager[None]:
        """A block of this thread whose reads share transactions, also those that do not come through here."""

    @abstractmethod
    def work(self, label: str) -> Work:
        """What this thread has the engine do from now on; starts it where necessary.

        Args:
            label: Of it, for people.
        """

    @abstractmethod
    def current_catalog(self) -> str:
        """The catalog of names that say none."""

    @abstractmethod
    def current_schema(self) -> str:
        """The schema of names that say none, joined by dots; empty where the catalog has none."""

    @abstractmethod
    def function_names(self) -> list[str]:
        """Functions to complete, in no order."""

    @abstractmethod
    def function_usages(self, names: Iterable[str]) -> list[FunctionUsage]:
        """How functions are called, in the order of the names."""


def check_engine(name: str) -> str:
    """The engine of a name.

    Raises:
        InvalidArgumentError: There is no such engine.
    """
    if name not in ENGINES:
        raise InvalidArgumentError(
            f"unknown engine '{name}'{closest(name, ENGINES)}; expected one of {', '.join(ENGINES)}"
        )
    return name


def default_engine() -> str:
    """The engine of who names none: ``duckdb`` where there is no Java and DuckDB is installed, else ``spark``."""
    has_java = bool(os.environ.get("JAVA_HOME")) or shutil.which("java") is not None
    return "spark" if has_java or not all(map(find_spec, _LOCAL_LIBRARIES)) else "duckdb"
