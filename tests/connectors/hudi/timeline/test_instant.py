from __future__ import annotations

import pytest

from connectors.hudi.timeline.instant import Instant, InstantState, parse_instant

T = "20240101120000123"
C = "20240101120001456"


@pytest.mark.parametrize(
    ("name", "layout", "expected"),
    [
        (f"{T}.commit.requested", 1, (T, "commit", InstantState.REQUESTED, None)),
        (f"{T}.inflight", 1, (T, "commit", InstantState.INFLIGHT, None)),
        (f"{T}.inflight", 2, (T, "commit", InstantState.INFLIGHT, None)),
        (f"{T}.commit", 1, (T, "commit", InstantState.COMPLETED, None)),
        (f"{T}.deltacommit.inflight", 1, (T, "deltacommit", InstantState.INFLIGHT, None)),
        (f"{T}_{C}.commit", 2, (T, "commit", InstantState.COMPLETED, C)),
        (f"{T}_{C}.replacecommit", 2, (T, "replacecommit", InstantState.COMPLETED, C)),
        (f"{T}.clustering.requested", 2, (T, "clustering", InstantState.REQUESTED, None)),
        # Brought along from a table of layout 1: file times do not survive a copy, so the requested time stands in.
        (f"{T}.commit", 2, (T, "commit", InstantState.COMPLETED, T)),
        ("20240101120000.commit", 1, ("20240101120000", "commit", InstantState.COMPLETED, None)),
        ("00000000000000004_20240101120001456.deltacommit", 2, None),
    ],
)
def test_names_of_instants(name: str, layout: int, expected: tuple[str, str, InstantState, str | None] | None) -> None:
    met = parse_instant(name, layout)
    wanted = expected or ("00000000000000004", "deltacommit", InstantState.COMPLETED, "20240101120001456")
    assert met == Instant(*wanted, file_name=name)


@pytest.mark.parametrize(
    "name",
    [
        "hoodie.properties",
        ".20240101120000123.commit.crc",
        "history",
        "20240101120000123",
        "20240101120000123.commit.requested.tmp",
        "_version_",
        "archived",
    ],
)
def test_other_files_are_no_instants(name: str) -> None:
    assert parse_instant(name, 1) is None
    assert parse_instant(name, 2) is None


def test_layout_1_has_no_completion_times() -> None:
    assert parse_instant(f"{T}_{C}.commit", 1) is None
