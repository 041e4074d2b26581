"""A table that is read without Spark, into Arrow, pandas, Polars, DuckDB and others."""

from __future__ import annotations

import importlib
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from lakeport.arrow.filters.conditions import RowTest
from lakeport.arrow.filters.pruning import both
from lakeport.arrow.filters.where import Condition
from lakeport.arrow.reads import ArrowReads
from lakeport.arrow.scan_request import ScanRequest
from lakeport.error_codes import LIBRARY_NOT_INSTALLED
from lakeport.transactions.lease import ReadLease

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

__all__ = ["TableScan"]

_SHOWN_ROWS = 20


class TableScan:
    """A read of a table, made by ``Session.scan``. It is immutable: each method returns a new one.

    Every read sees the same snapshot, even repeated reads by several threads or other libraries. Any function that
    accepts an object with ``__arrow_c_stream__`` can read it: ``pyarrow.table(scan)``, ``polars.DataFrame(scan)``.

    Args:
        reads: Runs the reads.
        request: The table, columns and rows to read.
        lease: On the transactions that the reads share.
    """

    def __init__(self, reads: ArrowReads, request: ScanRequest, lease: ReadLease) -> None:
        self._reads = reads
        self._request = request
        self._lease = lease
        self._schema = reads.schema(request, lease)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._schema.names)

    def select(self, *columns: str) -> TableScan:
        """The scan with only these columns, in this order.

        Raises:
            ColumnNotFoundError: The table has no such column.
        """
        return self._with(self._request.with_columns(columns))

    def where(self, *conditions: Condition | str | pc.Expression) -> TableScan:
        """The scan with only the rows that match these and all earlier conditions.

        Args:
            conditions: ``("a", ">", 5)``, ``("b", "in", [1, 2])``, ``("c", "is null")``; SQL, such as
                ``"a > 5 AND c IS NULL"``; or expressions of pyarrow. They may use any column of the table, and mean the
                same as in Spark's WHERE; expressions, what they mean in pyarrow.

        Raises:
            InvalidArgumentError: A condition is invalid, or the scan has a limit already.
            ColumnNotFoundError: The table has no such column.

        Example:
            >>> labels = session.scan("hive.sales.labels")
            >>> labels.where("id < 3 AND s LIKE 't%'").to_arrow().to_pylist()
            [{'s': 'two', 'd': -2.25, 'id': 2}]
            >>> import pyarrow.compute as pc
            >>> labels.where(pc.field("id") < 3).count()
            2
        """
        request = self._request
        plain = [one for one in conditions if not isinstance(one, str | pc.Expression)]
        if plain or not conditions:
            request = request.with_filter(plain)
        for one in conditions:
            if isinstance(one, str | pc.Expression):
                request = request.with_filter(one)
        return self._with(request)

    def limit(self, rows: int) -> TableScan:
        """The scan with at most this number of rows, in no particular order.

        Raises:
            InvalidArgumentError: The number is negative.
        """
        return self._with(self._request.with_limit(rows))

    def count(self) -> int:
        """The number of rows; of the columns, only those that filters need are read."""
        reader = self._reads.read_again(replace(self._request, columns=()), self._lease)
        return sum(batch.num_rows for batch in reader)

    def head(self, rows: int = 5) -> pa.Table:
        """The first rows: as many as asked for, if there are so many. Little more is read than they need.

        Raises:
            InvalidArgumentError: The number is negative.

        Example:
            >>> session.scan("hive.sales.labels").select("id").head(2).to_pylist()
            [{'id': 1}, {'id': 10}]
        """
        return self.limit(rows).to_arrow()

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows as a stream, in bounded memory; raises ``ConnectorError`` where the catalog or storage fails."""
        return self._reads.read_again(self._request, self._lease)

    def to_arrow(self) -> pa.Table:
        """All rows at once; raises the same errors as ``to_reader``."""
        return self.to_reader().read_all()

    def to_pandas(self, dtype_backend: Literal["numpy", "pyarrow"] = "numpy") -> pd.DataFrame:
        """All rows as a pandas DataFrame.

        Args:
            dtype_backend: ``pyarrow`` keeps the types; ``numpy`` converts as ``pyarrow.Table.to_pandas``: integers
                with NULLs become floating-point numbers.

        Raises:
            InvalidArgumentError: The ``dtype_backend`` is unknown.
            NotSupportedError: pandas is not installed.
            ConnectorError: As in ``to_reader``.

        Example:
            >>> session.scan("hive.sales.labels").where(("id", "=", 2)).to_pandas()[["id", "s"]].to_dict("records")
            [{'id': 2, 's': 'two'}]
        """
        if dtype_backend not in ("numpy", "pyarrow"):
            raise InvalidArgumentError(f"dtype_backend is {dtype_backend!r}; expected 'numpy' or 'pyarrow'")
        pandas = _library("pandas")
        mapper = pandas.ArrowDtype if dtype_backend == "pyarrow" else None
        return self.to_arrow().to_pandas(types_mapper=mapper)

    def to_polars(self) -> pl.LazyFrame:
        """A lazy frame, which pushes its columns, filters and limit down to the table.

        A ``ConnectorError`` while reading becomes a ``ComputeError`` of Polars with its message.

        Example:
            >>> import polars as pl
            >>> frame = session.scan("hive.sales.labels").to_polars()
            >>> frame.filter(pl.col("id") == 2).select("s").collect().to_dicts()
            [{'s': 'two'}]
        """
        _library("polars")
        from lakeport.frames.polars_scan import lazy_frame  # the import takes a tenth of a second

        return lazy_frame(self._schema, self.reader_of, may_filter=self._request.limit is None)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """A relation, which pushes columns and filters down to the table; each use of it reads the table.

        Args:
            connection: The connection of the relation; ``None`` is DuckDB's default connection.

        Raises:
            NotSupportedError: DuckDB is not installed.

        Example:
            >>> labels = session.scan("hive.sales.labels").to_duckdb()
            >>> labels.filter("id < 3").aggregate("max(s)").fetchall()
            [('two',)]
        """
        library = _library("duckdb")
        from lakeport.frames.duckdb_scan import ScanDataset

        dataset = ScanDataset(self._schema, self.reader_of, may_filter=self._request.limit is None)
        return (library if connection is None else connection).from_arrow(dataset)

    def reader_of(
        self, columns: list[str] | None = None, needed: RowTest | None = None, limit: int | None = None
    ) -> pa.RecordBatchReader:
        """Reads a part of the scan, for libraries with pushdown.

        Args:
            columns: Columns of this scan, in this order; ``None`` is all.
            needed: Rows outside it may be left out where that saves work; ``None`` is all rows.
            limit: Most rows to read.
        """
        return self._reads.read_again(self._part(columns, needed, limit), self._lease)

    def show_read(self, columns: list[str], needed: RowTest | None, limit: int | None) -> None:
        """Shows the observer of the reads what ``reader_of`` would read, and reads nothing."""
        self._reads.show(self._part(columns, needed, limit), self._lease)

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"TableScan({self._request.name!r}, columns={self.columns})"

    def _repr_html_(self) -> str:
        from lakeport.html_table import html_table  # notebooks only

        found = self.reader_of(limit=_SHOWN_ROWS + 1).read_all()
        return html_table(found.slice(0, _SHOWN_ROWS), more=found.num_rows > _SHOWN_ROWS)

    def _part(self, columns: list[str] | None, needed: RowTest | None, limit: int | None) -> ScanRequest:
        asked = self._request if columns is None else replace(self._request, columns=tuple(columns))
        if needed is not None:
            asked = replace(asked, needed=both(asked.needed, needed))
        return asked.with_limit(limit)

    def _with(self, request: ScanRequest) -> TableScan:
        return TableScan(self._reads, request, self._lease)


def _library(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotSupportedError(
            f"{name} is not installed: pip install 'lakeport[{name}]'", LIBRARY_NOT_INSTALLED
        ) from error
