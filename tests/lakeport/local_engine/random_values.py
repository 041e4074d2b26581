"""Values on which engines disagree most easily: extremes, NULL, NaN, -0.0, blanks and letters of many alphabets."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

__all__ = ["random_table"]

_TEXTS = (
    "", " ", "a", "A b", "  padded  ", "ÄÖü", "ß", "straße", "ñandú", "Ελλάδα", "Привет", "日本語", "😀 x", "a.b.c",
    "x,y,,z", "%_\\", "\ttab\n", "0", "-17", "1.50", "2024-02-29", "aaa", "abcabc", "éa", "a\u00a0b", "\u2003em",
)  # fmt: skip
_DOUBLES = (
    0.0, -0.0, 1.0, -1.5, 0.5, 1.5, 2.5, 1.005, 2.675, 1e15, 123456.789, -0.125, 1e-7, 9.99e20, 4503599627370497.5,
    float("nan"), float("inf"), float("-inf"), 0.1, 1 / 3, -2.0, 1e300, 5e-324,
)  # fmt: skip
_DAYS = (date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2023, 12, 31), date(5, 1, 1), date(9990, 12, 31),
         date(1582, 10, 4), date(2000, 1, 31), date(2021, 1, 3))  # fmt: skip


def random_table(rows: int, seed: int) -> pa.Table:
    """A table with a column ``id``, two columns of each kind of values, a small whole number, arrays and a map."""
    made = _Values(random.Random(seed))
    rnd = made.rnd
    columns: dict[str, tuple[Callable[[], object], pa.DataType]] = {
        "s": (made.text, pa.string()),
        "t": (lambda: rnd.choice(_TEXTS), pa.string()),
        "k": (lambda: rnd.randrange(-4, 9), pa.int32()),
        "n": (lambda: made.whole(32), pa.int32()),
        "p": (lambda: made.whole(16), pa.int16()),
        "b": (lambda: made.whole(64), pa.int64()),
        "c": (lambda: made.whole(64), pa.int64()),
        "f": (made.double, pa.float64()),
        "g": (made.double, pa.float64()),
        "m": (lambda: made.decimal(10, 2), pa.decimal128(10, 2)),
        "w": (lambda: made.decimal(30, 10), pa.decimal128(30, 10)),
        "v": (lambda: made.decimal(38, 6), pa.decimal128(38, 6)),
        "day": (made.day, pa.date32()),
        "day2": (made.day, pa.date32()),
        "at": (made.time, pa.timestamp("us")),
        "z": (lambda: made.time().replace(tzinfo=UTC), pa.timestamp("us", tz="UTC")),
        "yes": (lambda: rnd.random() < 0.5, pa.bool_()),
        "bin": (lambda: made.text().encode(), pa.binary()),
        "ai": (lambda: made.some(lambda: rnd.randrange(5)), pa.list_(pa.int32())),
        "at2": (lambda: made.some(lambda: rnd.choice(_TEXTS)), pa.list_(pa.string())),
        "af": (lambda: made.some(made.double), pa.list_(pa.float64())),
        "map": (made.entries, pa.map_(pa.string(), pa.int32())),
        "rows": (
            lambda: made.some(lambda: {"x": rnd.randrange(9), "y": made.text()}),
            pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())])),
        ),
        "r": (made.double, pa.float32()),
    }
    found = {"id": pa.array(range(rows), pa.int64())}
    for name, (make, kind) in columns.items():
        found[name] = pa.array([None if rnd.random() < 0.1 else make() for _ in range(rows)], kind)
    return pa.table(found)


class _Values:
    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd

    def text(self) -> str:
        return "".join(self.rnd.choice(_TEXTS) for _ in range(self.rnd.randrange(1, 3)))

    def whole(self, bits: int) -> int:
        if self.rnd.random() < 0.15:
            return self.rnd.choice((2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 0, -1, 1))
        size = 2 ** self.rnd.randrange(1, bits)
        return self.rnd.randrange(-size // 2, size)

    def double(self) -> float:
        if self.rnd.random() < 0.5:
            return self.rnd.choice(_DOUBLES)
        return round(self.rnd.uniform(-1000, 1000), self.rnd.randrange(0, 6))

    def decimal(self, precision: int, scale: int) -> Decimal:
        most = 10 ** self.rnd.randrange(1, precision + 1)
        return Decimal(self.rnd.randrange(-most + 1, most)).scaleb(-scale)

    def day(self) -> date:
        if self.rnd.random() < 0.4:
            return self.rnd.choice(_DAYS)
        return date(1900, 1, 1) + timedelta(self.rnd.randrange(80_000))

    def time(self) -> datetime:
        midnight = datetime.combine(self.day(), datetime.min.time())
        found = midnight + timedelta(microseconds=self.rnd.randrange(86_400_000_000))
        return found.replace(microsecond=self.rnd.choice((0, found.microsecond, found.microsecond // 1000 * 1000)))

    def some(self, make: Callable[[], object]) -> list[object]:
        return [None if self.rnd.random() < 0.2 else make() for _ in range(self.rnd.randrange(4))]

    def entries(self) -> Sequence[tuple[str, int]]:
        return [(key, self.rnd.randrange(9)) for key in self.rnd.sample("abcdxy", self.rnd.randrange(4))]
