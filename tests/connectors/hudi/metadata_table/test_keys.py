from __future__ import annotations

import base64

import pytest

from connectors.hudi.metadata_table.keys import (
    column_stats_key,
    partition_stats_key,
)
from connectors.toolkit.codecs.xxhash import xxh64


@pytest.mark.parametrize(
    ("text", "seed", "digest"),
    [
        ("", 0, 0xEF46DB3751D8E999),
        ("abc", 0, 0x44BC2CF5AD770999),
        ("Nobody inspects the spammish repetition", 0, 0xFBCEA83C8A378BF1),
        ("xxhash", 20141025, 0xB559B98D844E0635),
    ],
)
def test_the_hash_is_xxhash(text: str, seed: int, digest: int) -> None:
    assert xxh64(text.encode(), seed) == digest


def test_names_are_hashed_with_a_seed_that_keeps_its_sign() -> None:
    """The texts are of tables that Hudi wrote."""
    names = {"driver": b"AjpJ7N1gBZc=", "rider": b"JSg2t74bWYU=", "part": b"+WGrmgkN3io="}
    for name, text in names.items():
        assert partition_stats_key(name, "p2")[:12] == text
    assert partition_stats_key("rider", "city=sao_paulo")[12:] == b"6Hj+sBy+gvM="
    assert partition_stats_key("rider", "p2")[12:] == b"iBsANRlvpYk="


def test_a_files_key_begins_with_that_of_its_partition() -> None:
    name = "8614fd47-de73-438a-8081-4fc636754b15-0_1-10470-15621_20261121093414580.parquet"
    key = column_stats_key("part", "p2", name)
    assert key == b"+WGrmgkN3io=iBsANRlvpYk=fln7glTVIuI9svIAbOdwjg=="
    assert key.startswith(partition_stats_key("part", "p2"))


def test_a_table_without_partitions_has_the_partition_dot() -> None:
    assert partition_stats_key("id", "") == partition_stats_key("id", ".")
    assert len(base64.b64decode(partition_stats_key("id", "")[12:])) == 8
