"""Random filters: what is pushed never loses a row. Spark over plain Parquet is the judge."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lakeport.spark.conftest import Lake
from tests.sampling import examples

LITERALS = {
    "id": ["0", "7", "59", "60", "-1"],
    "flag": ["true", "false"],
    "tiny": ["-128Y", "0Y", "-100Y"],
    "small": ["0S", "-32768S", "1000S"],
    "big": ["0L", "1000000000000L", "-9223372036854775808L + 0L"],
    "real": ["cast(0.1 AS float)", "cast('NaN' AS float)", "cast(2 AS float)"],
    "double": ["0.1D", "0.0D", "-0.0D", "double('Infinity')", "double('NaN')"],
    "price": ["0.50BD", "-1.00BD", "100.00BD", "0.005BD"],
    "wide": ["1000000000000000000000000000003.0000BD", "0BD"],
    "name": ["''", "'a0'", "'ab1'", "'żółw0'", "'\U0001f4221'", "'b\\'c2'", "'zzz'"],
    "raw": ["X'0700FF'", "X''"],
    "day": ["DATE'2024-02-29'", "DATE'2024-04-01'", "DATE'0001-01-01'"],
    "at": ["TIMESTAMP'2024-03-10 02:59:59.999999Z'", "TIMESTAMP'2024-03-12 00:00:00Z'"],
    "wall": ["TIMESTAMP_NTZ'2024-03-10 02:59:59.999999'", "TIMESTAMP_NTZ'2024-03-12 00:00:00'"],
    "part": ["'north'", "'south'", "'west'"],
}


def comparisons() -> st.SearchStrategy[str]:
    def of(column: str) -> st.SearchStrategy[str]:
        literal = st.sampled_from(LITERALS[column])
        operator = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
        several = st.lists(st.one_of(literal, st.just("NULL")), min_size=1, max_size=3)
        return st.one_of(
            st.builds(lambda o, v: f"{column} {o} {v}", operator, literal),
            st.builds(lambda o, v: f"{v} {o} {column}", operator, literal),
            st.builds(lambda vs: f"{column} IN ({', '.join(vs)})", several),
            st.sampled_from([f"{column} IS NULL", f"{column} IS NOT NULL", f"{column} <=> NULL"]),
        )

    year = st.sampled_from(["2023", "2024", "2025", "1", "0", "-5", "99999"])
    date_parts = st.one_of(
        *(
            st.builds(lambda p, o, v: f"{p} {o} {v}", st.sampled_from(parts), st.sampled_from(operators), values)
            for parts, values in (
                (["year(day)", "year(at)", "year(wall)"], st.one_of(year, st.just("NULL"))),
                (["cast(at AS date)", "cast(wall AS date)"], st.sampled_from([*LITERALS["day"], "DATE'2024-03-10'"])),
            )
            for operators in (["=", "<>", "<", "<=", ">", ">=", "<=>"],)
        ),
        st.builds(lambda v: f"year(at) IN (2023, {v}, NULL)", year),
        st.builds(lambda v: f"{v} >= year(day)", year),
    )
    text = st.builds(
        lambda c, p: f"{c} LIKE '{p}'",
        st.sampled_from(["name", "part"]),
        st.sampled_from(["a%", "ż%", "%1", "%b%", "\U0001f422%", "nor%", "%"]),
    )
    return st.one_of(st.sampled_from(sorted(LITERALS)).flatmap(of), text, date_parts)


def filters() -> st.SearchStrategy[str]:
    return st.recursive(
        comparisons(),
        lambda inner: st.one_of(
            st.builds(lambda a, b: f"({a} AND {b})", inner, inner),
            st.builds(lambda a, b: f"({a} OR {b})", inner, inner),
            st.builds(lambda a: f"NOT ({a})", inner),
        ),
        max_leaves=4,
    )


@pytest.mark.slow
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.lists(filters(), min_size=8, max_size=8))
def test_random_filters(lake: Lake, where: list[str]) -> None:
    """Eight filters a round, as one UNION ALL, since a statement costs more than its rows."""

    def statement(table: str) -> str:
        return " UNION ALL ".join(f"SELECT {n} AS n, id FROM {table} WHERE {w}" for n, w in enumerate(where))

    assert lake.rows(statement("mem.sales.everything")) == lake.rows(statement("plain_everything")), where
