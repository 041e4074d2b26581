"""The tries of one call: how many, until when, at which addresses, and what each of those said."""

from __future__ import annotations

import time

from catalog.metastore import error_codes
from catalog.metastore.calls.retry import CallClass, RetryPolicy
from catalog.metastore.thrift.connections.endpoints import ThriftEndpoint
from catalog.metastore.thrift.errors import Timeouts, is_database_failure, is_timeout, reason
from connector_spi.errors import ErrorCode, MetastoreError

__all__ = ["RetryState"]


class RetryState:
    """Decides whether a call is tried again, and says in the end what became of it.

    Args:
        method: Name of the call.
        timeouts: How long to wait.
        policy: How often to try again.
        addresses: Number of the metastore's addresses.

    Attributes:
        deadline: When the call has to be done, by ``time.monotonic``.
        silent: Addresses that gave no answer in time.
    """

    def __init__(self, method: str, timeouts: Timeouts, policy: RetryPolicy, addresses: int = 1) -> None:
        self._began = time.monotonic()
        self.deadline = self._began + timeouts.total
        self.silent: set[ThriftEndpoint] = set()
        self._method = method
        self._timeouts = timeouts
        self._policy = policy
        self._addresses = addresses
        self._tries = 0
        self._repetitions = 0
        self._met_stale = False
        self._said: dict[ThriftEndpoint, str] = {}
        self._codes: dict[ThriftEndpoint, ErrorCode] = {}

    def remaining(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self.deadline - time.monotonic())

    def begin_round(self) -> None:
        """Starts to look for an address that answers."""
        self._codes.clear()

    def not_connected(self, endpoint: ThriftEndpoint, error: Exception, why_cut: str | None) -> None:
        """Notes that there is no connection to an address: nothing was sent."""
        self._note(endpoint, error, why_cut)

    def unreachable(self) -> float:
        """After no address answered: the seconds to wait before the next try.

        Raises:
            MetastoreError: There is none.
        """
        self._tries += 1
        if error_codes.AUTHENTICATION_FAILED in self._codes.values():
            raise self._error()
        return self._again(error_codes.CONNECTION_FAILED in self._codes.values())

    def failed(
        self, endpoint: ThriftEndpoint, call: CallClass, error: Exception, *, why_cut: str | None, stale: bool
    ) -> float:
        """After a call was sent and its connection broke: the seconds to wait before the next try.

        Args:
            endpoint: Where it was sent.
            call: Whether it may be repeated.
            error: What happened.
            why_cut: Why we cut the connection, if we did.
            stale: It was an old connection, and no byte came: the server may have been restarted since.

        Raises:
            MetastoreError: There is none.
        """
        self._tries += 1
        self._codes.clear()
        code = self._note(endpoint, error, why_cut)
        if code == error_codes.AUTHENTICATION_FAILED:
            raise self._error()
        if not call.repeats:
            raise self._error("; whether it was done is not known, so it was not repeated")
        if code == error_codes.TIMED_OUT:
            self.silent.add(endpoint)
            others = self._policy.max_retries > 0 and len(self.silent) < self._addresses and self.remaining() > 0
            if not others:
                raise self._error()
            return 0.0
        if stale and not self._met_stale:
            self._met_stale = True
            return 0.0
        return self._again(True)

    def refused(self, call: CallClass, error: MetastoreError) -> float | None:
        """After an answer that is an error: the seconds to wait before the next try; ``None``: there is none.

        Args:
            call: Whether it may be repeated.
            error: What was said.
        """
        return self._wait() if call.repeats and is_database_failure(error) else None

    def all_in_use(self, connections: int) -> MetastoreError:
        """The error for a pool that stayed busy."""
        return MetastoreError(
            f"{self._method}: all {connections} connections to the metastore were in use for "
            f"{self._timeouts.total:g} s; hive.metastore.thrift.client.max-connections allows more",
            error_codes.TIMED_OUT,
        )

    def closed(self) -> MetastoreError:
        """The error for a client that was closed."""
        return MetastoreError(f"{self._method}: the metastore's client was closed", error_codes.CLOSED)

    def unknown_call(self, endpoint: ThriftEndpoint, names: list[str]) -> MetastoreError:
        """The error for a server that has none of the calls."""
        return MetastoreError(
            f"{self._method}: the metastore at {endpoint} has no call {' or '.join(names)}: its release of Hive is "
            "older or newer than those that are known (docs/metastores.md)",
            error_codes.NO_SUCH_CALL,
        )

    def _note(self, endpoint: ThriftEndpoint, error: Exception, why_cut: str | None) -> ErrorCode:
        if why_cut is not None:
            text = f"no whole answer within {time.monotonic() - self._began:.3g} s"
            code = error_codes.TIMED_OUT
        elif isinstance(error, MetastoreError):
            text, code = error.message, error.code
        else:
            text = reason(error, self._timeouts)
            code = error_codes.TIMED_OUT if is_timeout(error) else error_codes.CONNECTION_FAILED
        self._said[endpoint] = text
        self._codes[endpoint] = code
        return code

    def _again(self, helps: bool) -> float:
        wait = self._wait() if helps else None
        if wait is None:
            raise self._error()
        return wait

    def _wait(self) -> float | None:
        if self._repetitions >= self._policy.max_retries or self.remaining() <= 0:
            return None
        wait = self._policy.wait_before(self._repetitions)
        self._repetitions += 1
        return wait

    def _error(self, more: str = "") -> MetastoreError:
        said = "; ".join(f"{endpoint}: {text}" for endpoint, text in self._said.items())
        often = f", tried {self._tries} times in {time.monotonic() - self._began:.3g} s" if self._tries > 1 else ""
        timed_out = error_codes.TIMED_OUT in self._codes.values()
        code = error_codes.TIMED_OUT if timed_out else next(iter(self._codes.values()))
        if error_codes.AUTHENTICATION_FAILED in self._codes.values():
            code = error_codes.AUTHENTICATION_FAILED
            return MetastoreError(f"{self._method}: no way to prove who we are, or who the metastore is ({said})", code)
        hint = "" if more else "; check hive.metastore.uri and that the metastore runs"
        return MetastoreError(f"{self._method}: no answer from the metastore ({said}){often}{more}{hint}", code)
