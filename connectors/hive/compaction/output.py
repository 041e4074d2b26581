"""The files that a compaction makes: staged where no reader looks, then moved, or deleted."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field

from connector_spi.errors import ConnectorError
from connectors.hive.acid.layout import METADATA_FILE
from connectors.hive.compaction.plan import CompactionPlan
from connectors.hive.write.inserts import STAGING
from connectors.hive.write.publish.acid_publishing import VERSION, VERSION_FILE
from connectors.toolkit.storage.filesystem import FileSystem, join_path

__all__ = ["CompactedFiles"]

_METADATA = b'{"thisFileVersion":"0","dataFormat":"compacted"}'


@dataclass(slots=True)
class CompactedFiles:
    """Files of one compaction.

    Their directories have the transaction's id in their names, by which readers pass over them until it is committed.
    Trino looks at no such id: so the files come at the end, one soon after the other.

    Attributes:
        files: Storage.
        plan: What is made.
        table_location: The table's directory.
        rows: Rows and events that were written.
        staging: Folder of the files until then: where ``system.remove_orphan_files`` looks.
        names: Each file's path below the location, by its staged path.
    """

    files: FileSystem
    plan: CompactionPlan
    table_location: str
    rows: int = 0
    staging: str = ""
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        location, root = self.plan.listed.location, self.table_location.rstrip("/")
        inside = f"{location.rstrip('/')}/".startswith(f"{root}/")
        self.staging = join_path(root if inside else location, f"{STAGING}{uuid.uuid4().hex}")

    def add(self, name: str) -> str:
        """The path where a file is to be written.

        Args:
            name: Its path below the location in the end.
        """
        path = join_path(self.staging, f"{len(self.names)}")
        self.names[path] = name
        return path

    def publish(self) -> None:
        """Moves all files to their directories, and marks these as Hive does.

        Raises:
            StorageError: Storage refused.
        """
        location = self.plan.listed.location
        for path, name in self.names.items():
            self.files.move(path, join_path(location, name))
        made = {name.partition("/")[0] for name in self.names.values()}
        if self.plan.delete_target is None or not made:
            # A directory hides what was compacted, also where no row of it is left.
            made.add(self.plan.target)
        for name in sorted(made):
            directory = join_path(location, name)
            self.files.create_folder(directory)
            if not self.plan.listed.insert_only:
                self.files.write_bytes(join_path(directory, VERSION_FILE), VERSION)
            if name.startswith("base_"):
                self.files.write_bytes(join_path(directory, METADATA_FILE), _METADATA)
        self.files.delete_folder(self.staging)

    def discard(self) -> None:
        """Deletes everything."""
        location = self.plan.listed.location
        made = [self.plan.target, *([] if self.plan.delete_target is None else [self.plan.delete_target])]
        for path in (*(join_path(location, name) for name in made), self.staging):
            with suppress(ConnectorError):  # the error that has led here is the one to tell
                self.files.delete_folder(path)

    @property
    def size(self) -> int:
        """Bytes of the files, once they are published."""
        found = (self.files.info(join_path(self.plan.listed.location, name)) for name in self.names.values())
        return sum(info.size for info in found if info is not None)
