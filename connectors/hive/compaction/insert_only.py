"""Compactions of insert-only tables: their files, of any format, are copied as they are into one directory."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from catalog.metastore.compactions import CompactionKind
from connectors.hive.acid.directories.location import insert_only_files
from connectors.hive.compaction.output import CompactedFiles
from connectors.hive.compaction.plan import CompactionPlan
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["copy_files"]


def copy_files(plan: CompactionPlan, files: FileSystem, output: CompactedFiles, check: Callable[[], None]) -> None:
    """Copies the files of a compaction; on local disks they are links.

    A file's name says its bucket and its codec; so of two of one name the second becomes a copy, as Hive names them
    (``Hive.mvFile``).

    Args:
        plan: What is made.
        files: Storage.
        output: Takes the files.
        check: Called between files; raises where the compaction is to be given up.

    Raises:
        StorageError: Storage refused.
    """
    listed = plan.listed
    if plan.kind is CompactionKind.MINOR:
        listing = replace(listed.listing, originals=[])
        listed = replace(listed, state=replace(listed.state, base=None), listing=listing)
    taken: set[str] = set()
    for info in insert_only_files(listed):
        check()
        name = next(one for one in _names(info.name) if one not in taken)
        taken.add(name)
        files.copy(info.path, output.add(f"{plan.target}/{name}"))


def _names(name: str) -> itertools.chain[str]:
    stem, dot, extension = name.partition(".")
    return itertools.chain([name], (f"{stem}_copy_{copy}{dot}{extension}" for copy in itertools.count(1)))
