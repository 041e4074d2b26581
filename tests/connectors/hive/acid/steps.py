"""Steps that a transactional table goes through, and random lists of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import get_args

from hypothesis import strategies as st

from tests.connectors.hive.acid.writer import EmptyKind

__all__ = [
    "KNOWN_TRAPS",
    "Clean",
    "Compact",
    "Finish",
    "Load",
    "Outcome",
    "Overwrite",
    "Statement",
    "Step",
    "Stream",
    "Verb",
    "Write",
    "insert_only_step_lists",
    "original_counts",
    "step_lists",
]


class Outcome(Enum):
    """What became of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


class Verb(Enum):
    """What a statement does."""

    INSERT = "insert"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a transaction.

    Attributes:
        verb: What it does.
        counts: Rows inserted into each bucket.
        chosen: Bits: which of the visible rows are deleted or updated.
    """

    verb: Verb
    counts: tuple[int, ...]
    chosen: int


@dataclass(frozen=True, slots=True)
class Write:
    """A transaction of INSERT, DELETE and UPDATE."""

    statements: tuple[Statement, ...]
    outcome: Outcome
    layout: int
    attempt: int | None


@dataclass(frozen=True, slots=True)
class Overwrite:
    """INSERT OVERWRITE, TRUNCATE where it has no rows."""

    counts: tuple[int, ...]
    empty: EmptyKind
    outcome: Outcome
    layout: int


@dataclass(frozen=True, slots=True)
class Load:
    """LOAD DATA, with or without OVERWRITE."""

    counts: tuple[int, ...]
    overwrite: bool
    outcome: Outcome
    layout: int


@dataclass(frozen=True, slots=True)
class Stream:
    """A batch of streaming ingest; the rows of transactions and what became of them."""

    flushes: tuple[tuple[int, Outcome], ...]
    unflushed: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Finish:
    """An open transaction ends."""

    which: int
    committed: bool


@dataclass(frozen=True, slots=True)
class Compact:
    """A compaction.

    Attributes:
        major: Into a base, else into one delta and one delete delta.
        transaction: Whether it runs in a transaction of its own, as in Hive 4; else as in Hive 3.
        outcome: Of that transaction.
        wide: Whether the range takes in directories of nothing but aborted transactions.
        nested: Whether Hive 3 leaves a copy of the result in the result.
        layout: Of the result.
        twice: Whether a second job does the same again (HIVE-29210).
        cleaned: Whether the cleaner comes right after it.
    """

    major: bool
    transaction: bool
    outcome: Outcome
    wide: bool
    nested: bool
    layout: int
    twice: bool
    cleaned: bool


@dataclass(frozen=True, slots=True)
class Clean:
    """The cleaner removes what the last compaction, or the one before it, made obsolete."""

    back: int


Step = Write | Overwrite | Load | Stream | Finish | Compact | Clean


_INSERT = Write((Statement(Verb.INSERT, (3, 2), 0),), Outcome.COMMITTED, 1, 0)
_DELETE = Write((Statement(Verb.DELETE, (), 0b101),), Outcome.COMMITTED, 0, None)
_UPDATE = Write((Statement(Verb.UPDATE, (), 0b11),), Outcome.COMMITTED, 1, 0)
_MINOR = Compact(False, True, Outcome.COMMITTED, False, False, 1, False, False)
_MAJOR = replace(_MINOR, major=True)
_STREAM = Stream(((2, Outcome.COMMITTED), (1, Outcome.OPEN), (2, Outcome.ABORTED)), 2, False)

KNOWN_TRAPS: dict[str, list[Step]] = {
    "deletes of later versions are in the delete delta of a compaction": [_INSERT, _DELETE, _UPDATE, _MINOR],
    "the same, and the cleaner came": [_INSERT, _DELETE, _UPDATE, replace(_MINOR, cleaned=True)],
    "two jobs compact the same": [_INSERT, _UPDATE, replace(_MINOR, twice=True), _DELETE],
    "a compaction runs": [_INSERT, _UPDATE, replace(_MAJOR, outcome=Outcome.OPEN), _DELETE],
    "a compaction was given up": [_INSERT, _UPDATE, replace(_MINOR, outcome=Outcome.ABORTED), _DELETE],
    "a streaming writer died": [_STREAM, _DELETE, _INSERT],
    "the cleaner took what an overwrite hid": [
        _INSERT,
        Overwrite((2,), "version", Outcome.COMMITTED, 0),
        _INSERT,
        _DELETE,
        replace(_MINOR, cleaned=True),
    ],
    "the first overwrite of a table runs": [_INSERT, Overwrite((2,), "version", Outcome.OPEN, 0)],
    "a truncated table": [_INSERT, Overwrite((), "truncated", Outcome.COMMITTED, 0), _INSERT],
    "aborted rows in a compacted range": [_INSERT, replace(_UPDATE, outcome=Outcome.ABORTED), _DELETE, _MINOR],
    "Hive 3 nests a compaction": [_INSERT, _UPDATE, replace(_MINOR, transaction=False, nested=True), _DELETE],
    "loaded files are changed": [Load((3, 2, 2), False, Outcome.COMMITTED, 1), _UPDATE, _DELETE, _MAJOR],
}
"""Histories in which readers are known to go wrong, or went."""


def original_counts() -> st.SearchStrategy[list[int]]:
    """Rows of original files; most tables have none."""
    return st.one_of(st.just([]), st.just([]), st.lists(st.integers(0, 4), min_size=1, max_size=5))


def step_lists(most: int = 10) -> st.SearchStrategy[list[Step]]:
    """Lists that begin with rows, and go on with more writes than anything else."""
    first = st.builds(Write, st.tuples(_inserts(st.integers(1, 4))), st.just(Outcome.COMMITTED), _LAYOUT, _ATTEMPT)
    return st.builds(lambda one, others: [one, *others], first, st.lists(_steps(), min_size=3, max_size=most - 1))


def insert_only_step_lists(most: int = 10) -> st.SearchStrategy[list[Step]]:
    """The same for insert-only tables: nothing is deleted or streamed, and only Hive 4 compacts."""
    return step_lists(most).map(lambda steps: [made for step in steps if (made := _insert_only(step)) is not None])


def _insert_only(step: Step) -> Step | None:
    match step:
        case Stream():
            return None
        case Compact():
            return replace(step, transaction=True, nested=False)
        case Write():
            return replace(step, statements=tuple(replace(one, verb=Verb.INSERT) for one in step.statements))
        case _:
            return step


def _steps() -> st.SearchStrategy[Step]:
    compacted = st.builds(
        Compact,
        major=st.booleans(),
        transaction=st.booleans(),
        outcome=_outcomes(),
        wide=st.booleans(),
        nested=st.booleans(),
        layout=_LAYOUT,
        twice=st.sampled_from([False, False, True]),
        cleaned=st.sampled_from([False, False, True]),
    )
    cleaned = st.builds(Clean, back=st.sampled_from([0, 0, 1]))
    often: list[st.SearchStrategy[Step]] = [_inserts_of_rows(), *[_changes()] * 3, *[compacted] * 3]
    kinds = [*often, _writes(), _bulk(), _streams(), _finishes(), cleaned]
    # one_of() would take each kind once.
    return st.sampled_from(range(len(kinds))).flatmap(lambda number: kinds[number])


def _inserts_of_rows() -> st.SearchStrategy[Write]:
    return st.builds(Write, st.tuples(_inserts(st.integers(0, 4))), _outcomes(), _LAYOUT, _ATTEMPT)


def _changes() -> st.SearchStrategy[Write]:
    """One DELETE or UPDATE."""
    verb = st.sampled_from([Verb.DELETE, Verb.UPDATE])
    statement = st.builds(Statement, verb=verb, counts=st.just(()), chosen=_CHOSEN)
    return st.builds(Write, st.tuples(statement), _outcomes(), _LAYOUT, _ATTEMPT)


def _writes() -> st.SearchStrategy[Write]:
    """Several statements."""
    statement = st.builds(Statement, verb=st.sampled_from(Verb), counts=_counts(3), chosen=_CHOSEN)
    statements = st.lists(statement, min_size=2, max_size=4).map(tuple)
    return st.builds(Write, statements, _outcomes(), _LAYOUT, _ATTEMPT)


def _inserts(rows: st.SearchStrategy[int]) -> st.SearchStrategy[Statement]:
    counts = st.lists(rows, min_size=1, max_size=3).map(tuple)
    return st.builds(Statement, verb=st.just(Verb.INSERT), counts=counts, chosen=st.just(0))


def _bulk() -> st.SearchStrategy[Overwrite | Load]:
    empty = st.sampled_from(get_args(EmptyKind))
    overwrite = st.builds(Overwrite, counts=_counts(2), empty=empty, outcome=_outcomes(), layout=_LAYOUT)
    load = st.builds(Load, counts=_counts(3), overwrite=st.booleans(), outcome=_outcomes(), layout=_LAYOUT)
    return st.one_of(overwrite, load, load)


def _streams() -> st.SearchStrategy[Stream]:
    flushes = st.lists(st.tuples(st.integers(0, 3), _outcomes()), min_size=1, max_size=4).map(tuple)
    return st.builds(Stream, flushes=flushes, unflushed=st.integers(0, 2), closed=st.booleans())


def _finishes() -> st.SearchStrategy[Finish]:
    return st.builds(Finish, which=st.integers(0, 3), committed=st.booleans())


def _counts(most: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(0, 4), min_size=1, max_size=most).map(tuple)


def _outcomes() -> st.SearchStrategy[Outcome]:
    return st.sampled_from([*[Outcome.COMMITTED] * 6, Outcome.ABORTED, Outcome.OPEN])


_LAYOUT = st.integers(0, 7)
_ATTEMPT = st.sampled_from([None, 0, 3])
_CHOSEN = st.integers(1, 2**16 - 1)
