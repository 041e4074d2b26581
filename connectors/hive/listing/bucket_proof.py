"""Whether the first rows of files are of the buckets that their names tell. Driver side."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from connector_spi.errors import ConnectorError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.buckets.layout import BucketCheck, Bucketing
from connectors.hive.buckets.validation import FileBucket
from connectors.hive.handles import HiveSplit, HiveTableHandle
from connectors.toolkit.caching.cache_state import registered
from connectors.toolkit.caching.process_cache import ProcessCache
from connectors.toolkit.caching.settled import is_settled, now_millis
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["BucketProof"]

_LOG = logging.getLogger(__name__)
_ENTRY_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Key:
    """Storage with what it is reached by, a file as it was listed, and what its rows are compared with."""

    files: FileSystem
    file: tuple[str, int, int]
    bucketing: Bucketing
    bucket: int


_PROVEN: ProcessCache[_Key, bool] = registered(ProcessCache("hive-buckets", lambda _: _ENTRY_BYTES))
"""What this process has found out."""


@dataclass(frozen=True, slots=True)
class BucketProof:
    """Reads first rows of files, and compares their hashes with the buckets of the names. Thread-safe.

    Attributes:
        files: Storage.
        pages: Reads the files.
        session: The statement.
        table: The table with no filter.
        bucketing: How its rows were dealt out.
        memory: Most bytes of what the process keeps of it; 0 keeps nothing.
    """

    files: FileSystem
    pages: PageSourceProvider
    session: ConnectorSession
    table: HiveTableHandle
    bucketing: Bucketing
    memory: int

    def holds(self, split: HiveSplit) -> bool:
        """Whether the first rows of a split, which begins at the start of its file, are of the split's bucket."""
        if self.memory <= 0 or split.bucket is None or not is_settled(split.modified_millis, now_millis()):
            return self._found(split)
        key = _Key(self.files, (split.path, split.file_size, split.modified_millis), self.bucketing, split.bucket)
        return _PROVEN.get(key, lambda: self._found(split), self.memory)

    def _found(self, split: HiveSplit) -> bool:
        if split.bucket is None:
            return False
        # Deleted rows were dealt out as well, so nothing needs to be known of deletes.
        acid = None if split.acid is None else replace(split.acid, deletes=())
        first = replace(split, acid=acid, bucket_check=BucketCheck.NONE)
        everything, columns = TupleDomain[ColumnHandle].all(), self.bucketing.columns
        bucket = FileBucket(split.path, self.bucketing, split.bucket)
        try:
            with self.pages.create_page_source(self.session, first, self.table, columns, everything) as source:
                batch = next((batch for batch in source if batch.num_rows), None)
            if batch is not None:
                bucket.check(batch)
        except ConnectorError as error:
            # Whoever reads the file gets other errors, with all their words.
            is_other = error.code != error_codes.HIVE_INVALID_BUCKET_FILES
            _LOG.debug("%s: %s", "not sure" if is_other else "other buckets", error.message)
            return False
        return True
