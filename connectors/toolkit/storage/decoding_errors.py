"""What libraries raise while they decode a file, as errors of ours that name it. Executor side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError, ResourceError
from connectors.toolkit.storage.filesystem import raise_storage_failure

__all__ = ["decoding_errors", "library_limits"]

_WRONGLY_ASKED = (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowKeyError, pa.ArrowCancelled)
"""No byte of a file causes these: the code around Arrow has asked for a function or a type that there is not."""
_NO_DECODER = re.compile(r"^Not yet implemented|not supported by the C\+\+ implementation")
"""Words of the Parquet library, whose own exceptions become an ``OSError``."""


@contextmanager
def decoding_errors(path: str, kind: str, *others: type[Exception]) -> Iterator[None]:
    """Maps what is raised while a file is read.

    Errors that no file causes pass as they are: the engine words them as a defect of the connector.

    Args:
        path: The file.
        kind: Name of its format.
        others: What is raised of damaged files besides Arrow's exceptions and ``OSError``.

    Raises:
        FileMissingError: The file is not there any more.
        StorageError: Storage failed.
        ResourceError: There is too little memory.
        CorruptFileError: The file is damaged.
    """
    try:
        yield
    except (ConnectorError, *_WRONGLY_ASKED):
        raise
    except pa.ArrowMemoryError as error:
        raise ResourceError(
            f"{path} cannot be read for want of memory: {_reason(error)}; give this process more, or read fewer columns"
        ) from error
    except (pa.ArrowException, OSError, *others) as error:
        raise_storage_failure(error, path)
        raise CorruptFileError(
            f"{path} cannot be read as {kind}: {_reason(error)}; it is truncated, damaged or of another format"
        ) from error


@contextmanager
def library_limits(path: str, kind: str) -> Iterator[None]:
    """Maps what a decoder of pyarrow raises of a file that may be sound: put around the decoder alone.

    Raises:
        NotSupportedError: pyarrow does not decode what the file holds, such as its codec.
    """
    try:
        yield
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowCapacityError) as error:
        raise _not_decoded(path, kind, error) from error
    except OSError as error:
        if error.errno is None and _NO_DECODER.search(str(error)):
            raise _not_decoded(path, kind, error) from error
        raise


def _not_decoded(path: str, kind: str, error: Exception) -> NotSupportedError:
    return NotSupportedError(
        f"{path} cannot be read as {kind}: pyarrow {pa.__version__} has no decoder for it ({_reason(error)}); install "
        "a newer pyarrow, or write the file anew"
    )


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
