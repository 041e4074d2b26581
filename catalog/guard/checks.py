"""The access controls of one catalog, and what follows from them for a table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from catalog.guard.compiler import ACCESS_CONTROL_EXPRESSION, compile_filter, compile_mask
from catalog.guard.expressions import column_names
from catalog.guard.policy import TablePolicy
from connector_spi.errors import AccessDeniedError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import CatalogSchemaTableName, SchemaTableName
from connector_spi.schema import ColumnMetadata
from connector_spi.security import ConnectorAccessControl, Identity, SystemAccessControl, ViewExpression

__all__ = ["Checks"]


@dataclass(frozen=True, slots=True)
class Checks:
    """Asks all access controls of a catalog: each has to allow.

    Attributes:
        catalog: Its name.
        system: Of all catalogs.
        own: Those of the catalog's connectors.
    """

    catalog: str
    system: SystemAccessControl
    own: tuple[ConnectorAccessControl, ...] = ()

    @property
    def _controls(self) -> Sequence[ConnectorAccessControl]:
        return (self.system, *self.own)

    def full(self, name: SchemaTableName) -> CatalogSchemaTableName:
        """The full name of a table."""
        return CatalogSchemaTableName(self.catalog, name.schema, name.table)

    def check(self, ask: Callable[[ConnectorAccessControl], None]) -> None:
        """Has every control check something."""
        for control in self._controls:
            ask(control)

    def schemas(self, identity: Identity, schemas: Collection[str]) -> frozenset[str]:
        """Those of some schemas that are shown."""
        for control in self._controls:
            schemas = frozenset(control.filter_schemas(identity, self.catalog, schemas))
        return frozenset(schemas)

    def tables(self, identity: Identity, names: Collection[SchemaTableName]) -> frozenset[SchemaTableName]:
        """Those of some tables that are shown."""
        left: Collection[CatalogSchemaTableName] = [self.full(name) for name in names]
        for control in self._controls:
            left = control.filter_tables(identity, self.catalog, left)
        return frozenset(name.schema_table for name in left)

    def columns(self, identity: Identity, name: SchemaTableName, columns: Collection[str]) -> frozenset[str]:
        """Those of some columns that are shown."""
        for control in self._controls:
            columns = frozenset(control.filter_columns(identity, self.full(name), columns))
        return frozenset(columns)

    def select(self, identity: Identity, name: SchemaTableName, columns: Collection[str]) -> None:
        """Checks that columns of a table may be read, and by the owner of a view for others."""
        full = self.full(name)
        self.check(lambda control: control.check_can_select_from_columns(identity, full, columns))
        if identity.for_others:
            self.check(lambda control: control.check_can_create_view_with_select_from_columns(identity, full, columns))

    def unreadable(self, identity: Identity, name: SchemaTableName, columns: Collection[str]) -> frozenset[str]:
        """Those of some columns of a table that may not be read."""

        def is_denied(asked: Collection[str]) -> bool:
            try:
                self.select(identity, name, asked)
            except AccessDeniedError:
                return True
            return False

        return frozenset(one for one in columns if is_denied([one])) if is_denied(columns) else frozenset()

    def visible(self, identity: Identity, name: SchemaTableName) -> None:
        """Checks that it may be known whether there is a table of this name.

        Raises:
            AccessDeniedError: Not; the same whether there is one or not.
        """
        try:
            self.check(lambda control: control.check_can_show_columns(identity, self.full(name)))
        except AccessDeniedError:
            # The words that are expected where a table is read.
            self.select(identity, name, ())
            raise

    def expressions(
        self, identity: Identity, name: SchemaTableName, columns: Collection[str]
    ) -> tuple[list[ViewExpression], dict[str, ViewExpression]]:
        """Row filters, and masks of columns."""
        filters: list[ViewExpression] = []
        masks: dict[str, ViewExpression] = {}
        for control in self._controls:
            filters += control.get_row_filters(identity, self.full(name))
            for column, mask in control.get_column_masks(identity, self.full(name), columns).items():
                if column in masks:
                    raise NotSupportedError(
                        f"column '{column}' of table {self.full(name)} has two masks; expected one",
                        ACCESS_CONTROL_EXPRESSION,
                    )
                masks[column] = mask
        return filters, masks

    def policy(
        self,
        identity: Identity,
        name: SchemaTableName,
        columns: Sequence[ColumnMetadata],
        handles: Sequence[ColumnHandle],
    ) -> TablePolicy | None:
        """Row filters and masks of a table, ready to be evaluated; ``None`` where there are none.

        Raises:
            NotSupportedError: One cannot be enforced.
        """
        by_name = {column.name: column for column in columns}
        filters, masks = self.expressions(identity, name, list(by_name))
        if not filters and not masks:
            return None
        rows = tuple(compile_filter(one.expression, columns, one.user or identity.user) for one in filters)
        shown = tuple(
            (column, compile_mask(one.expression, by_name[column], columns, one.user or identity.user))
            for column, one in masks.items()
        )
        needed = {column for one in (*rows, *(mask for _, mask in shown)) for column in column_names(one)}
        return TablePolicy(rows, shown, tuple(handle for handle in handles if handle.name in needed))
