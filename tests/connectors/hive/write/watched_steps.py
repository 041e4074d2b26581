"""The steps of a write that can fail: operations on storage, and calls to the metastore."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from connectors.hive.connector import HiveConnector
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["FILE_STEPS", "watch_files", "watch_steps"]

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
