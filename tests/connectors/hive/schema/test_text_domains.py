"""Filters on char and varchar columns skip parts of files and no row: by brute force, and with Hive's own files."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyorc
import pytest

from catalog.metastore.model import Database, FieldSchema, Parameters, Table
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connector_spi.scan_counters import ScanCounts, counting
from connectors.hive.connector import HiveConnector
from connectors.hive.schema.text_domains import stored_domain
from connectors.hive.schema.text_types import TextRule, apply_text_rule
from tests.connectors.hive.reading import make_connector, read_table, scan_table
from tests.connectors.hive.table_writer import storage, write_file
from tests.hive_corpus import register_cases, require_corpus

_TEXT = pa.string()
# Below a blank, the blank, above it; before and after the surrogates; the last of all.
_LETTERS = ["\t", " ", "a", "b", "\ud7ff", "\ue000", "\U0010ffff"]
_TEXTS = ["".join(letters) for size in range(4) for letters in itertools.product(_LETTERS, repeat=size)]
# Of real Hive, with columns or keys of both types.
_CASES = ("orc_alltypes", "parquet_alltypes", "acid_alltypes", "acid_part_types", "text_alltypes", "avro_alltypes")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveConnector]:
    require_corpus()
    connector = make_connector(tmp_path_factory.mktemp("metastore"))
    register_cases(connector.metastore.writes, "corpus", _CASES, connector.metastore.transactions)
    yield connector
    connector.shutdown()


@pytest.mark.parametrize("kind", ["char", "varchar"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_no_stored_text_is_left_out_whose_value_is_wanted(kind: str, length: int) -> None:
    rule, chance = TextRule(kind, length), random.Random(length)
    shown = apply_text_rule(pa.array(_TEXTS, _TEXT), rule).to_pylist()
    for _ in range(100):
        domain = _some_domain(chance)
        stored = stored_domain(domain, rule)
        lost = [
            text
            for text, value in zip(_TEXTS, shown, strict=True)
            if domain.includes_value(value) and not stored.includes_value(text)
        ]
        assert not lost, f"{domain} of {kind}({length}) became {stored}"
        assert stored.null_allowed == domain.null_allowed


def test_other_texts_are_left_out() -> None:
    char = stored_domain(Domain.single_value(_TEXT, "ab   "), TextRule("char", 5))
    assert [text for text in ("aa", "ab", "ab ", "ab     ", "abc", "ac", "a") if char.includes_value(text)] == [
        "ab",
        "ab ",
        "ab     ",
    ]
    # One value is one that Bloom filters can be asked about.
    assert stored_domain(Domain.single_value(_TEXT, "ab"), TextRule("varchar", 5)) == Domain.single_value(_TEXT, "ab")
    whole = stored_domain(Domain.single_value(_TEXT, "abcde"), TextRule("varchar", 5))
    assert [text for text in ("abcd", "abcde", "abcdefg", "abcdf") if whole.includes_value(text)] == [
        "abcde",
        "abcdefg",
    ]
    assert stored_domain(Domain.only_null(_TEXT), TextRule("char", 5)) == Domain.only_null(_TEXT)


@pytest.mark.slow
@pytest.mark.parametrize("case", _CASES)
def test_rows_of_hives_own_files_are_the_same_with_and_without_skipping(corpus: HiveConnector, case: str) -> None:
    rows = read_table(corpus, "corpus", case)
    declared = corpus.metastore.reads.get_table("corpus", case)
    assert declared is not None
    fields = (*declared.storage.columns, *declared.partition_keys)
    names = [field.name for field in fields if field.type.startswith(("char", "varchar"))]
    keys = {key.name for key in declared.partition_keys}
    assert names
    for name in names:
        values = sorted({value for value in rows[name].to_pylist() if value is not None})
        domains = [Domain.single_value(_TEXT, value) for value in values[:8]]
        domains += [Domain.only_null(_TEXT), Domain.not_null(_TEXT), *(_up_to(value) for value in values[1:3])]
        for domain in domains:
            constraint = TupleDomain.with_column_domains({name: domain})
            scan = scan_table(corpus, "corpus", case, constraint=constraint)
            assert _chosen(scan.rows, name, domain) == _chosen(rows, name, domain), domain
            if name in keys and domain.is_single_value:
                assert (scan.summary.partitions_kept, scan.summary.partitions_total) == (1, len(values) + 1)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_parts_of_files_are_skipped(hive: HiveConnector, tmp_path: Path, kind: str) -> None:
    fields = [FieldSchema("c", "char(4)"), FieldSchema("v", "varchar(4)")]
    path = tmp_path / "t" / "000000_0"
    rows = 4 if kind == "parquet" else 20_000
    texts = [text for text in ("aaaa", "ab", "b", "z") for _ in range(rows)]
    if kind == "parquet":
        write_file(path, pa.table({"c": texts, "v": texts}), kind, rows)
    else:
        path.parent.mkdir()
        with path.open("wb") as target, pyorc.Writer(target, "struct<c:char(4),v:varchar(4)>", stripe_size=1) as file:
            for text in texts:
                file.write((text, text))
    hive.metastore.writes.create_database(Database("s"))
    table = Table("s", "t", storage(fields, tmp_path / "t", kind), (), Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(table)
    for name, value, skips in (("v", "ab", True), ("v", "aaaa", True), ("c", "ab  ", kind == "parquet")):
        counts = ScanCounts()
        with counting(counts):
            constraint = TupleDomain.with_column_domains({name: Domain.single_value(_TEXT, value)})
            found = scan_table(hive, "s", "t", constraint=constraint).rows
        assert found[name].to_pylist().count(value) == rows
        skipped = counts.as_mapping().get("row groups skipped" if kind == "parquet" else "stripes skipped", 0)
        assert bool(skipped) == skips, name


@pytest.mark.parametrize("written", ["char(6)", "varchar(6)", "string", "int"])
@pytest.mark.parametrize("declared", ["char(3)", "varchar(3)"])
def test_files_of_another_type_lose_no_row(hive: HiveConnector, tmp_path: Path, written: str, declared: str) -> None:
    numbers = list(range(0, 12_000, 117))
    texts = ["ab", "ab ", "abc", "abc ", "abcd", "", " ", "a", "é€", "ab\t", "\U0010ffffa", None]
    values = numbers if written == "int" else texts
    path = tmp_path / "t" / "000000_0"
    path.parent.mkdir()
    with path.open("wb") as target, pyorc.Writer(target, f"struct<c:{written},n:int>", stripe_size=1) as file:
        for at, value in enumerate(value for value in values for _ in range(2000)):
            file.write((value, at))
    hive.metastore.writes.create_database(Database("s"))
    fields = [FieldSchema("c", declared), FieldSchema("n", "int")]
    table = Table("s", "t", storage(fields, tmp_path / "t", "orc"), (), Parameters(), "EXTERNAL_TABLE")
    hive.metastore.writes.create_table(table)
    rows = read_table(hive, "s", "t")
    shown = sorted({value for value in rows["c"].to_pylist() if value is not None})
    for value in shown[:: max(1, len(shown) // 8)]:
        for domain in (Domain.single_value(_TEXT, value), _up_to(value)):
            constraint = TupleDomain.with_column_domains({"c": domain})
            found = scan_table(hive, "s", "t", constraint=constraint).rows
            assert _kept(found, domain) == _kept(rows, domain), domain


def _kept(rows: pa.Table, domain: Domain) -> list[int]:
    texts = rows["c"].dictionary_encode().combine_chunks()
    wanted = [domain.includes_value(value) for value in texts.dictionary.to_pylist()]
    chosen = pc.fill_null(pc.take(pa.array(wanted, pa.bool_()), texts.indices), domain.null_allowed)
    numbers: list[int] = rows["n"].filter(chosen).to_pylist()
    return sorted(numbers)


def _some_domain(chance: random.Random) -> Domain:
    ranges = []
    for _ in range(chance.randint(1, 3)):
        low, high = sorted(chance.sample(_TEXTS, 2))
        bounds = (chance.choice([low, low, None]), chance.choice([high, high, None]))
        ranges.append(Range(_TEXT, bounds[0], chance.random() < 0.5, bounds[1], chance.random() < 0.5))
        if chance.random() < 0.3:
            ranges.append(Range.equal(_TEXT, chance.choice(_TEXTS)))
    return Domain.create(ValueSet.of_ranges(_TEXT, ranges), chance.random() < 0.5)


def _up_to(value: str) -> Domain:
    return Domain.create(ValueSet.of_ranges(_TEXT, [Range.less_or_equal(_TEXT, value)]), False)


def _chosen(rows: pa.Table, name: str, domain: Domain) -> list[str]:
    return sorted(str(row) for row in rows.to_pylist() if domain.includes_value(row[name]))
