"""A transactional table that Lakeport and Hive change in turn, and a dict that says what it has to hold."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.names import SchemaTableName
from connector_spi.optional.writing import MergeCommand, Overwrite
from connector_spi.testing.merging import ReferenceMerge
from connector_spi.testing.reading import ReferenceQuery
from connector_spi.testing.writing import insert_rows, overwrite_rows
from connectors.hive.connector import HiveConnector
from tests.integration.hive.engine import HiveEngine

__all__ = ["ChangedTable", "Row"]

Row = tuple[int | None, str]
"""A number that changes, and the key of the row's partition."""

_SCHEMA = pa.schema([("id", pa.int32()), ("v", pa.int32()), ("ds", pa.string())])
_KEYS = ("a", "b", "c d")


@dataclass(slots=True)
class ChangedTable:
    """The table and its model; each step changes both.

    Attributes:
        hive: Our connector.
        engine: Hive.
        name: The table: ``id``, ``v`` and ``ds``.
        partitioned: It is partitioned by ``ds``.
        made: Draws the steps.
        rows: The rows by their ``id``.
    """

    hive: HiveConnector
    engine: HiveEngine
    name: SchemaTableName
    partitioned: bool
    made: random.Random
    rows: dict[int, Row] = field(default_factory=dict)

    @classmethod
    def create(
        cls, hive: HiveConnector, engine: HiveEngine, name: SchemaTableName, made: random.Random, kind: str
    ) -> ChangedTable:
        """Has Hive make the table: ``flat``, ``bucketed``, ``parted``."""
        own = {
            "flat": "(id int, v int, ds string)",
            "bucketed": "(id int, v int, ds string) CLUSTERED BY (id) INTO 3 BUCKETS",
            "parted": "(id int, v int) PARTITIONED BY (ds string)",
        }[kind]
        engine.sql(f"CREATE TABLE {name} {own} STORED AS ORC TBLPROPERTIES ('transactional'='true')")
        return cls(hive, engine, name, kind == "parted", made)

    def step(self) -> str:
        """Makes a random change; returns what it was."""
        steps = {
            self.insert: 3, self.update: 3, self.delete: 2, self.merge: 3, self.overwrite: 1,
            self.hive_insert: 2, self.hive_update: 3, self.hive_delete: 2, self.hive_merge: 2, self.compact: 4,
            self.clean: 1,
        }  # fmt: skip
        [chosen] = self.made.choices(list(steps), list(steps.values()))
        return f"{chosen.__name__} {chosen()}"

    def check(self) -> None:
        """Hive and Lakeport read what the model holds."""
        expected = sorted((number, *row) for number, row in self.rows.items())
        with ReferenceQuery(self.hive) as query:
            found = query.table(self.name).project_names(["id", "v", "ds"]).read()
        ours = [(row["id"], row["v"], row["ds"]) for row in found.to_pylist()]
        assert sorted(ours, key=_by_id) == expected, "read by Lakeport"
        cells = self.engine.sql(f"SELECT id, v, ds FROM {self.name}")
        theirs = [(int(one or 0), None if v is None else int(v), ds) for one, v, ds in cells]
        assert sorted(theirs, key=_by_id) == expected, "read by Hive"

    def insert(self) -> str:
        """Lakeport adds rows, by two tasks."""
        new = self._new()
        table = _table(new)
        insert_rows(self.hive, self.name, [table.slice(0, 2), table.slice(2)])
        self.rows |= new
        return str(new)

    def update(self) -> str:
        """Lakeport changes numbers, and partitions of some rows."""
        chosen = self._chosen()
        new = {one: (self._number(), self.made.choice((self.rows[one][1], "b"))) for one in chosen}
        self._change(MergeCommand.UPDATE, chosen, new)
        return str(new)

    def delete(self) -> str:
        """Lakeport deletes rows."""
        chosen = self._chosen()
        self._change(MergeCommand.DELETE, chosen, {})
        return str(chosen)

    def merge(self) -> str:
        """Lakeport deletes, changes and adds rows in one statement."""
        chosen, added = self._chosen(), self._new()
        changed = {one: (self._number(), self.rows[one][1]) for one in chosen[::2]}
        self._change(MergeCommand.MERGE, chosen, changed | added)
        return f"{chosen} {changed | added}"

    def overwrite(self) -> str:
        """Lakeport replaces the rows of the partitions that new ones go to; all, where there are none."""
        new = self._new()
        overwrite_rows(self.hive, self.name, [_table(new)], Overwrite(dynamic=self.partitioned))
        lost = {ds for _, ds in new.values()} if self.partitioned else set(_KEYS)
        self.rows = {one: row for one, row in self.rows.items() if row[1] not in lost} | new
        return str(new)

    def hive_insert(self) -> str:
        """Hive adds rows."""
        new = self._new()
        target = f"{self.name} PARTITION (ds)" if self.partitioned else f"{self.name}"
        self.engine.sql(f"INSERT INTO {target} SELECT * FROM {_inline(new)}")
        self.rows |= new
        return str(new)

    def hive_update(self) -> str:
        """Hive raises the numbers of some rows."""
        apart, at = self.made.randint(2, 4), self.made.randint(0, 1)
        self.engine.sql(f"UPDATE {self.name} SET v = v + 1 WHERE id % {apart} = {at}")
        for one, (v, ds) in self.rows.items():
            if one % apart == at:
                self.rows[one] = (None if v is None else v + 1, ds)
        return f"id % {apart} = {at}"

    def hive_delete(self) -> str:
        """Hive deletes some rows."""
        chosen = self._chosen()
        self.engine.sql(f"DELETE FROM {self.name} WHERE id IN ({', '.join(map(str, (*chosen, -1)))})")
        for one in chosen:
            del self.rows[one]
        return str(chosen)

    def hive_merge(self) -> str:
        """Hive deletes, changes and adds rows in one statement."""
        chosen, added = self._chosen(), self._new()
        given = {one: (-1 if place % 2 else self._number() or 0, "a") for place, one in enumerate(chosen)} | added
        self.engine.sql(
            f"MERGE INTO {self.name} t USING (SELECT * FROM {_inline(given)}) s ON t.id = s.id "
            "WHEN MATCHED AND s.v = -1 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v, s.ds)"
        )
        for one in chosen:
            if given[one][0] == -1:
                del self.rows[one]
            else:
                self.rows[one] = (given[one][0], self.rows[one][1])
        self.rows |= added
        return f"{chosen} {given}"

    def compact(self) -> str:
        """Hive compacts the table, or a partition of it; what is obsolete stays, or not."""
        self.engine.clean()
        keys = sorted({ds for _, ds in self.rows.values()})
        if self.partitioned and not keys:
            return "nothing"
        where = f" PARTITION (ds='{self.made.choice(keys)}')" if self.partitioned else ""
        kind = self.made.choice(("minor", "major"))
        self.engine.sql(f"ALTER TABLE {self.name}{where} COMPACT '{kind}'")
        self.engine.work()
        return f"{kind}{where}"

    def clean(self) -> str:
        """Hive deletes what compactions have made obsolete."""
        self.engine.clean()
        return ""

    def compact_all(self) -> None:
        """Hive makes a base of all that there is, and deletes the rest."""
        self.engine.clean()
        shown = self.engine.sql(f"SHOW PARTITIONS {self.name}") if self.partitioned else [("",)]
        for key in (str(name).partition("=")[2] for (name,) in shown):
            where = f" PARTITION (ds='{key}')" if key else ""
            self.engine.sql(f"ALTER TABLE {self.name}{where} COMPACT 'major'")
        self.engine.work()
        self.engine.clean()

    def _change(self, command: MergeCommand, deleted: list[int], new: Mapping[int, Row]) -> None:
        with ReferenceQuery(self.hive) as query:
            merge = ReferenceMerge(query, self.name, command)
            found = query.table(self.name).project_names(["id", *merge.row_ids]).read()
            chosen = found.filter(pc.is_in(found["id"], pa.array(deleted, pa.int32())))
            assert chosen.num_rows == len(deleted)
            table = _table(new)
            merge.finish(
                [merge.write(chosen.slice(0, 1), table.slice(1)), merge.write(chosen.slice(1), table.slice(0, 1))]
            )
        for one in deleted:
            del self.rows[one]
        self.rows |= new

    def _chosen(self) -> list[int]:
        return self.made.sample(sorted(self.rows), min(len(self.rows), self.made.randint(1, 4)))

    def _new(self) -> dict[int, Row]:
        first = max(self.rows, default=0) + 1
        return {one: (self._number(), self.made.choice(_KEYS)) for one in range(first, first + self.made.randint(1, 5))}

    def _number(self) -> int | None:
        return self.made.choice((None, self.made.randint(0, 99)))


def _table(rows: Mapping[int, Row]) -> pa.Table:
    return pa.Table.from_pylist([{"id": one, "v": v, "ds": ds} for one, (v, ds) in rows.items()], _SCHEMA)


def _inline(rows: Mapping[int, Row]) -> str:
    values = ", ".join(
        f"struct({one}, cast({'NULL' if v is None else v} AS int), '{ds}')" for one, (v, ds) in rows.items()
    )
    return f"(SELECT inline(array({values})) AS (id, v, ds)) i"


def _by_id(row: tuple[object, ...]) -> int:
    number = row[0]
    assert isinstance(number, int)
    return number
