"""What a server knows of queries, by the events that Spark has of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeport.server.queries.history import QueryHistory
from lakeport.server.queries.query import QueryState, ServedQuery

STARTED = {
    "event": "started",
    "at": 1000,
    "source": "jdbc",
    "tag": "group",
    "session": "session",
    "user": "alice",
    "text": "SELECT 1",
}


def begin(history: QueryHistory, name: str = "one", text: str = "SELECT 1") -> None:
    history.follow({**STARTED, "id": name, "text": text})


def found(history: QueryHistory, name: str = "one") -> ServedQuery:
    query = history.get(name)
    assert query is not None
    return query


def test_a_query_that_ends_well() -> None:
    history = QueryHistory()
    begin(history)
    assert (found(history).state, found(history).user, found(history).text) == ("PLANNING", "alice", "SELECT 1")
    history.follow({"event": "analyzed", "id": "one", "at": 2000})
    assert (found(history).state, found(history).started) == ("RUNNING", datetime.fromtimestamp(2, UTC))
    history.follow({"event": "finished", "id": "one", "at": 3500, "rows": 7})
    # The client closes it later.
    history.follow({"event": "closed", "id": "one", "at": 9000})
    query = found(history)
    assert (query.state, query.rows, query.end) == ("FINISHED", 7, datetime.fromtimestamp(3.5, UTC))
    assert (query.error_code, query.error) == (None, None)


@pytest.mark.parametrize(
    ("event", "code", "error"),
    [
        ({"event": "failed", "error": "[PARSE_SYNTAX_ERROR] at 'FORM'\nline 1"}, "PARSE_SYNTAX_ERROR", "at 'FORM'"),
        ({"event": "failed", "error": "it broke"}, None, "it broke"),
        ({"event": "failed", "error": "no such option password='x'"}, None, ""),
        ({"event": "canceled"}, "USER_CANCELED", "canceled by its client"),
    ],
)
def test_a_query_that_fails(event: dict[str, object], code: str | None, error: str) -> None:
    history = QueryHistory()
    begin(history)
    history.follow({**event, "id": "one", "at": 2000})
    query = found(history)
    assert (query.state, query.error_code) == (QueryState.FAILED, code)
    assert query.error is not None
    assert error in query.error
    assert "password" not in query.error


@pytest.mark.parametrize("what", ["failed", "canceled", "closed"])
def test_a_query_that_was_killed(what: str) -> None:
    history = QueryHistory()
    begin(history)
    history.kill("one", "killed by user 'bob'")
    history.follow({"event": what, "id": "one", "at": 2000, "error": "[SPARK_JOB_CANCELLED] job 1"})
    assert (found(history).error_code, found(history).error) == ("ADMINISTRATIVELY_KILLED", "killed by user 'bob'")


def test_a_kill_that_comes_too_late() -> None:
    history = QueryHistory()
    begin(history)
    history.kill("one", "killed by user 'bob'")
    history.follow({"event": "finished", "id": "one", "at": 2000})
    assert found(history).state is QueryState.FINISHED


def test_secrets_are_not_kept() -> None:
    history = QueryHistory()
    begin(history, text="CREATE TABLE t OPTIONS (password = 'hunter2')")
    assert found(history).text == ""


def test_what_ended_first_is_forgotten_first() -> None:
    history = QueryHistory(limit=2)
    for number in range(6):
        begin(history, str(number))
        if number:
            history.follow({"event": "finished", "id": str(number), "at": 2000})
    # The one that runs stays.
    assert [query.query_id for query in history.queries()] == ["0", "4", "5"]


def test_events_of_unknown_queries() -> None:
    history = QueryHistory()
    history.follow({"event": "finished", "id": "unknown", "at": 2000})
    assert history.queries() == []
