"""Numbers as people read them: bytes, seconds, counts."""

from __future__ import annotations

__all__ = ["amount", "count_text", "plural", "seconds_text", "size_text"]

_SIZES = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))
_THOUSANDS = ((10**9, 10**9, "G"), (10**6, 10**6, "M"), (10**4, 10**3, "k"))


def size_text(size: float) -> str:
    """Bytes: ``900 bytes``, ``1.2 kB``; a kB has 1,024 of them."""
    for unit, letter in _SIZES:
        if size >= unit:
            return f"{size / unit:.1f} {letter}"
    return f"{size:.0f} byte{plural(round(size))}"


def seconds_text(seconds: float) -> str:
    """``0.42 s``, ``2 min 5 s``."""
    return f"{seconds:.2f} s" if seconds < 120 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"


def amount(number: float) -> str:
    """A number with few digits: ``1.2 M``."""
    for unit, divisor, letter in _THOUSANDS:
        if number >= unit:
            shown = number / divisor
            return f"{shown:.3g} {letter}" if shown < 1000 else f"{shown:,.0f} {letter}"
    return f"{number:,.0f}"


def count_text(count: int, noun: str) -> str:
    """``1 row``, ``1,000 rows``."""
    return f"{count:,} {noun}{plural(count)}"


def plural(count: int) -> str:
    """What a regular noun has after so many."""
    return "" if count == 1 else "s"
