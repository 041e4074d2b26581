"""The statements of the tour, in order."""

from __future__ import annotations

from dataclasses import dataclass

from lakeport.demo.sample_warehouse import SampleWarehouse

__all__ = ["Step", "tour"]


@dataclass(frozen=True, slots=True)
class Step:
    """One statement.

    Attributes:
        why: What it shows, in one line.
        sql: The statement.
        shows_scans: It is an EXPLAIN of which only the scans are of interest.
        fails: It is refused on purpose.
    """

    why: str
    sql: str
    shows_scans: bool = False
    fails: bool = False


def tour(warehouse: SampleWarehouse) -> list[Step]:
    """All steps; the first ones register the tables."""
    registrations = [
        Step("Two tables that Hive wrote and two that Hudi wrote: register their folders.", statement)
        for statement in warehouse.registrations()
    ]
    return [*registrations, *_STEPS]


_STEPS = (
    Step("Each catalog is a Spark catalog.", "SHOW CATALOGS"),
    Step("Names may leave out what USE said.", "USE hudi.sales"),
    Step("Both catalogs share one metastore here, so each shows the tables of both.", "SHOW TABLES"),
    Step("A filter on partitions: the other folders are never listed.",
         "SELECT id, sub, price, region, day FROM visits WHERE region = 'eu' AND day = DATE '2024-01-01' ORDER BY sub"),
    Step("An aggregate over the latest snapshot; older versions of a row are never read.",
         "SELECT part, count(*) AS items, round(avg(price), 2) AS average, max(ts) AS latest\n"
         "FROM items GROUP BY part ORDER BY part"),
    Step("A join between a Hive table and a Hudi table.",
         "SELECT p.id, p.s AS product, p.amt, count(*) AS items, sum(i.price) AS total\n"
         "FROM hive.sales.products p JOIN hudi.sales.items i ON i.id = p.id\n"
         "WHERE i.part = 'p1' GROUP BY p.id, p.s, p.amt ORDER BY p.id"),
    Step("EXPLAIN says of each scan what was pushed down and what was skipped.",
         "EXPLAIN SELECT l.s, sum(i.price) FROM hive.sales.labels l JOIN hudi.sales.items i ON i.id = l.id\n"
         "WHERE i.part = 'p1' AND l.id IN (3, 5, 7) GROUP BY l.s", shows_scans=True),
    Step("System tables: the partitions of a table, and the timeline of its commits.",
         "SELECT * FROM `visits$partitions` ORDER BY partition"),
    Step("The timeline is Hudi's own.",
         "SELECT * FROM `items$timeline` ORDER BY timestamp"),
    Step("Hidden columns say where a row comes from.",
         "SELECT id, name, `$partition`, element_at(split(`$path`, '/'), -1) AS file FROM items WHERE id = 25"),
    Step("A Hudi table met in the hive catalog is read as what it is, not as plain Parquet.",
         "SELECT count(*) AS rows FROM hive.sales.items"),
    Step("What is wrong is said in one line, with the way out.",
         "SELECT * FROM hudi.sales.visit", fails=True),
    Step("Tables belong to the engine that writes them.",
         "DROP TABLE hudi.sales.visits", fails=True),
)  # fmt: skip
