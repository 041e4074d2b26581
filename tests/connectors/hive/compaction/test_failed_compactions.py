"""Compactions that fail at any step, are killed or refused: nothing changes, and the next one works."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.compactions import CompactionJob, CompactionKind
from catalog.metastore.embedded.metastore import open_store
from catalog.metastore.embedded.transactions import EmbeddedTransactions
from connector_spi.errors import ConnectorError, MetastoreError, NotSupportedError, StorageError
from connector_spi.properties import parse_properties
from connector_spi.testing.writing import insert_rows
from connectors.hive import error_codes
from connectors.hive.compaction import worker as worker_module
from connectors.hive.compaction.output import CompactedFiles
from connectors.hive.connector import HiveConnector, HiveFactory
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.hive.compaction.compacting import clean, compact
from tests.connectors.hive.compaction.test_compactions import data
from tests.connectors.hive.table_writer import create_table
from tests.connectors.hive.write.test_acid_inserts import files, new_table
from tests.connectors.hive.write.test_acid_merges import NAME, change, ids, row, rows

_FULL = {"transactional": "true"}


def test_a_failure_at_any_step_changes_nothing(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1, 2)])
    change(hive, (1,), row(3, "c", "x"))
    before, there = rows(hive), files(directory)
    broken = [
        (CompactedFiles, "add"),
        (CompactedFiles, "publish"),
        (FileSystem, "write_bytes"),
        (EmbeddedTransactions, "begin_compaction"),
        (EmbeddedTransactions, "lock"),
        (EmbeddedTransactions, "mark_compacted"),
        (EmbeddedTransactions, "open_compaction"),
        (worker_module, "plan_compaction"),
    ]
    for owner, name in broken:

        def fail(*arguments: object, **named: object) -> None:
            raise StorageError("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(owner, name, fail)
            with pytest.raises(ConnectorError, match="the disk is full"):
                compact(hive)
        [shown] = hive.metastore.transactions.show_compactions("s", "t")[:1]
        assert (shown.state, shown.error) == ("failed", "the disk is full"), name
        assert files(directory) == there, name
        assert rows(hive) == before
        assert hive.metastore.transactions.get_valid_transactions().open == ()
    assert compact(hive)["state"] == "ready for cleaning"
    assert rows(hive) == before
    assert clean(hive)[0]["state"] == "succeeded"
    assert rows(hive) == before


def test_a_transaction_that_the_metastore_gave_up(
    hive: HiveConnector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1)])
    insert_rows(hive, NAME, [data(2)])
    there = files(directory)
    mark, client = EmbeddedTransactions.mark_compacted, hive.metastore.transactions

    def abort_before(self: EmbeddedTransactions, job: object) -> None:
        client.abort(max(client.get_valid_transactions().open))
        mark(self, job)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedTransactions, "mark_compacted", abort_before)
        with pytest.raises(MetastoreError) as raised:
            compact(hive)
    assert raised.value.code == error_codes.HIVE_TRANSACTION_LOST
    assert (ids(hive), files(directory)) == ([1, 2], there)


def test_a_killed_one_blocks_no_other(hive: HiveConnector, tmp_path: Path) -> None:
    """Its files are there, its transaction was aborted by its timeout; the metastore still has it as being made."""
    directory = new_table(hive, tmp_path, False, _FULL)
    insert_rows(hive, NAME, [data(1)])
    insert_rows(hive, NAME, [data(2)])
    client = hive.metastore.transactions
    client.request_compaction("s", "t", None, CompactionKind.MAJOR)
    job = client.take_compaction("gone", None)
    assert job is not None
    transaction = client.open_compaction("ann", "gone")
    client.begin_compaction(replace(job, highest_write_id=2), transaction)
    shutil.copytree(directory / "delta_0000001_0000001_0000", directory / f"base_0000002_v{transaction}")
    assert ids(hive) == [1, 2]
    with pytest.raises(MetastoreError, match="is working already"):
        compact(hive)
    client.abort(transaction)
    assert ids(hive) == [1, 2]
    assert compact(hive)["compaction"] == 2
    assert clean(hive)[0]["state"] == "succeeded"
    [left] = {path.partition("/")[0] for path in files(directory)}
    assert left.startswith("base_0000002_v")
    assert left != f"base_0000002_v{transaction}"
    assert ids(hive) == [1, 2]


def test_what_is_not_compacted(hive: HiveConnector, tmp_path: Path) -> None:
    create_table(hive.metastore, tmp_path, "s", "plain", data(1))
    create_table(hive.metastore, tmp_path, "s", "t", data(1), file_format="orc", parameters=_FULL)
    with pytest.raises(NotSupportedError, match="it is not transactional"):
        compact(hive, table_name="plain")
    with pytest.raises(NotSupportedError, match="its metastore has given out none of its write ids"):
        compact(hive)
    assert clean(hive) == []


class HiveThree(EmbeddedTransactions):
    """Has no calls for workers, as metastores of Hive 3."""

    def take_compaction(self, worker: str, pool: str | None) -> CompactionJob | None:
        raise MetastoreError("Invalid method name: 'find_next_compact2'", metastore_codes.NO_SUCH_CALL)


def test_a_metastore_without_calls_for_workers_is_asked_for_nothing(hive: HiveConnector, tmp_path: Path) -> None:
    new_table(hive, tmp_path, False, _FULL)
    kept = hive.metastore.transactions
    three = replace(hive.metastore, transactions=HiveThree(open_store(tmp_path / "metastore.db")))
    given = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(tmp_path / "metastore.db")}
    over = HiveConnector(parse_properties(HiveFactory().config_properties, given, lambda name: name), three)
    with pytest.raises(NotSupportedError, match="they came with Hive 4"):
        compact(over)
    assert kept.show_compactions("s", "t") == []
    over.shutdown()
