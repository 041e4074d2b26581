"""Steps that a transactional table goes through, and random lists of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import get_args

from hypothesis import strategies as st

from tests.connectors.hive.acid_writer import EmptyKind

__all__ = [
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
    """

    major: bool
    transaction: bool
    outcome: Outcome
    wide: bool
    nested: bool
    layout: int


@dataclass(frozen=True, slots=True)
class Clean:
    """The cleaner removes what the last compaction, or the one before it, made obsolete."""

    back: int


Step = Write | Overwrite | Load | Stream | Finish | Compact | Clean


def original_counts() -> st.SearchStrategy[list[int]]:
    """Rows of original files; most tables have none."""
    return st.one_of(st.just([]), st.just([]), st.lists(st.integers(0, 4), min_size=1, max_size=5))


def step_lists(most: int = 10) -> st.SearchStrategy[list[Step]]:
    """Lists that begin with a write and have more writes than anything else."""
    return st.tuples(_writes(), st.lists(_steps(), max_size=most - 1)).map(lambda drawn: [drawn[0], *drawn[1]])


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
    )
    cleaned = st.builds(Clean, back=st.sampled_from([0, 0, 1]))
    return st.one_of(_writes(), _writes(), _writes(), _bulk(), _streams(), _finishes(), compacted, compacted, cleaned)


def _writes() -> st.SearchStrategy[Write]:
    statement = st.builds(Statement, verb=st.sampled_from(Verb), counts=_counts(3), chosen=st.integers(1, 2**16 - 1))
    insert = st.builds(Statement, verb=st.just(Verb.INSERT), counts=_counts(3), chosen=st.just(0))
    statements = st.one_of(insert.map(lambda one: (one,)), st.lists(statement, min_size=1, max_size=3).map(tuple))
    attempts = st.sampled_from([None, 0, 3])
    return st.builds(Write, statements=statements, outcome=_outcomes(), layout=_LAYOUT, attempt=attempts)


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
    return st.sampled_from([Outcome.COMMITTED, Outcome.COMMITTED, Outcome.ABORTED, Outcome.OPEN])


_LAYOUT = st.integers(0, 7)
