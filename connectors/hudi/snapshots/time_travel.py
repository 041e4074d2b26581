"""A table as it was at an instant. Driver side."""

from __future__ import annotations

from datetime import datetime

from connector_spi.errors import InvalidArgumentError
from connector_spi.metadata import TableVersion, VersionKind
from connectors.hudi.error_codes import HUDI_BAD_INSTANT, HUDI_CLEANED, HUDI_PENDING_WRITE
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.timeline.instant import WRITE_ACTIONS, Instant, InstantState
from connectors.hudi.timeline.instant_text import instant_of_text, instant_of_time, timeline_zone
from connectors.hudi.timeline.loader import is_clustering_plan, read_clean_horizon, read_instant
from connectors.hudi.timeline.view import timeline_view

__all__ = ["check_not_cleaned", "instant_of", "pending_writes", "snapshot_at", "what_is_left"]


def instant_of(snapshot: HudiSnapshot, version: TableVersion, session_zone: str) -> str:
    """The requested time that ``VERSION AS OF`` or ``TIMESTAMP AS OF`` means.

    Raises:
        InvalidArgumentError: It is no instant; says what is.
    """
    zone = timeline_zone(snapshot.config.utc_timeline, session_zone)
    if version.kind is VersionKind.TIMESTAMP:
        assert isinstance(version.value, datetime)
        return instant_of_time(version.value, zone)
    try:
        return instant_of_text(str(version.value), zone)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"{snapshot.location}: {error.message}; {what_is_left(snapshot)}", HUDI_BAD_INSTANT
        ) from error


def snapshot_at(snapshot: HudiSnapshot, until: str) -> HudiSnapshot:
    """The table after all writes that were requested at an instant or before (TimelineUtils.validateTimestampAsOf).

    Args:
        snapshot: The table as it is now, its timeline listed.
        until: The instant, 14 or 17 digits; after the newest write it means the newest.

    Raises:
        InvalidArgumentError: The table had no write then, its files were cleaned since, or a write of that time is
            not finished; says what is left.
    """
    check_not_cleaned(snapshot, until)
    pending = next((item for item in pending_writes(snapshot) if item.requested <= until), None)
    if pending is not None:
        raise InvalidArgumentError(
            f"{snapshot.location} cannot be read as of {until}: the {pending.action} {pending.requested} is not "
            "finished, and what was the state then may change yet; name an earlier instant, or roll it back with Hudi",
            HUDI_PENDING_WRITE,
        )
    start = snapshot.view.start
    needs_archive = start is None or until < start
    archived = snapshot.archive().instants if needs_archive else ()
    view = timeline_view(snapshot.active, until, archived)
    if not view.instants:
        raise InvalidArgumentError(
            f"{snapshot.location} had no write as of {until}; {what_is_left(snapshot)}", HUDI_BAD_INSTANT
        )
    return snapshot.with_view(view)


def check_not_cleaned(snapshot: HudiSnapshot, until: str) -> None:
    """Refuses a state whose files Hudi's cleaner may have removed.

    Args:
        snapshot: The table as it is now, its timeline listed.
        until: The instant of the state.

    Raises:
        InvalidArgumentError: It is older than what the cleaner kept; says what is left.
    """
    horizon = _clean_horizon(snapshot)
    if horizon is not None and until < horizon:
        raise InvalidArgumentError(
            f"{snapshot.location} cannot be read as of {until}: Hudi's cleaner kept what was written since {horizon}; "
            f"{what_is_left(snapshot)}",
            HUDI_CLEANED,
        )


def what_is_left(snapshot: HudiSnapshot) -> str:
    """Words for the instants that can be read."""
    horizon = _clean_horizon(snapshot) or ""
    left = [item.requested for item in snapshot.view.instants if item.requested >= horizon]
    if not left:
        return "the table has no finished write"
    if len(left) == 1:
        return f"there is: {left[0]}"
    return f"there are {len(left)} writes from {left[0]} to {left[-1]}"


def pending_writes(snapshot: HudiSnapshot) -> list[Instant]:
    """Writes that are not finished and would bring or remove rows; clustering rewrites what is there."""
    finished = {item.requested for item in snapshot.active if item.state is InstantState.COMPLETED}
    waiting = [item for item in snapshot.active if item.requested not in finished and item.action in WRITE_ACTIONS]
    clustering = {item.requested for item in waiting if _plans_clustering(snapshot, item)}
    return [item for item in waiting if item.requested not in clustering]


def _clean_horizon(snapshot: HudiSnapshot) -> str | None:
    cleans = [item for item in snapshot.active if item.action == "clean" and item.state is InstantState.COMPLETED]
    if not cleans:
        return None
    return read_clean_horizon(snapshot.files, snapshot.location, snapshot.config, cleans[-1])


def _plans_clustering(snapshot: HudiSnapshot, instant: Instant) -> bool:
    """Layout 1 plans clustering under the action of overwrites."""
    if instant.action != "replacecommit" or instant.state is not InstantState.REQUESTED:
        return False
    return is_clustering_plan(read_instant(snapshot.files, snapshot.location, snapshot.config, instant))
