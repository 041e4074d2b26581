"""Names of directories and files of transactional tables, and the bucket property (``AcidUtils``, ``BucketCodec``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from connector_spi.errors import CorruptFileError, NotSupportedError
from connector_spi.serializable import Serializable
from connectors.hive import error_codes

__all__ = [
    "BASE_BEFORE_TRANSACTIONS",
    "BUCKETS",
    "FLUSH_LENGTH_SUFFIX",
    "METADATA_FILE",
    "AcidDirectory",
    "DirectoryKind",
    "base_name",
    "bucket_ids",
    "bucket_of_file",
    "bucket_property",
    "compacted_base_name",
    "compacted_delta_name",
    "delete_delta_name",
    "delta_name",
    "is_acid_file_name",
    "is_directory_name",
    "is_flush_length_file",
    "is_original_name",
    "parse_directory",
]

BASE_BEFORE_TRANSACTIONS = -(2**63)
"""Id of the base that the first major compaction of a converted table writes if nothing was written since."""

METADATA_FILE = "_metadata_acid"
FLUSH_LENGTH_SUFFIX = "_flush_length"

_MAX_LONG = 2**63 - 1
BUCKETS = 4096
"""A bucket's number has twelve bits in the bucket property, and so has a statement's."""
_MAX_BUCKET = _MAX_STATEMENT = BUCKETS - 1
_PREFIXES = ("base_", "delta_", "delete_delta_")
_BASE = re.compile(r"base_(-?[0-9]+)(?:_v([0-9]+))?")
_DELTA = re.compile(r"(delta|delete_delta)_([0-9]+)_([0-9]+)(?:_([0-9]+))?(?:_v([0-9]+))?")
_BUCKET = re.compile(r"bucket_([0-9]+)(?:_[0-9]+)?")
_ORIGINAL = re.compile(r"([0-9]+)_[0-9]+(?:_copy_[0-9]+)?")


class DirectoryKind(Enum):
    """Kinds of directories of a transactional table."""

    BASE = "base"
    DELTA = "delta"
    DELETE_DELTA = "delete_delta"


@dataclass(frozen=True, slots=True)
class AcidDirectory(Serializable):
    """A directory of a transactional table, parsed from its name.

    Attributes:
        kind: Base, delta or delete delta.
        first: The smallest write id in it; of a base, the same as ``last``.
        last: The greatest write id in it.
        statement: Number of the statement in its transaction; -1 where the name has none.
        visibility: The transaction of the compaction that wrote it; 0 where no compaction of Hive 4 did.
        name: The directory's name.
    """

    kind: DirectoryKind
    first: int
    last: int
    statement: int
    visibility: int
    name: str


def parse_directory(name: str) -> AcidDirectory | None:
    """Parses a directory's name; ``None`` where it is not a directory of a transactional table.

    Raises:
        NotSupportedError: The name has a prefix of a transactional table's directories and an unknown rest.
    """
    if not name.startswith(_PREFIXES):
        return None
    base = _BASE.fullmatch(name)
    if base is not None:
        last = int(base.group(1))
        directory = AcidDirectory(
            DirectoryKind.BASE, last, last, statement=-1, visibility=int(base.group(2) or 0), name=name
        )
    else:
        delta = _DELTA.fullmatch(name)
        if delta is None:
            raise _unknown_name(name)
        kind, first, end, statement, visibility = delta.groups()
        directory = AcidDirectory(
            DirectoryKind(kind),
            int(first),
            int(end),
            statement=int(statement or -1),
            visibility=int(visibility or 0),
            name=name,
        )
    known = directory.last == BASE_BEFORE_TRANSACTIONS or 0 <= directory.last <= _MAX_LONG
    if not known or directory.first > directory.last:
        raise _unknown_name(name)
    return directory


def base_name(write_id: int) -> str:
    """The name of the directory of the rows that replace all others (``AcidUtils.baseDir``)."""
    return f"base_{write_id:07d}"


def delta_name(write_id: int, statement: int) -> str:
    """The name of the directory of the rows that one statement adds (``AcidUtils.deltaSubdir``)."""
    return f"delta_{write_id:07d}_{write_id:07d}_{statement:04d}"


def delete_delta_name(write_id: int, statement: int) -> str:
    """The name of the directory of what one statement deletes (``AcidUtils.deleteDeltaSubdir``)."""
    return f"delete_{delta_name(write_id, statement)}"


def compacted_base_name(write_id: int, transaction: int) -> str:
    """The name of a base that a compaction makes in a transaction (``AcidUtils.baseOrDeltaSubdirPath``)."""
    return f"{base_name(write_id)}_v{transaction:07d}"


def compacted_delta_name(first: int, last: int, transaction: int) -> str:
    """The name of a delta that a compaction makes of those from one write id to another, in a transaction."""
    return f"delta_{first:07d}_{last:07d}_v{transaction:07d}"


def is_directory_name(name: str) -> bool:
    """Whether a name is that of a base, delta or delete delta."""
    return _BASE.fullmatch(name) is not None or _DELTA.fullmatch(name) is not None


def is_flush_length_file(name: str) -> bool:
    """Whether a file records how much of another is committed, and holds no rows."""
    return name.endswith(FLUSH_LENGTH_SUFFIX)


def is_acid_file_name(name: str) -> bool:
    """Whether a file has a name of Hive's ACID writers, with the attempt's number or without."""
    return _BUCKET.fullmatch(name) is not None


def is_original_name(name: str) -> bool:
    """Whether a file has a name of Hive's files without ACID columns: ``000000_0``, ``000000_0_copy_1``."""
    return _ORIGINAL.fullmatch(name) is not None


def bucket_of_file(name: str) -> int:
    """The bucket in a file's name (``AcidUtils.parseBucketId``), or -1."""
    match = _BUCKET.fullmatch(name) or _ORIGINAL.fullmatch(name)
    return -1 if match is None else int(match.group(1))


def bucket_property(bucket: int, statement: int, path: str) -> int:
    """The bucket property of rows, in the form of Hive 3 and later.

    Args:
        bucket: 0 to 4095.
        statement: 0 to 4095; -1 is written as 0.
        path: The file of the rows.


    Raises:
        NotSupportedError: A number does not fit.
    """
    if not 0 <= bucket <= _MAX_BUCKET or not -1 <= statement <= _MAX_STATEMENT:
        raise NotSupportedError(
            f"the rows of {path} cannot be given row ids: bucket {bucket} and statement {statement}, from the names of "
            f"the file and its directory, are too large; expected at most {_MAX_BUCKET} each: rewrite the table",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return 1 << 29 | bucket << 16 | max(statement, 0)


def bucket_ids(values: npt.NDArray[np.int64], path: str) -> npt.NDArray[np.int64]:
    """The bucket in each bucket property of an array, of either version.

    Args:
        values: The properties.
        path: The file of the rows.

    Raises:
        CorruptFileError: A property has an unknown version.
    """
    versions = values >> 29
    unknown = (versions != 0) & (versions != 1)
    if unknown.any():
        value = int(values[unknown][0])
        raise CorruptFileError(
            f"{path} holds a row with the bucket property {value}, of version {value >> 29 & 7}: expected 0 or 1",
            error_codes.HIVE_ACID_LAYOUT,
        )
    return np.where(versions == 0, values, values >> 16 & 0xFFF)


def _unknown_name(name: str) -> NotSupportedError:
    return NotSupportedError(
        f"the directory {name!r} has the prefix of a transactional table's directories and an unknown rest: expected "
        "base_ID, delta_ID_ID or delete_delta_ID_ID, with _STATEMENT and _vTRANSACTION at the end",
        error_codes.HIVE_ACID_LAYOUT,
    )
