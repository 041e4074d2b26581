"""Histories of a transactional table: each step is done to files on disk and to the model alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.connectors.hive.acid.model import AcidModel, Snapshot
from tests.connectors.hive.acid.steps import (
    Clean,
    Compact,
    Finish,
    Load,
    Outcome,
    Overwrite,
    Statement,
    Step,
    Stream,
    Verb,
    Write,
)
from tests.connectors.hive.acid.writer import (
    FIRST_WRITE_ID_OF_CONVERTED,
    PRE_ACID_BASE,
    AcidLocation,
    Flush,
    InsertOnlyFolder,
    OrcLayout,
    Row,
    delete_delta_name,
    delta_name,
)

__all__ = ["FIELDS", "History"]

FIELDS = "k:int,v:string"

_DIRECTORY = re.compile(r"(base|delta|delete_delta)_(-?\d+)(?:_(\d+))?.*")
_ORIGINALS = ("000000_0", "000000_0_copy_1", "000000_0_copy_10", "000000_0_copy_2", "HIVE_UNION_SUBDIR_1/000001_0")
_LOADED = ("000000_0", "000001_0", "000001_0_copy_1")
_LAYOUTS = (
    OrcLayout(),
    OrcLayout(stripe_rows=2),
    OrcLayout(stripe_rows=2, stride=0, key_index="short"),
    OrcLayout(stripe_rows=1, key_index="absent"),
    OrcLayout(stripe_rows=3, key_index="garbled"),
    OrcLayout(stripe_rows=2, key_index="empty"),
    OrcLayout(stripe_rows=1, stride=1),
    OrcLayout(stripe_rows=2, query_compacted=True),
)
_WRITTEN_LAYOUTS = _LAYOUTS[:-1]


@dataclass(slots=True)
class _Transaction:
    """A transaction; those of compactions have the write id 0."""

    write_id: int
    outcome: Outcome = Outcome.OPEN
    on_commit: Callable[[], None] = lambda: None

    def end(self, outcome: Outcome) -> None:
        self.outcome = outcome
        if outcome is Outcome.COMMITTED:
            self.on_commit()


@dataclass(slots=True)
class _Compaction:
    """A compaction: its directories, what they stand for, and after how many steps it counted, if ever."""

    first: int
    last: int
    base: int | None
    major: bool
    names: tuple[str, ...] = ()
    committed: int | None = None


@dataclass(slots=True)
class History:
    """A table that goes through steps.

    Attributes:
        folder: Where its files are.
        model: What it holds.
        first_write_id: 1, or that of a converted table.
        snapshots: By number of steps before: those that a reader can still hold, since the cleaner waits for readers.
    """

    folder: AcidLocation
    model: AcidModel = field(default_factory=AcidModel)
    first_write_id: int = 1
    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    _converted: bool = False
    _steps: int = 0
    _next_write_id: int = 0
    _rows_made: int = 0
    _transactions: list[_Transaction] = field(default_factory=list)
    # Ranges of write ids of the deltas that a compaction would merge, and the bases that count.
    _ranges: list[tuple[int, int]] = field(default_factory=list)
    _bases: list[int] = field(default_factory=list)
    _compactions: list[_Compaction] = field(default_factory=list)

    def start(self, originals: Sequence[int] = ()) -> None:
        """Makes the table, of original files with so many rows; without, it was born transactional."""
        self.folder.path.mkdir(parents=True)
        if originals:
            files = {name: self._rows(count) for name, count in zip(_ORIGINALS, originals, strict=False)}
            self.model.insert(self.folder.originals(files))
            self._converted = True
            # Insert-only tables are converted without a gap in their write ids.
            if not isinstance(self.folder, InsertOnlyFolder):
                self.first_write_id = FIRST_WRITE_ID_OF_CONVERTED
        self.folder.litter()
        self._next_write_id = self.first_write_id
        self.snapshots[0] = self.snapshot()

    def snapshot(self) -> Snapshot:
        """What a reader that comes now may see."""
        writes: dict[Outcome, list[int]] = {outcome: [] for outcome in Outcome}
        numbers: dict[Outcome, list[int]] = {outcome: [] for outcome in Outcome}
        for number, transaction in enumerate(self._transactions, 1):
            numbers[transaction.outcome].append(number)
            if transaction.write_id:
                writes[transaction.outcome].append(transaction.write_id)
        return Snapshot(
            self._next_write_id - 1,
            tuple(writes[Outcome.OPEN]),
            tuple(writes[Outcome.ABORTED]),
            len(self._transactions),
            tuple(numbers[Outcome.OPEN]),
            tuple(numbers[Outcome.ABORTED]),
        )

    def versions(self) -> range:
        """Write ids given out."""
        return range(self.first_write_id, self._next_write_id)

    def on_disk(self) -> list[str]:
        """What lies in the folder."""
        return sorted(path.name for path in self.folder.path.iterdir())

    def has_base_above(self, write_id: int) -> bool:
        """Whether a base on disk may have taken the place of what was there at a write id."""
        found = (_DIRECTORY.fullmatch(path.name) for path in self.folder.path.iterdir())
        return any(match and match[1] == "base" and int(match[2]) > write_id for match in found)

    def is_compacted_above(self, write_id: int) -> bool:
        """Whether a compaction has taken in a higher write id, or a base has."""
        return any(one.last > write_id for one in self._compactions) or self.has_base_above(write_id)

    def apply(self, step: Step) -> None:
        """Does a step, where it makes sense."""
        self._steps += 1
        match step:
            case Write():
                self._write(step)
            case Overwrite():
                self._overwrite(step)
            case Load():
                self._load(step)
            case Stream():
                self._stream(step)
            case Finish():
                pending = [one for one in self._transactions if one.outcome is Outcome.OPEN]
                if pending:
                    ended = Outcome.COMMITTED if step.committed else Outcome.ABORTED
                    pending[step.which % len(pending)].end(ended)
            case Compact():
                for _ in range(1 + (step.twice and step.transaction)):
                    self._compact(step)
                if step.cleaned:
                    self._clean(Clean(0))
            case Clean():
                self._clean(step)
        self.snapshots[self._steps] = self.snapshot()

    def _write(self, step: Write) -> None:
        transaction = self._begin_write()
        folder = self._writer(step.layout, step.attempt)
        number = 0
        for statement in step.statements:
            number = self._statement(folder, transaction.write_id, statement, number)
        self._add_range(transaction.write_id, transaction.write_id)
        transaction.end(step.outcome)

    def _statement(self, folder: AcidLocation, write_id: int, statement: Statement, number: int) -> int:
        """Returns the number of the next statement."""
        visible = sorted(self.model.visible(self.snapshot().writing(write_id)))
        chosen = [key for place, key in enumerate(visible) if statement.chosen >> (place % 16) & 1]
        if statement.verb is Verb.INSERT:
            rows = {bucket: self._rows(count) for bucket, count in enumerate(statement.counts) if count}
            self.model.insert(folder.insert(write_id, rows, number))
            return number + 1
        if statement.verb is Verb.DELETE:
            folder.delete(write_id, chosen, number)
            self.model.delete(chosen, write_id)
            return number + 1
        changed = dict(zip(chosen, self._rows(len(chosen)), strict=True))
        # Hive 4, whose names have the attempt, takes two numbers for an update.
        following = number if folder.attempt is None else number + 1
        self.model.insert(folder.update(write_id, changed, number, following))
        self.model.delete(chosen, write_id)
        return following + 1

    def _overwrite(self, step: Overwrite) -> None:
        transaction = self._begin_write()
        folder = self._writer(step.layout)
        rows = {bucket: self._rows(count) for bucket, count in enumerate(step.counts) if count}
        if rows:
            self.model.insert(folder.overwrite(transaction.write_id, rows))
        else:
            folder.truncate(transaction.write_id, step.empty)
        self._end_overwrite(transaction, step.outcome)

    def _load(self, step: Load) -> None:
        transaction = self._begin_write()
        files = {name: self._rows(count) for name, count in zip(_LOADED, step.counts, strict=False)}
        self.model.insert(self._writer(step.layout).load_data(transaction.write_id, files, step.overwrite))
        if step.overwrite:
            self._end_overwrite(transaction, step.outcome)
        else:
            self._add_range(transaction.write_id, transaction.write_id)
            transaction.end(step.outcome)

    def _end_overwrite(self, transaction: _Transaction, outcome: Outcome) -> None:
        self.model.overwritten.append(transaction.write_id)
        transaction.on_commit = lambda: self._bases.append(transaction.write_id)
        transaction.end(outcome)

    def _stream(self, step: Stream) -> None:
        batch = [self._begin_write() for _ in step.flushes]
        flushes = [Flush(one.write_id, self._rows(count)) for one, (count, _) in zip(batch, step.flushes, strict=True)]
        # A batch of one transaction has no side file.
        closed = step.closed or len(flushes) == 1
        lost = self._rows(0 if closed else step.unflushed)
        self.model.insert(self.folder.stream(0, flushes, lost, closed))
        self._add_range(flushes[0].write_id, flushes[-1].write_id)
        for transaction, (_, outcome) in zip(batch, step.flushes, strict=True):
            transaction.end(outcome)

    def _compact(self, step: Compact) -> None:
        if any(one.outcome is Outcome.OPEN and not one.write_id for one in self._transactions):
            return
        seen = self.snapshot()
        seen = seen.as_of(min(seen.high_watermark, seen.minimum_open - 1))
        plan = self._plan(step, seen)
        if plan is None:
            return
        seen = seen.as_of(max(plan.last, 0))
        rows, events = self.model.visible(seen), self.model.events(max(plan.base or 0, 0), seen)
        folder = self.folder.with_layout(_LAYOUTS[step.layout], None)
        visibility = len(self._transactions) + 1 if step.transaction else 0

        def write(every: int) -> None:
            for name in plan.names:
                folder.remove(name)
            if plan.major:
                kept = dict(list(rows.items())[::every])
                plan.names = (folder.major_compaction(plan.last, kept, visibility),)
            else:
                plan.names = tuple(folder.minor_compaction(plan.first, plan.last, events[::every], visibility))

        self._compactions.append(plan)
        if not step.transaction:
            write(1)
            for name in plan.names if step.nested else ():
                folder.nest(name)
            self._commit_compaction(plan)
            return

        def commit() -> None:
            write(1)
            self._commit_compaction(plan)

        # Half of the work is done before the transaction ends.
        write(2)
        transaction = _Transaction(0, on_commit=commit)
        self._transactions.append(transaction)
        transaction.end(step.outcome)

    def _plan(self, step: Compact, seen: Snapshot) -> _Compaction | None:
        """What would be compacted, by the rules of Hive's compactor: nothing from the lowest open write id on."""
        top = seen.version or 0
        base = max((one for one in self._bases if one <= top), default=None)
        ranges = [one for one in self._ranges if one[1] <= top and one[0] > max(base or 0, 0)]
        aborted = [one for one in ranges if all(w in seen.aborted for w in range(one[0], one[1] + 1))]
        if not set(ranges) - set(aborted):
            only_originals = step.major and base is None and not ranges and self._converted
            return _Compaction(PRE_ACID_BASE, PRE_ACID_BASE, None, True) if only_originals else None
        chosen = ranges if step.wide else [one for one in ranges if one not in aborted]
        plan = _Compaction(min(chosen)[0], max(one[1] for one in chosen), base, step.major)
        taken = (delta_name(plan.first, plan.last), delete_delta_name(plan.first, plan.last))
        if not (step.transaction or step.major) and any((self.folder.path / name).exists() for name in taken):
            return None
        return plan

    def _commit_compaction(self, done: _Compaction) -> None:
        done.committed = self._steps
        if done.major:
            self._bases.append(done.last)
        elif done.names:
            self._ranges = [one for one in self._ranges if not (done.first <= one[0] and one[1] <= done.last)]
            self._ranges.append((done.first, done.last))

    def _clean(self, step: Clean) -> None:
        finished = [one for one in self._compactions if one.committed is not None]
        if len(finished) <= step.back:
            return
        done = finished[-1 - step.back]
        self._compactions = self._compactions[self._compactions.index(done) :]
        kept = {name for one in self._compactions for name in one.names}
        current = done.last if done.major else done.base
        for path in sorted(self.folder.path.iterdir()):
            match = _DIRECTORY.fullmatch(path.name)
            if path.name in kept or path.name[0] in "._":
                continue
            if match is None:
                obsolete = current is not None
            elif match[1] == "base":
                obsolete = int(match[2]) <= done.last and (done.major or int(match[2]) != current)
            else:
                obsolete = int(match[3]) <= done.last
            if obsolete:
                self.folder.remove(path.name)
        # Readers from before the commit would have held the cleaner up.
        committed = done.committed or 0
        self.snapshots = {number: one for number, one in self.snapshots.items() if number >= committed}

    def _writer(self, layout: int, attempt: int | None = None) -> AcidLocation:
        return self.folder.with_layout(_WRITTEN_LAYOUTS[layout % len(_WRITTEN_LAYOUTS)], attempt)

    def _rows(self, count: int) -> list[Row]:
        made = range(self._rows_made, self._rows_made + count)
        self._rows_made += count
        return [(number, None if number % 7 == 6 else f"v{number % 5}") for number in made]

    def _begin_write(self) -> _Transaction:
        transaction = _Transaction(self._next_write_id)
        self._next_write_id += 1
        self._transactions.append(transaction)
        return transaction

    def _add_range(self, first: int, last: int) -> None:
        name = delta_name(first, last)
        if any(path.name.startswith((name, f"delete_{name}")) for path in self.folder.path.iterdir()):
            self._ranges.append((first, last))
