"""The moment in which one writer makes a batch of a streaming query visible. Driver side."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

from connector_spi.errors import ConnectorError
from connectors.hive.write.publish.stream_journal import StreamAttempt, StreamJournal

__all__ = ["JournaledAttempt"]


class JournaledAttempt:
    """A block in which one writer makes the files of a batch visible.

    Where it fails in a plain table, the files have been taken back before its end; in object stores they stay, for who
    writes the batch again and finishes it. What has become of a failed commit of a transactional table the metastore
    knows, so that it is asked by who writes the batch again.

    Attributes:
        is_left: The files have to stay where they are: another one has to finish the batch.
    """

    def __init__(self, journal: StreamJournal, attempt: StreamAttempt) -> None:
        self._journal = journal
        self._attempt = attempt
        self.is_left = False

    def __enter__(self) -> None:
        self.is_left = not self._journal.can_move and self._attempt.transaction == 0
        self._journal.record_begun(self._attempt)
        try:
            self._journal.check_alone(self._attempt)
        except BaseException:
            self._give_up()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_transactional = self._attempt.transaction > 0
        if kind is None and is_transactional:
            with suppress(ConnectorError):  # the rows are there; who finds no end asks the metastore
                self._journal.record_committed(self._attempt)
        elif kind is None:
            self._journal.record_committed(self._attempt)
            self.is_left = False
        elif not is_transactional and not self.is_left:
            self._give_up()

    def _give_up(self) -> None:
        """No file is where readers look."""
        with suppress(ConnectorError):  # the first error is the one to tell
            if self._journal.record_undone(self._attempt):
                self._journal.clear(self._attempt)
                self.is_left = False
