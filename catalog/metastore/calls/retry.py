"""Which calls may be made twice, and after what wait."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

__all__ = ["CALL_CLASSES", "CallClass", "RetryPolicy", "call_class"]


class CallClass(Enum):
    """What happens if a call is made again that may have been done before."""

    READ = "reads"
    """Nothing: it changes nothing."""
    REPEATABLE = "may be done twice"
    """Nothing more than what the first time did."""
    ONCE = "is done once"
    """Something else: an error for what went well, a second transaction, another's change undone."""

    @property
    def repeats(self) -> bool:
        """Whether it may be made again after it was sent."""
        return self is not CallClass.ONCE


_READS = [
    "get_all_databases", "get_all_tables", "get_config_value", "get_database", "get_databases", "get_open_txns",
    "get_partition_names", "get_partition_names_ps", "get_partitions_by_names", "get_partitions_by_names_req",
    "get_partitions_statistics_req", "get_table", "get_table_objects_by_name",
    "get_table_objects_by_name_req", "get_table_req", "get_table_statistics_req", "get_valid_write_ids",
    "get_principals_in_role", "get_role_grants_for_principal", "get_role_names", "getMetaConf", "getVersion",
    "list_privileges", "set_ugi", "show_compact", "show_locks", "translate_table_dryrun",
]  # fmt: skip
_REPEATABLE = [
    # The same transaction gets the same write id of a table (TxnHandler.allocateTableWriteIds).
    "allocate_table_write_ids",
    # Asks again for a lock that waits, and is a heartbeat.
    "check_lock",
    "heartbeat",
    "heartbeat_txn_range",
    # A second token does no harm.
    "get_delegation_token",
]
_ONCE = [
    "abort_txn", "add_dynamic_partitions", "add_partitions", "add_partitions_req", "alter_database",
    "alter_partitions_req", "alter_partitions_with_environment_context", "alter_table", "alter_table_req",
    "alter_table_with_environment_context", "cancel_delegation_token", "commit_txn", "compact2", "create_database",
    "create_role", "create_table", "create_table_req", "delete_column_statistics_req",
    "delete_partition_column_statistics", "delete_table_column_statistics", "drop_database", "drop_partitions_req",
    "drop_role", "drop_table", "drop_table_with_environment_context", "find_next_compact2", "grant_revoke_privileges",
    "grant_revoke_role", "lock", "mark_cleaned", "mark_compacted", "mark_failed", "mark_refused", "open_txns",
    "renew_delegation_token", "unlock", "update_compactor_state",
    "update_partition_column_statistics", "update_table_column_statistics",
]  # fmt: skip

CALL_CLASSES: Mapping[str, CallClass] = {
    **dict.fromkeys(_READS, CallClass.READ),
    **dict.fromkeys(_REPEATABLE, CallClass.REPEATABLE),
    **dict.fromkeys(_ONCE, CallClass.ONCE),
}
"""Every call of the metastore that our bindings have, by its name in Thrift."""


def call_class(method: str) -> CallClass:
    """The class of a call; one that is not in the table is done once."""
    return CALL_CLASSES.get(method, CallClass.ONCE)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after what wait a call is repeated.

    A lost or refused connection is worth another try, and so is an answer that the metastore's own database failed. A
    call that was answered with another error would be again; one that timed out is tried at the other addresses at
    most.

    Attributes:
        max_retries: Most repetitions of one call; 0 never repeats.
        first_wait: Seconds before the first repetition, at most; each later wait may be twice as long.
        max_wait: Seconds of the longest wait.
    """

    max_retries: int = 3
    first_wait: float = 0.2
    max_wait: float = 5.0

    def wait_before(self, repetition: int) -> float:
        """Seconds to wait before a repetition, counted from 0: of random length, to keep clients apart."""
        # No power of great numbers, which are no floating-point numbers any more.
        longest = min(self.max_wait, self.first_wait * 2 ** min(repetition, 64))
        return random.uniform(longest / 2, longest)
