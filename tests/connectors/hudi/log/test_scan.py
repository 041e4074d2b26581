from __future__ import annotations

from collections.abc import Callable

import pytest

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.log.block import BlockType, HeaderKey, LogBlock
from connectors.hudi.log.scan import scan_log_blocks


def data(instant: str, *compacted: str) -> LogBlock:
    headers: dict[int, str] = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: "{}"}
    if compacted:
        headers[HeaderKey.COMPACTED_BLOCK_TIMES] = ",".join(compacted)
    return LogBlock(BlockType.AVRO_DATA, "log", 0, 100, headers=headers)


def delete(instant: str) -> LogBlock:
    return LogBlock(BlockType.DELETE, "log", 0, 100, headers={HeaderKey.INSTANT_TIME: instant})


def rollback(target: str) -> LogBlock:
    headers: dict[int, str] = {
        HeaderKey.INSTANT_TIME: "900",
        HeaderKey.TARGET_INSTANT_TIME: target,
        HeaderKey.COMMAND_BLOCK_TYPE: "0",
    }
    return LogBlock(BlockType.COMMAND, "log", 0, 100, headers=headers)


CORRUPT = LogBlock(BlockType.CORRUPT, "log", 0, 100, version=0)


def instants(
    *blocks: LogBlock,
    committed: Callable[[str], bool] = lambda instant: True,
    latest: str = "999",
    in_range: Callable[[str], bool] | None = None,
) -> list[str]:
    scan = scan_log_blocks(blocks, is_committed=committed, latest_instant=latest, in_range=in_range)
    return [block.instant_time for block in scan.blocks]


def test_data_and_deletes_keep_their_order() -> None:
    blocks = [data("1"), delete("1"), data("2"), data("3")]
    assert scan_log_blocks(blocks, is_committed=lambda _: True, latest_instant="3").blocks == tuple(blocks)


def test_later_writes_and_incomplete_ones_are_not_seen() -> None:
    blocks = [data("1"), data("2"), delete("3"), data("4")]
    assert instants(*blocks, committed={"1", "3", "4"}.__contains__, latest="3") == ["1", "3"]
    assert instants(*blocks, latest="2") == ["1", "2"]


def test_a_rollback_takes_back_all_blocks_of_its_target_before_it() -> None:
    # Its own instant is on no timeline of commits and later than the query, and it counts all the same.
    committed = {"1", "2", "3"}.__contains__
    blocks = (data("1"), data("2"), delete("2"), data("3"), rollback("2"))
    assert instants(*blocks, committed=committed, latest="3") == ["1", "3"]


def test_a_rollback_spares_blocks_behind_it() -> None:
    assert instants(data("1"), data("2"), rollback("2"), data("2")) == ["1", "2"]
    assert instants(rollback("1"), data("1")) == ["1"]
    assert instants(data("1"), rollback("7")) == ["1"]


def test_corrupt_stretches_are_passed_over_and_counted() -> None:
    scan = scan_log_blocks([data("1"), CORRUPT, data("2")], is_committed=lambda _: True, latest_instant="2")
    assert [block.instant_time for block in scan.blocks] == ["1", "2"]
    assert scan.corrupt == (CORRUPT,)


def test_a_compacted_block_stands_at_the_newest_block_that_it_replaces() -> None:
    assert instants(data("1"), data("2"), data("3"), data("4", "1", "2")) == ["4", "3"]
    assert instants(data("1"), data("2"), data("3"), data("4", "1", "3")) == ["2", "4"]


def test_of_nested_compactions_the_outermost_counts() -> None:
    blocks = (data("1"), data("2"), data("3", "1", "2"), data("4"), data("5", "3", "4"), data("6"))
    assert instants(*blocks) == ["5", "6"]


def test_a_compacted_block_later_than_the_query_leaves_its_originals() -> None:
    assert instants(data("1"), data("2"), data("3", "1", "2"), latest="2") == ["1", "2"]


def test_a_rolled_back_compaction_leaves_its_originals() -> None:
    assert instants(data("1"), data("2"), data("3", "1", "2"), rollback("3")) == ["1", "2"]


def test_a_compacted_block_whose_originals_are_gone_still_counts() -> None:
    assert instants(data("3", "1", "2"), data("4")) == ["3", "4"]
    assert instants(data("3", "1", "2"), data("4", "3"), data("5")) == ["4", "5"]
    assert instants(data("3", "3"), data("4")) == ["3", "4"]


def test_of_an_incremental_query_only_writes_in_range_count() -> None:
    blocks = (data("1"), data("2"), data("3"))
    assert instants(*blocks, in_range=lambda instant: instant > "1") == ["2", "3"]
    # A compacted block brings nothing new where what it was merged from is out of range.
    assert instants(data("1"), data("2", "1"), data("3"), in_range=lambda instant: instant > "1") == ["3"]


@pytest.mark.parametrize("kind", [BlockType.CDC_DATA])
def test_blocks_of_other_kinds_are_refused(kind: BlockType) -> None:
    with pytest.raises(NotSupportedError, match="CDC_DATA"):
        instants(LogBlock(kind, "log", 0, 100, headers={HeaderKey.INSTANT_TIME: "1"}))


def test_a_block_without_its_instant_is_an_error() -> None:
    with pytest.raises(CorruptFileError, match="INSTANT_TIME"):
        instants(LogBlock(BlockType.AVRO_DATA, "log", 0, 100))
