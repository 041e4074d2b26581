"""The steps of a write that can fail: operations on storage, and calls to the metastore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pytest

from connector_spi.errors import ConnectorError
from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["FILE_STEPS", "BrokenRun", "Killed", "run_until", "watch_files", "watch_steps"]

FILE_STEPS = ("create", "create_folder", "move", "copy", "delete_file", "delete_folder")
"""Operations of ``FileSystem`` that change storage."""
_WRITES = (
    "add_partitions",
    "alter_table",
    "create_table",
    "drop_table",
    "set_partition_parameters",
    "drop_table_statistics",
    "drop_partition_statistics",
    "set_table_statistics",
    "set_partition_statistics",
)
_TRANSACTIONS = ("open_transaction", "allocate_write_ids", "lock", "add_dynamic_partitions", "commit", "abort")


def watch_files(patch: pytest.MonkeyPatch, before: Callable[[str], None]) -> None:
    """Has ``before`` called before each operation that changes storage."""
    _watch(patch, before, (FileSystem, FILE_STEPS))


def watch_steps(hive: HiveConnector, patch: pytest.MonkeyPatch, before: Callable[[str], None]) -> None:
    """The same, also before each call to the embedded metastore that writes."""
    wrapped = hive.metastore.writes._writer  # type: ignore[attr-defined]  # the one that is wrapped
    transactions = hive.metastore.transactions
    _watch(patch, before, (FileSystem, FILE_STEPS), (wrapped, _WRITES), (transactions, _TRANSACTIONS))


class Killed(BaseException):
    """The process ends here: nothing after it is done."""


@dataclass(frozen=True, slots=True)
class BrokenRun:
    """A write that failed before one of its steps.

    Attributes:
        step: Number of the step, from 0.
        met: The steps that were met.
        done: The write has ended without an error.
    """

    step: int
    met: list[str]
    done: bool

    @property
    def is_last(self) -> bool:
        """There was no such step."""
        return self.step >= len(self.met)

    def __str__(self) -> str:
        return f"before {'the end' if self.is_last else self.met[self.step]}, step {self.step} of {self.met}"


def run_until(
    hive: HiveConnector, patch: pytest.MonkeyPatch, step: int, error: BaseException, write: Callable[[], object]
) -> BrokenRun:
    """Runs a write that fails before a step, or is killed there: then nothing else is done."""
    met: list[str] = []

    def before(name: str) -> None:
        met.append(name)
        if len(met) == step + 1 or (len(met) > step + 1 and isinstance(error, Killed)):
            raise error

    done = False
    with patch.context() as patched:
        watch_steps(hive, patched, before)
        with suppress(ConnectorError, Killed):
            write()
            done = True
    return BrokenRun(step, met, done)


def _watch(patch: pytest.MonkeyPatch, before: Callable[[str], None], *steps: tuple[object, Sequence[str]]) -> None:
    for owner, names in steps:
        for name in names:
            behind = getattr(owner, name)

            def call(
                *given: object, _behind: Callable[..., object] = behind, _name: str = name, **kw: object
            ) -> object:
                before(_name)
                return _behind(*given, **kw)

            patch.setattr(owner, name, call)
