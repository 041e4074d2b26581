"""Whether a file's size and modification time tell it from what may replace it."""

from __future__ import annotations

import time

__all__ = ["is_settled", "now_millis"]

_SETTLED_MILLIS = 2000


def now_millis() -> int:
    """Milliseconds since 1970, UTC."""
    return int(time.time() * 1000)


def is_settled(modified_millis: int, read_at_millis: int) -> bool:
    """Whether a file was old enough when it was read.

    One that is replaced by another of the same size within the grain of the storage's clock, a second in object
    stores, looks the same afterwards.

    Args:
        modified_millis: Its modification time, before it was read; 0 where storage does not say.
        read_at_millis: When reading began.
    """
    return bool(modified_millis) and read_at_millis - modified_millis >= _SETTLED_MILLIS
