"""Filters that the metastore evaluates, against every partition looked at here, on values that others get wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from datetime import date

import pyarrow as pa
import pytest

from catalog.metastore.embedded.metastore import EmbeddedMetastore
from catalog.metastore.factory import Metastore
from catalog.metastore.model import FieldSchema
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.partitions.patterns import MAX_PATTERNS, partition_patterns
from catalog.metastore.testing.objects import add_partitions, new_table
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from connector_spi.partition_names import DEFAULT_PARTITION
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from tests.hms import HiveMetastoreServer
from tests.sampling import examples

KEYS = (("s", "string"), ("n", "int"), ("d", "date"))
TYPES = {"s": pa.string(), "n": pa.int32(), "d": pa.date32()}
TEXTS = [
    *("a", "A", "a_b", "aXb", "a.b", "a/b", "a%2Fb", "x=y", "a b", " a", "a ", "2024-01-01 00:00:00", "-", "aa"),
    *(
        "it's",
        'd"q',
        "back\\slash",
        "ü",
        "100%",
        ".*",
        "*",
        "a|b",
        "(a)",
        "[ab]",
        "a+",
        "^a$",
        "{a}",
        "01",
        "1",
        "NULL",
    ),
    *("null", "or", "s=a", "a/n=1", "a'or'1'='1", "日本", "e\u0301", DEFAULT_PARTITION, "__hive"),
]
NUMBERS = {"1": 1, "01": 1, "-5": -5, "-05": -5, "10": 10, "+7": 7, "0": 0, "2147483647": 2**31 - 1}
DATES = {"2024-01-01": date(2024, 1, 1), "0001-12-31": date(1, 12, 31), "2024-02-29": date(2024, 2, 29)}


def partitions() -> list[tuple[str, str, str]]:
    numbers, dates = itertools.cycle([*NUMBERS, DEFAULT_PARTITION]), itertools.cycle([*DATES, DEFAULT_PARTITION])
    found = [(text, next(numbers), next(dates)) for text in TEXTS]
    return found + [("a", number, next(dates)) for number in NUMBERS if ("a", number) not in {p[:2] for p in found}]


def typed(values: tuple[str, str, str]) -> dict[str, Value | None]:
    text, number, day = values
    return {
        "s": None if text == DEFAULT_PARTITION else text,
        "n": NUMBERS.get(number),
        "d": DATES.get(day),
    }


def random_domain(chance: random.Random, key: str) -> Domain:
    arrow = TYPES[key]
    pools: dict[str, list[Value]] = {"s": [*TEXTS], "n": [*NUMBERS.values(), 3], "d": [*DATES.values()]}
    pool = pools[key]
    kind = chance.randrange(5)
    if kind == 0:
        return Domain.only_null(arrow)
    if kind == 1:
        low = chance.choice(pool)
        bounds = [Range.greater_or_equal(arrow, low), Range.less_than(arrow, low)]
        return Domain.create(ValueSet.of_ranges(arrow, [chance.choice(bounds)]), chance.random() < 0.3)
    values = ValueSet.of(arrow, chance.choices(pool, k=1 if kind < 4 else 4))
    return Domain.create(values, chance.random() < 0.3)


def expected(names: Iterable[tuple[str, str, str]], domains: dict[str, Domain]) -> set[str]:
    return {
        make_partition_name(list(TYPES), values)
        for values in names
        if all(domain.includes_value(typed(values)[key]) for key, domain in domains.items())
    }


@pytest.fixture
def odd_table(metastore: Metastore) -> tuple[str, tuple[FieldSchema, ...], list[tuple[str, str, str]]]:
    table = new_table(metastore, *KEYS)
    made = partitions()
    add_partitions(metastore, table, *made)
    return table.database, table.partition_keys, made


@pytest.mark.slow
def test_no_partition_is_missed(
    metastore: Metastore, odd_table: tuple[str, tuple[FieldSchema, ...], list[tuple[str, str, str]]]
) -> None:
    database, keys, made = odd_table
    reads = metastore.reads
    assert sorted(reads.get_partition_names(database, "t")) == sorted(expected(made, {}))
    chance = random.Random(7)
    predicates = [{"s": Domain.single_value(pa.string(), text)} for text in TEXTS]
    for _ in range(examples(150)):
        chosen = chance.sample(list(TYPES), chance.randint(1, 3))
        predicates.append({key: random_domain(chance, key) for key in chosen})
    asked = 0
    for domains in predicates:
        predicate = TupleDomain.with_column_domains(domains)
        if predicate.is_none:
            continue
        asked += reads.filters_partitions(predicate, keys)
        found = reads.get_partition_names_by_filter(database, "t", predicate, keys)
        assert found == sorted(set(found))
        assert expected(made, domains) <= set(found), domains
    assert asked > len(predicates) // 4 or isinstance(reads, EmbeddedMetastore)


def test_partitions_of_a_filter_can_be_fetched(
    metastore: Metastore, odd_table: tuple[str, tuple[FieldSchema, ...], list[tuple[str, str, str]]]
) -> None:
    database, _, made = odd_table
    names = metastore.reads.get_partition_names(database, "t")
    found = metastore.reads.get_partitions_by_names(database, "t", names)
    assert sorted(one.values for one in found) == sorted(made)


def test_numbers_are_looked_for_by_the_metastore_where_all_are_canonical(
    hive_metastore_server: HiveMetastoreServer, thrift_metastore: Metastore
) -> None:
    table = new_table(thrift_metastore, ("n", "bigint"), ("d", "date"))
    days = ["2024-01-01", "2024-01-02", DEFAULT_PARTITION]
    add_partitions(thrift_metastore, table, *[(n, d) for n in ("-1", "0", "1", DEFAULT_PARTITION) for d in days])
    metastore = connect_thrift(ThriftConfig(uri=hive_metastore_server.uri, username="tester", canonical_keys=True))
    domains = {
        "n": Domain.create(ValueSet.of(pa.int64(), [-1, 1]), True),
        "d": Domain.single_value(pa.date32(), date(2024, 1, 1)),
    }
    predicate = TupleDomain.with_column_domains(domains)
    found = metastore.reads.get_partition_names_by_filter(table.database, "t", predicate, table.partition_keys)
    assert found == ["n=-1/d=2024-01-01", "n=1/d=2024-01-01", f"n={DEFAULT_PARTITION}/d=2024-01-01"]
    assert metastore.calls.by_method()["get_partition_names_ps"].count == 3
    assert "get_partition_names" not in metastore.calls.by_method()
    metastore.close()


@pytest.mark.parametrize(
    ("domains", "patterns"),
    [
        ({"s": Domain.single_value(pa.string(), "a")}, [["a", "", ""]]),
        ({"s": Domain.multiple_values(pa.string(), ["a", "b"])}, [["a", "", ""], ["b", "", ""]]),
        ({"s": Domain.single_value(pa.string(), "it's")}, None),
        ({"s": Domain.single_value(pa.string(), "a+")}, None),
        ({"s": Domain.single_value(pa.string(), "")}, None),
        ({"s": Domain.multiple_values(pa.string(), [str(n) for n in range(MAX_PATTERNS + 1)])}, None),
        ({"n": Domain.single_value(pa.int32(), 1)}, None),
        ({"n": Domain.only_null(pa.int32())}, [["", DEFAULT_PARTITION, ""]]),
        ({"s": Domain.not_null(pa.string())}, None),
        ({"s": Domain.create(ValueSet.of_ranges(pa.string(), [Range.less_than(pa.string(), "b")]), False)}, None),
    ],
)
def test_only_what_is_safe_is_asked(domains: dict[str, Domain], patterns: list[list[str]] | None) -> None:
    keys = [FieldSchema(name, kind) for name, kind in KEYS]
    assert partition_patterns(TupleDomain.with_column_domains(domains), keys) == patterns
