"""Old times as ORC's C++ library tells them, made those of Java."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyorc
import pytest
from pyarrow import orc

from connectors.toolkit.orc.zone_history import java_shift

_INSTANTS = [-5_000_000_000, -2_208_988_801, -2_208_988_800, -2_000_000_000, -1_800_000_000, -1_500_000_000]
# What java.util.TimeZone.getOffset said of these instants (OpenJDK 17.0.15), in seconds.
_JAVA = {
    "Asia/Kolkata": [19800, 19800, 19270, 19800, 19800, 19800],
    "Europe/Paris": [3600, 3600, 561, 561, 0, 3600],
    "Asia/Shanghai": [28800, 28800, 29143, 28800, 28800, 28800],
    "America/Sao_Paulo": [-10800, -10800, -11188, -11188, -11188, -10800],
    "Europe/Dublin": [0, 0, -1521, -1521, -1521, 3600],
    "America/New_York": [-18000, -18000, -18000, -18000, -18000, -14400],
    "Europe/Lisbon": [0, 0, -2205, -2205, 0, 0],
}


class _Instants(pyorc.converters.ORCConverter):  # type: ignore[misc]  # pyorc has no types
    """Timestamps as seconds since 1970."""

    @staticmethod
    def to_orc(*args: object) -> tuple[object, int]:
        return args[0], 0

    @staticmethod
    def from_orc(*args: object) -> object:
        return args[0]


@pytest.mark.parametrize("zone", _JAVA)
def test_clocks_are_those_of_java(tmp_path: Path, zone: str) -> None:
    path = tmp_path / "f.orc"
    converters = {pyorc.TypeKind.TIMESTAMP: _Instants}
    with (
        path.open("wb") as file,
        pyorc.Writer(file, "struct<t:timestamp>", converters=converters, timezone=ZoneInfo(zone)) as writer,
    ):
        writer.writerows([(instant,) for instant in _INSTANTS])
    column = orc.ORCFile(path).read().column(0).combine_chunks()
    read = column.view(pa.int64()).to_numpy() // 10**9
    shift = java_shift(read, zone)
    found = read if shift is None else read + shift
    assert found.tolist() == [instant + java for instant, java in zip(_INSTANTS, _JAVA[zone], strict=True)]


def test_new_times_and_unknown_zones_are_left_alone() -> None:
    seconds = np.array([0, 1_700_000_000], np.int64)
    assert java_shift(seconds, "Europe/Paris") is None
    assert java_shift(seconds - 10**10, "Europe/Nowhere") is None
    assert java_shift(seconds - 10**10, "../Paris") is None
    assert java_shift(seconds - 10**10, "UTC") is None
