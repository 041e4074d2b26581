"""Clients that people have, at a server with passwords: beeline, PyHive, impyla, SQLAlchemy, dbt, pyspark-client."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.beeline import beeline
from tests.lakeport.server.authentication.test_password_file import SHA1
from tests.lakeport.server.clients import RunningServer, running_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_LABELS = [[1, "one"], [2, "two"]]
_QUERY = "SELECT id, s FROM hive.sales.labels WHERE id < 3 ORDER BY id"
_TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Whose password is ``password``; the catalog hive is what clients know that know no catalogs."""
    folder = tmp_path_factory.mktemp("server")
    passwords, tokens = folder / "passwords", folder / "tokens"
    passwords.write_text(f"alice:{SHA1}\n", "utf-8")
    tokens.write_text(f"alice:{_TOKEN}\n", "utf-8")
    given = ["--password-file", str(passwords), "--connect-user-tokens", str(tokens)]
    with running_server(folder, *given, "--session", "spark.sql.defaultCatalog=hive") as running:
        yield running


def _run(python: Path, program: str, *arguments: str) -> list[object]:
    """What a program prints last, as JSON; with no Java in reach."""
    given = {"HOME": str(python.parent), "PATH": "/nowhere", "LANG": "C.UTF-8"}
    # A file: pyspark-client takes a program without one for its own doctests.
    file = python.parent / "program.py"
    file.write_text(program, "utf-8")
    done = subprocess.run(
        [str(python), str(file), *arguments], env=given, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    found: list[object] = json.loads(done.stdout.splitlines()[-1])
    return found


def _port(server: RunningServer) -> str:
    return server.url.rpartition(":")[2]


def test_beeline(server: RunningServer, tmp_path: Path) -> None:
    statements = [_QUERY, "SELECT concat('catalog ', current_catalog(), ' of ', current_user())", "!tables"]
    shown = beeline(tmp_path, server.url + "/sales", statements, ["-n", "alice", "-p", "password"])
    lines = shown.splitlines()
    assert [line for line in lines if re.fullmatch(r"\d,\w+", line)] == ["1,one", "2,two"], shown
    assert "catalog hive of alice" in lines
    assert any(line.startswith("hive,sales,labels,TABLE") for line in lines), shown


PYHIVE = """
import json, sys
from pyhive import hive
connection = hive.connect("127.0.0.1", int(sys.argv[1]), username="alice", password="password", auth="CUSTOM")
cursor = connection.cursor()
cursor.execute(sys.argv[2])
found = [[list(row) for row in cursor.fetchall()], [column[0] for column in cursor.description]]
cursor.execute("SELECT current_user(), max(id) FROM hudi.sales.items WHERE id = %(id)s", {"id": 1})
found.append(list(cursor.fetchone()))
try:
    hive.connect("127.0.0.1", int(sys.argv[1]), username="alice", password="another", auth="CUSTOM")
except Exception as error:
    found.append(str(error))
print(json.dumps(found))
"""


def test_pyhive(server: RunningServer, clients_python: Path) -> None:
    rows, columns, of_user, refusal = _run(clients_python, PYHIVE, _port(server), _QUERY)
    assert (rows, columns, of_user) == (_LABELS, ["id", "s"], ["alice", 1])
    assert "Error validating the login" in str(refusal)


IMPYLA = """
import json, sys
from impala.dbapi import connect
given = {"auth_mechanism": "LDAP", "user": "alice", "password": "password"}
connection = connect("127.0.0.1", int(sys.argv[1]), database="sales", **given)
cursor = connection.cursor()
cursor.execute(sys.argv[2])
found = [[list(row) for row in cursor.fetchall()]]
cursor.get_databases()
found.append([row[0] for row in cursor.fetchall()])
cursor.get_tables("sales")
found.append([row[:3] for row in cursor.fetchall()])
found.append([row[0] for row in cursor.get_table_schema("labels", "sales")])
cursor.execute("SELECT current_user(), current_catalog(), current_schema()")
found.append(list(cursor.fetchone()))
print(json.dumps(found))
"""


def test_impyla(server: RunningServer, clients_python: Path) -> None:
    rows, schemas, tables, columns, where = _run(clients_python, IMPYLA, _port(server), _QUERY)
    assert (rows, where) == (_LABELS, ["alice", "hive", "sales"])
    assert isinstance(schemas, list)
    assert isinstance(tables, list)
    assert isinstance(columns, list)
    assert {"sales", "default"} <= {*schemas}
    assert ["hive", "sales", "labels"] in tables
    assert columns == ["s", "d", "id"]


SQLALCHEMY = """
import json, sys
import pandas
import sqlalchemy
url = f"hive://alice:password@127.0.0.1:{sys.argv[1]}/sales"
engine = sqlalchemy.create_engine(url, connect_args={"auth": "CUSTOM"})
with engine.connect() as connection:
    frame = pandas.read_sql_query(sqlalchemy.text(sys.argv[2]), connection)
    about = sqlalchemy.inspect(connection)
    found = [frame.values.tolist(), list(frame.columns), about.get_schema_names(), about.has_table("labels")]
    found.append([(one["name"], str(one["type"])) for one in about.get_columns("labels")])
    labels = sqlalchemy.Table("labels", sqlalchemy.MetaData(), autoload_with=connection)
    chosen = sqlalchemy.select(sqlalchemy.func.count()).where(labels.c.id < 3)
    found.append([list(row) for row in connection.execute(chosen)])
print(json.dumps(found))
"""


def test_sqlalchemy_and_pandas(server: RunningServer, clients_python: Path) -> None:
    rows, names, schemas, *others = _run(clients_python, SQLALCHEMY, _port(server), _QUERY)
    assert (rows, names) == (_LABELS, ["id", "s"])
    assert isinstance(schemas, list)
    assert {"sales", "default"} <= {*schemas}
    assert others == [True, [["s", "VARCHAR"], ["d", "FLOAT"], ["id", "INTEGER"]], [[2]]]


SUPERSET = """
import json, sys
import sqlalchemy
url = f"hive://alice:password@127.0.0.1:{sys.argv[1]}/sales"
configuration = {"set:hiveconf:spark.sql.lakeport.hiveAnswers": "true"}
engine = sqlalchemy.create_engine(url, connect_args={"auth": "CUSTOM", "configuration": configuration})
about = sqlalchemy.inspect(engine)
found = [about.get_schema_names(), about.get_table_names("sales"), about.get_view_names("sales")]
found.append([about.has_table("labels", "sales"), about.has_table("lables", "sales")])
found.append([one["name"] for one in about.get_columns("labels", "sales")])
found.append([about.get_indexes("labels", "sales"), about.get_pk_constraint("labels", "sales")])
cursor = engine.raw_connection().cursor()
texts = ["SHOW VIEWS IN `sales`", "SHOW FUNCTIONS", "EXPLAIN SELECT * FROM labels"]
for text in [*texts, "SELECT * FROM `sales`.`labels` LIMIT 2"]:
    cursor.execute(text)
    cursor.poll(), cursor.fetch_logs()
    found.append([[column[0] for column in cursor.description], len(cursor.fetchall())])
print(json.dumps(found))
"""


def test_what_superset_asks(server: RunningServer, clients_python: Path) -> None:
    """The calls of its engine specs ``hive`` and ``spark``, through SQLAlchemy."""
    found = _run(clients_python, SUPERSET, _port(server))
    schemas, tables, _, exist, columns, keys, views, functions, plan, rows = found
    assert isinstance(schemas, list)
    assert isinstance(tables, list)
    assert isinstance(functions, list)
    assert {"sales", "default"} <= {*schemas}
    assert {"labels", "notes", "products"} <= {*tables}
    partition = {"name": "partition", "column_names": ["id"], "unique": False}
    assert (exist, columns, keys) == ([True, False], ["s", "d", "id"], [[partition], []])
    assert (views, plan, rows) == ([["tab_name"], 0], [["plan"], 1], [["s", "d", "id"], 2])
    assert functions[1] > 100


CONNECT = """
import importlib.metadata, json, os, shutil, sys
import pyspark
from pyspark.sql import SparkSession
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
session.sql("USE hive.sales")
found = [[list(row) for row in session.sql(sys.argv[2]).collect()]]
found.append([row["tableName"] for row in session.sql("SHOW TABLES").collect()])
session.sql("CREATE TABLE made (id INT, s STRING)")
session.sql("INSERT INTO made SELECT id, s FROM labels WHERE id < 3")
session.createDataFrame([(3, "three")], "id INT, s STRING").writeTo("made").append()
found.append(session.table("made").orderBy("id").toPandas().values.tolist())
session.sql("DROP TABLE made")
client = importlib.metadata.distribution("pyspark-client").locate_file("pyspark")
found += [os.path.exists(client / "jars") or shutil.which("java") is not None, str(client) in pyspark.__file__]
session.stop()
print(json.dumps(found))
"""


def test_pyspark_client(server: RunningServer, connect_python: Path) -> None:
    """The package of Spark's that has no Java in it."""
    url = f"{server.connect_url}/;user_id=alice;token={_TOKEN}"
    rows, tables, made, java, is_client = _run(connect_python, CONNECT, url, _QUERY)
    assert isinstance(tables, list)
    assert rows == _LABELS
    assert {"labels", "notes"} <= {*tables}
    assert made == [*_LABELS, [3, "three"]]
    assert (java, is_client) == (False, True)


def test_dbt(server: RunningServer, clients_python: Path, tmp_path: Path) -> None:
    _write_project(tmp_path, _port(server))
    dbt = [str(clients_python), "-c", "from dbt.cli.main import cli; cli()"]
    for _ in range(2):  # the second replaces what the first has made
        done = subprocess.run(
            [*dbt, "build", "--profiles-dir", str(tmp_path)],
            cwd=tmp_path,
            env={**os.environ, "DBT_PASSWORD": "password"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert "PASS=4 WARN=0 ERROR=0" in done.stdout, done.stdout[-6000:] + done.stderr[-2000:]


def _write_project(folder: Path, port: str) -> None:
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodels: {shop: {+materialized: table}}\n",
        "profiles.yml": f"""
shop:
  target: dev
  outputs:
    dev: {{type: spark, method: thrift, host: 127.0.0.1, port: {port}, schema: analytics, threads: 2, auth: CUSTOM,
          user: alice, password: "{{{{ env_var('DBT_PASSWORD') }}}}"}}
""",
        "models/labelled.sql": "SELECT l.id, l.s, count(*) AS items FROM hive.sales.labels l "
        "JOIN hudi.sales.items i ON l.id = i.id GROUP BY l.id, l.s\n",
        "models/totals.sql": "SELECT count(*) AS labels FROM {{ ref('labelled') }}\n",
        "models/schema.yml": "models: [{name: labelled, columns: [{name: id, data_tests: [not_null, unique]}]}]\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
