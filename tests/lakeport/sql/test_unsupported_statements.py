"""Which statement was refused, of which catalog, and what the error proposes instead."""

from __future__ import annotations

import pytest

from lakeport.sql.unsupported_statements import refused_statement, unsupported_statement, write_verb

KNOWN = ("hive", "hudi")
CURRENT = ("hive", "sales")


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("TRUNCATE TABLE hive.sales.labels", "TRUNCATE TABLE", "hive.sales.labels"),
        ("truncate  table labels PARTITION (ds = 1)", "TRUNCATE TABLE", "hive.sales.labels"),
        ("LOAD DATA LOCAL INPATH '/x' OVERWRITE INTO TABLE other.labels", "LOAD DATA", "hive.other.labels"),
        ("MSCK REPAIR TABLE hudi.sales.trips SYNC PARTITIONS", "MSCK REPAIR TABLE", "hudi.sales.trips"),
        ("-- all\nREPAIR /* now */ TABLE trips", "MSCK REPAIR TABLE", "hive.sales.trips"),
        ("ALTER TABLE `a-b`.trips RECOVER PARTITIONS", "RECOVER PARTITIONS", "hive.a-b.trips"),
        ("ANALYZE TABLE trips COMPUTE STATISTICS", "ANALYZE TABLE", "hive.sales.trips"),
        ("ANALYZE TABLES IN hudi.sales COMPUTE STATISTICS", "ANALYZE TABLES", "hudi.sales"),
        ("ANALYZE TABLES COMPUTE STATISTICS", "ANALYZE TABLES", "hive.sales"),
        ("CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1", "CREATE VIEW", "hive.sales.v"),
        ("ALTER VIEW other.v AS SELECT 1", "ALTER VIEW", "hive.other.v"),
        ("DROP VIEW IF EXISTS hudi.sales.v", "DROP VIEW", "hudi.sales.v"),
        ("SHOW VIEWS", "SHOW VIEWS", "hive.sales"),
        ("SHOW VIEWS IN other LIKE 'a*'", "SHOW VIEWS", "hive.other"),
        ("SHOW VIEWS FROM hudi", "SHOW VIEWS", "hudi.sales"),
    ],
)
def test_the_statement_and_its_name_in_full(text: str, kind: str, name: str) -> None:
    found = refused_statement(text)
    assert found is not None
    full = found.within(KNOWN, CURRENT)
    assert (full.kind, ".".join(full.name)) == (kind, name)


@pytest.mark.parametrize(
    "text",
    ["SELECT 'TRUNCATE TABLE a'", "CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE TABLE views (a INT)", "SHOW TABLES"],
)
def test_other_statements_are_not_ours_to_refuse(text: str) -> None:
    assert refused_statement(text) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TRUNCATE TABLE labels", "catalog 'hive' does not write rows: TRUNCATE TABLE is refused"),
        (
            "MSCK REPAIR TABLE labels",
            "CALL hive.system.sync_partition_metadata(schema_name => 'sales', table_name => 'labels', mode => 'FULL')",
        ),
        ("MSCK REPAIR TABLE hudi.sales.trips", "catalog 'hudi' has no MSCK REPAIR TABLE: it finds the partitions"),
        ("ANALYZE TABLE labels COMPUTE STATISTICS", "SHOW STATS FOR hive.sales.labels"),
        ("CREATE VIEW v AS SELECT 1", "CREATE TEMPORARY VIEW"),
        ("DROP VIEW v", "DROP TABLE hive.sales.v"),
        ("SHOW VIEWS", "SHOW TABLES IN hive.sales lists views, too"),
    ],
)
def test_the_way_out(text: str, says: str) -> None:
    found = refused_statement(text)
    assert found is not None
    full = found.within(KNOWN, CURRENT)
    procedures = ["sync_partition_metadata"] if full.name[0] == "hive" else []
    assert says in str(unsupported_statement(full, procedures))


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *", "MERGE"),
        (" -- rows\ninsert  overwrite t SELECT 1", "INSERT OVERWRITE"),
        ("UPDATE t SET a = 1", "UPDATE"),
        ("WITH s AS (SELECT 1) INSERT INTO t SELECT * FROM s", None),
        ("SELECT 'MERGE'", None),
    ],
)
def test_the_verb_of_a_write(text: str, verb: str | None) -> None:
    assert write_verb(text) == verb
