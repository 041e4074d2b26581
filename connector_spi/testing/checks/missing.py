"""What a connector lists as missing is missing: else users would be told less than there is."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from connector_spi.predicate import Constraint, Domain, TupleDomain
from connector_spi.testing.behaviours import Behaviour
from connector_spi.testing.checks.exactness import ExactnessChecks
from connector_spi.testing.checks.metadata import MetadataChecks
from connector_spi.testing.checks.pushdown import PushdownChecks
from connector_spi.testing.checks.reading import ReadingChecks
from connector_spi.testing.sample_data import TYPED_COLUMNS, VALUES, mixed_table

__all__ = ["MissingChecks"]


class MissingChecks(MetadataChecks, ReadingChecks, PushdownChecks, ExactnessChecks):
    """Runs a check of each ability that is listed as missing; it must not pass.

    Abilities that are protocols are compared by ``test_abilities_are_claimed_as_they_are_listed``.
    """

    @pytest.mark.parametrize("behaviour", list(Behaviour), ids=[item.name for item in Behaviour])
    def test_what_is_listed_as_missing_is_missing(self, behaviour: Behaviour) -> None:
        proof = self._proofs().get(behaviour)
        if self.has(behaviour) or proof is None:
            pytest.skip("not listed as missing, or compared by the protocols of the metadata")
        self._proven = behaviour
        try:
            proof()
        except (Exception, pytest.skip.Exception, pytest.fail.Exception):
            return
        raise AssertionError(f"{behaviour.name} is listed as missing, and is there: {behaviour.value}")

    def _proofs(self) -> dict[Behaviour, Callable[[], object]]:
        proofs: dict[Behaviour, Callable[[], object]] = {
            Behaviour.ADDED_ROWS: self.test_rows_of_several_writes_all_come,
            Behaviour.ANY_COLUMN_NAME: self.test_columns_may_have_any_name,
            Behaviour.COLUMN_STATISTICS: self.test_column_statistics_hold_every_value,
            Behaviour.EMPTY_TABLES: self.test_a_table_of_no_rows,
            Behaviour.FILTER_PUSHDOWN: self._takes_a_filter,
            Behaviour.HIDDEN_COLUMNS: self.test_hidden_columns_come_last_and_can_be_read,
            Behaviour.NULL_PARTITION_KEYS: self.test_a_null_partition_key_comes_back,
            Behaviour.PARTITIONED_TABLES: self.test_partition_keys_are_columns,
            Behaviour.PARTITION_PRUNING: self.test_a_filter_on_a_partition_key_leaves_the_others_out,
            Behaviour.PROCEDURES: self._has_procedures,
            Behaviour.SEVERAL_SCHEMAS: self.test_tables_of_several_schemas_are_told_apart,
            Behaviour.SYSTEM_TABLES: self._has_system_tables,
        }
        for behaviour in TYPED_COLUMNS:
            proofs[behaviour] = lambda kind=behaviour: self.test_values_and_nulls_of_a_type_come_back(kind)  # type: ignore[misc]
        for behaviour in VALUES:
            proofs[behaviour] = lambda kind=behaviour: self.test_a_value_comes_back_as_it_is(kind)  # type: ignore[misc]
        return proofs

    def _takes_a_filter(self) -> None:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        with self.query() as query:
            scan = query.table(name)
            domains = {
                field.name: Domain.single_value(field.type, data.column(field.name).drop_null()[0].as_py())
                for field in data.schema
                if field.type in (pa.int64(), pa.string(), pa.float64(), pa.bool_())
            }
            offered = [TupleDomain({column: domain}) for column, domain in domains.items()]
            taken = [
                query.metadata.apply_filter(query.session, scan.table, Constraint(scan.by_handle(one)))
                for one in offered
            ]
        assert any(one is not None for one in taken)

    def _has_procedures(self) -> None:
        assert self.connector.procedures

    def _has_system_tables(self) -> None:
        with self.query() as query:
            assert query.metadata.list_system_table_kinds()
