"""Filters on base files whose columns are read before the others, against the rows of real Hudi."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain
from tests.connectors.hudi.corpus import CASES, HUDI, expected, opened
from tests.rows import bag

WANTED = ("v6_alltypes_cow", "v9_alltypes_bulk_cow", "v6_orc_insert_cow", "v9_orc_insert_cow", "v9_sor_cow")
FILTERED = [case for case in WANTED if case in CASES]

pytestmark = pytest.mark.skipif(not FILTERED, reason=f"no tables in {HUDI}")


def filtered(column: pa.Field, domain: Domain) -> TupleDomain[ColumnHandle]:
    return TupleDomain.with_column_domains({ColumnHandle(column.name, column.type): domain})


@pytest.mark.slow
@pytest.mark.parametrize("case", FILTERED)
def test_every_row_of_a_value_comes_and_others_stay_away(case: str, tmp_path: Path) -> None:
    catalog, answer = opened(case, tmp_path), expected(case, "snapshot")
    met = catalog.read()
    skipped = 0
    for field in met.schema:
        if pa.types.is_nested(field.type) or field.name not in answer.column_names:
            continue
        values = answer.column(field.name).to_pylist()
        present = sorted({value for value in values if value is not None and value == value}, key=str)
        domains = [Domain.only_null(field.type), Domain.not_null(field.type)]
        if present:
            domains.append(Domain.single_value(field.type, present[len(present) // 2]))
        for domain in domains:
            rows = bag(catalog.read(constraint=filtered(field, domain)))
            keep = pa.array([domain.includes_value(value) for value in values], pa.bool_())
            assert not bag(answer.filter(keep)) - rows, f"{field.name}: rows are missing"
            assert not rows - bag(answer)
            skipped += answer.num_rows - rows.total()
    assert skipped
