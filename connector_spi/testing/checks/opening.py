"""Files that the connector opens for engines which read them in their own process."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connector_spi.optional.native_files import OpenedFile, SupportsFileOpening
from connector_spi.testing.base import ConformanceBase, assert_same_rows
from connector_spi.testing.sample_data import mixed_table

__all__ = ["OpeningChecks"]

_PIECE = 1000


class OpeningChecks(ConformanceBase):
    """``SupportsFileOpening``; passed over for connectors that open none."""

    def test_files_that_are_opened_hold_the_rows(self) -> None:
        data = mixed_table(self.missing_behaviours)
        name = self.made(data)
        with self.query() as query:
            query.session = dataclasses.replace(query.session, opened_formats=frozenset({"parquet"}))
            provider = query.connector.page_source_provider
            if not isinstance(provider, SupportsFileOpening):
                pytest.skip("page_source_provider is not SupportsFileOpening")
            scan = query.table(name).project_names(["id"])
            splits, _ = scan.splits()
            files = {file for file in (split.native_file for split in splits) if file is not None}
            if not all(file.format == "parquet" for file in files) or len(files) < len(splits):
                pytest.skip("a table just made has no native Parquet files, or they come in ranges")
            found = []
            for file in files:
                opened = provider.open_file(query.session, scan.table, file)
                content = b"".join(_pieces(opened, file.file_size))
                opened.close()
                found.append(pq.read_table(pa.BufferReader(content), columns=["id"]))
        assert_same_rows(pa.concat_tables(found), data.select(["id"]))


def _pieces(opened: OpenedFile, size: int) -> list[bytes]:
    """A file from its end to its beginning, as threads read it that know nothing of each other, put in order."""
    starts = range(0, size, _PIECE)
    return [opened.read_at(start, min(_PIECE, size - start)) for start in reversed(starts)][::-1]
