"""Calls of hdfs-native: whose they are, how long they may take, and what it raises. Executor side."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

__all__ = ["calls_of", "hdfs_errors", "within"]

T = TypeVar("T")

_USER = "HADOOP_USER_NAME"
# RPCError("java.class", "message\n\tat a.line(of the stack)"), as Rust writes it.
_REMOTE = re.compile(r'(?:Fatal)?RPCError\("([^"]*)", "((?:[^"\\]|\\.)*)')
# GSSAPIError(codes, number, "message"), likewise.
_KERBEROS = re.compile(r'GSSAPIError\(.*, \d+, "(.*)"\)', re.DOTALL)
# Which of them it is depends on what the client had sent by then.
_HUNG_UP = ("RPC listener disconnected", "Broken pipe", "Connection reset by peer")
_NO_RIGHT = "AccessControlException"


def calls_of(user: str | None) -> AbstractContextManager[None]:
    """Calls by a user, while those of another one wait; ``None`` is the owner of the process."""
    return _turns.of(user)


def within(seconds: float, work: Callable[[], T], progress: Callable[[], int]) -> T:
    """Waits for an answer in a thread of its own: hdfs-native knows no limit to a NameNode that is silent.

    Raises:
        TimeoutError: There was neither an answer nor progress for so long; the thread is left behind.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="hdfs", daemon=True)
    thread.start()
    before = -1
    while thread.is_alive() and progress() != before:
        before = progress()
        thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]


@contextmanager
def hdfs_errors() -> Iterator[None]:
    """Maps what hdfs-native raises to ``OSError``."""
    try:
        yield
    except OSError as error:
        if any(text in str(error) for text in _HUNG_UP):
            raise OSError(
                "the server hung up: it asks for Kerberos (hdfs.kerberos-principal), or is no NameNode's RPC port"
            ) from error
        raise
    except NotImplementedError as error:
        raise OSError(f"hdfs-native cannot do this: {error}") from error
    except RuntimeError as error:
        remote = _REMOTE.match(str(error))
        if remote is None:
            kerberos = _KERBEROS.fullmatch(str(error))
            raise OSError(f"Kerberos: {kerberos[1]}" if kerberos else str(error)) from error
        kind, message = remote[1].rpartition(".")[2], remote[2].partition("\\n")[0].replace('\\"', '"')
        if kind == _NO_RIGHT:
            raise PermissionError(message) from error
        raise OSError(f"{kind}: {message}") from error
    except BaseException as error:
        # Rust's panics are no Exception, so that no handler takes them for one by chance.
        if type(error).__name__ == "PanicException":
            raise OSError(f"hdfs-native failed inside: {error}") from error
        raise


class _Turns:
    """Lets the calls of one user go side by side, and those of another wait.

    hdfs-native learns who reads from a variable of the environment alone, whenever it connects to a NameNode.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._user: str | None = None
        self._calls = 0
        self._waiting = 0
        self._before: str | None = None

    @contextmanager
    def of(self, user: str | None) -> Iterator[None]:
        with self._changed:
            if self._calls and (self._user != user or self._waiting):
                self._waiting += 1
                self._changed.wait_for(lambda: not self._calls or self._user == user)
                self._waiting -= 1
            if not self._calls:
                self._user = user
                self._before = os.environ.get(_USER)
                _set(user if user is not None else self._before)
            self._calls += 1
        try:
            yield
        finally:
            with self._changed:
                self._calls -= 1
                if not self._calls:
                    _set(self._before)
                    self._changed.notify_all()


def _set(user: str | None) -> None:
    if user == os.environ.get(_USER):
        return
    if user is None:
        del os.environ[_USER]
    else:
        os.environ[_USER] = user


_turns = _Turns()
