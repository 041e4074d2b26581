"""The statements of the tour, in order."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from lakeport.demo.sample_warehouse import SampleWarehouse

__all__ = ["Step", "tour"]

_FIRST_SPARK = (4, 0)


@dataclass(frozen=True, slots=True)
class Step:
    """One statement.

    Attributes:
        why: Description in one line.
        sql: The statement.
        fails: Whether the statement is meant to fail.
        since: The first Spark version that supports it.
    """

    why: str
    sql: str
    fails: bool = False
    since: tuple[int, int] = _FIRST_SPARK


def tour(warehouse: SampleWarehouse) -> list[Step]:
    """All steps that the installed Spark supports; the first ones register the tables."""
    major, minor = version("pyspark").split(".")[:2]
    registrations = [
        Step("Three tables that Hive wrote and three that Hudi wrote: register their folders.", statement)
        for statement in warehouse.registrations()
    ]
    return [*registrations, *(step for step in _STEPS if step.since <= (int(major), int(minor)))]


_STEPS = (
    Step("Names may leave out what USE said.", "USE hudi.sales"),
    Step("Both catalogs share one metastore here, so each shows the tables of both.", "SHOW TABLES"),
    Step("A filter on partitions: the other folders are never listed.",
         "SELECT id, sub, price, region, day FROM visits WHERE region = 'eu' AND day = DATE '2024-01-01' ORDER BY sub"),
    Step("A join between a Hive table and a Hudi table.",
         "SELECT p.id, p.s AS product, p.amt, count(*) AS items, sum(i.price) AS total\n"
         "FROM hive.sales.products p JOIN hudi.sales.items i ON i.id = p.id\n"
         "WHERE i.part = 'p1' GROUP BY p.id, p.s, p.amt ORDER BY p.id"),
    Step("EXPLAIN says of each scan what was pushed down and what was skipped.",
         "EXPLAIN SELECT l.s, sum(i.price) FROM hive.sales.labels l JOIN hudi.sales.items i ON i.id = l.id\n"
         "WHERE i.part = 'p1' AND l.id IN (3, 5, 7) GROUP BY l.s"),
    Step("A transactional table of Hive, with updates and deletes, and the row ids that Hive gave.",
         "SELECT id, s, `$row_id`.writeid, `$row_id`.rowid FROM hive.sales.notes WHERE id < 5 ORDER BY id"),
    Step("What of its folder the statement reads: a compacted base, and what was written after it.",
         "SELECT path, kind, last_write_id, in_snapshot FROM hive.sales.`notes$acid` ORDER BY last_write_id, path"),
    Step("The table as of write id 6, before what was written after the base.",
         "SELECT id, s FROM hive.sales.notes VERSION AS OF 6 WHERE id < 5 ORDER BY id"),
    Step("What was deleted and inserted since; an update is both.",
         "SELECT id, s, _change_type, _commit_version FROM hive.sales.notes CHANGES FROM VERSION 7 TO VERSION 9\n"
         "ORDER BY _commit_version, _change_type, id", since=(4, 2)),
    Step("A merge-on-read table of Hudi: rows from its logs, beside those of the base files alone.",
         "SELECT id, now.name, now.price, base.name AS base_name, base.price AS base_price FROM prices now\n"
         "FULL JOIN prices WITH (`hoodie.datasource.query.type` = 'read_optimized') base USING (id) ORDER BY id"),
    Step("The timeline is Hudi's own.",
         "SELECT * FROM `items$timeline` ORDER BY timestamp"),
    Step("What is wrong is said in one line, with the way out.",
         "SELECT * FROM hudi.sales.visit", fails=True),
)  # fmt: skip
