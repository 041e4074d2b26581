"""Real Hive metastores, 3.1 to 4.2, from Maven Central, each on a Derby database of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from xml.sax.saxutils import escape

from tests.hms import HiveMetastoreServer, free_port, java_command, running_server, why_not
from tests.integration.maven import run_maven

__all__ = [
    "RELEASES",
    "TRANSACTIONAL_RELEASES",
    "Release",
    "fetch",
    "find_java",
    "running_release",
    "schema",
    "why_no_release",
    "why_no_servers",
]

_POM = Path(__file__).with_name("pom.xml")
_DERBY = "derby-10.14.2.0.jar"
_DEADLOCKS = "-Dderby.locks.deadlockTimeout=1"
"""Calls at once can deadlock in Derby, which looks for it after 20 s: heartbeats that wait meanwhile come too late."""
_ENGINES = "engines"
_NEWER = "newer"
_SCHEMAS = "schemas"
_METASTORE = "org.apache.hadoop.hive.metastore"
_STATISTICS = (
    ("TAB_COL_STATS", "TAB_COL_STATS_IDX", "TBL_ID", ("CAT_NAME", "DB_NAME", "TABLE_NAME")),
    ("PART_COL_STATS", "PCS_STATS_IDX", "PART_ID", ("CAT_NAME", "DB_NAME", "TABLE_NAME", "PARTITION_NAME")),
)


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Hive's metastore.

    Attributes:
        version: Its version.
        archive: The tarball whose jars it runs on.
        schema_tool: The class that makes the tables of its database.
        housekeeper: The class that aborts transactions without heartbeats.
        in_engine: There is no server jar of it on Maven Central: the one inside of ``hive-exec`` runs, on the jars of
            the tarball of 4.0.1.
        schema_of: The release whose tables its database begins with; empty if ``schema_tool`` makes them.
        java: The version of Java that it needs at least.
    """

    version: str
    archive: str
    schema_tool: str
    housekeeper: str
    in_engine: bool = False
    schema_of: str = ""
    java: int = 17

    @property
    def home(self) -> str:
        """The folder that its archive unpacks to."""
        return (
            self.archive.replace("hive-standalone-metastore-server-", "apache-hive-metastore-")
            .replace("hive-standalone-metastore-", "apache-hive-metastore-")
            .removesuffix(".tar.gz")
        )


_FOUR = (
    "hive-standalone-metastore-server-4.0.1-bin.tar.gz",
    f"{_METASTORE}.tools.schematool.MetastoreSchemaTool",
    f"{_METASTORE}.txn.service.AcidHouseKeeperService",
)
RELEASES = (
    Release(
        "3.1.3",
        "hive-standalone-metastore-3.1.3-bin.tar.gz",
        f"{_METASTORE}.tools.MetastoreSchemaTool",
        f"{_METASTORE}.txn.AcidHouseKeeperService",
    ),
    Release("4.0.1", *_FOUR),
    Release("4.1.0", *_FOUR, in_engine=True, schema_of="4.0.1"),
    Release("4.2.0", *_FOUR, in_engine=True, schema_of="4.1.0", java=21),
)
TRANSACTIONAL_RELEASES = RELEASES[:2]
"""Those under which all the transactional tables of the corpus are read."""

# What the schemas of these releases have changed; the scripts of them are not on Maven Central.
_SCHEMA_CHANGES = {
    "4.1.0": [
        statement
        for table, index, key, gone in _STATISTICS
        for statement in (
            f'DROP INDEX "APP"."{index}"',
            *(f'ALTER TABLE "APP"."{table}" DROP COLUMN "{column}"' for column in gone),
            f'CREATE INDEX "APP"."{index}" ON "APP"."{table}" ("{key}", "COLUMN_NAME")',
        )
    ],
    "4.2.0": [
        'CREATE TABLE "APP"."CATALOG_PARAMS" ("CTLG_ID" BIGINT NOT NULL REFERENCES "APP"."CTLGS" ("CTLG_ID") '
        'ON DELETE CASCADE, "PARAM_KEY" VARCHAR(180) NOT NULL, "PARAM_VALUE" VARCHAR(4000), '
        'PRIMARY KEY ("CTLG_ID", "PARAM_KEY"))',
    ],
}


def why_no_servers() -> str | None:
    """Why none can be started here; ``None`` if they can."""
    return "no Maven: put mvn on the PATH" if shutil.which("mvn") is None else why_not()


def why_no_release(release: Release) -> str | None:
    """Why this one cannot be started here; ``None`` if it can."""
    if find_java(release.java) is None:
        return f"Hive {release.version} needs Java {release.java}: set JAVA_HOME, or install it below /usr/lib/jvm"
    return None


def find_java(version: int) -> Path | None:
    """A Java of at least that version: the usual one where that will do; ``None`` where there is none."""
    usual = shutil.which("java")
    home = os.environ.get("JAVA_HOME")
    homes = [Path(home)] if home else [Path(usual).resolve().parent.parent] if usual else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"))
    return next((one / "bin" / "java" for one in homes if _java_version(one) >= version), None)


def fetch(folder: Path) -> None:
    """Has Maven fetch the jars and tarballs of the standalone releases into ``folder``, and unpacks them there.

    Raises:
        RuntimeError: Maven failed; its last lines.
    """
    run_maven("-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={folder}")
    for archive in {release.archive for release in RELEASES}:
        with tarfile.open(folder / archive) as opened:
            opened.extractall(folder, filter="data")


_locks: dict[str, Lock] = {name: Lock() for name in ("maven", *(release.version for release in RELEASES))}


@contextmanager
def running_release(
    release: Release,
    jars: Path,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    hadoop: Mapping[str, str] | None = None,
    java_options: Sequence[str] = (),
) -> Iterator[HiveMetastoreServer]:
    """Runs a metastore until the block ends.

    Args:
        release: Which one.
        jars: What ``fetch`` filled; more is fetched into it where the release needs it.
        folder: For its database, its warehouse and its log; made here.
        settings: More settings; with them it also has Hive's engine, without which it makes no full ACID tables.
        hadoop: Settings of Hadoop.
        java_options: More options of Java.
    """
    port = free_port()
    conf = folder / "conf"
    conf.mkdir(parents=True)
    (conf / "metastore-site.xml").write_text(_site({**_settings(folder, port), **(settings or {})}))
    (conf / "core-site.xml").write_text(_site(hadoop or {}))
    shutil.copytree(schema(release, jars), folder / "metastore_db")
    classes = _class_path(release, jars, conf, with_engine=settings is not None)
    options = [*java_command(folder)[1:], *java_options, _DEADLOCKS, "-Dlog4j2.disable.jmx=true"]
    java = [str(find_java(release.java)), *options, "-cp", classes]
    with running_server([*java, f"{_METASTORE}.HiveMetaStore", "-p", str(port)], folder, port) as server:
        yield server


def _class_path(release: Release, jars: Path, conf: Path, with_engine: bool) -> str:
    # 4.0.1's own Derby is a debug build, whose assertions fail where transactions are opened.
    own = [jar for jar in sorted((jars / release.home / "lib").glob("*.jar")) if not jar.name.startswith("derby-")]
    engine = [_engine(release, jars)] if with_engine or release.in_engine else []
    if release.in_engine:
        own = [jar for jar in own if not jar.name.startswith(("hive-standalone-", "datanucleus-"))]
        newer = [_artifact(jars / _NEWER, group, name, version) for group, name, version in _newer(release)]
        parts = [conf, *engine, *newer, jars / _DERBY, *own]
    else:
        parts = [conf, jars / _DERBY, *own]
    return ":".join([*map(str, parts), f"{jars}/*", *([] if release.in_engine else map(str, engine))])


def _engine(release: Release, jars: Path) -> Path:
    return _artifact(jars / _ENGINES, "org.apache.hive", "hive-exec", release.version)


def _newer(release: Release) -> list[tuple[str, str, str]]:
    """What Hive 4.1 and later need in place of what the tarball of 4.0.1 has: group, name and version."""
    # Hadoop before 3.5 asks Java 24 and later for what they no longer have (Subject.getSubject).
    hadoop = ("hadoop-client-api", "hadoop-client-runtime") if release.java > 17 else ()
    stores = (("datanucleus-api-jdo", "6.0.3"), ("datanucleus-core", "6.0.10"), ("datanucleus-rdbms", "6.0.10"))
    return [
        *(("org.apache.hadoop", name, "3.5.0") for name in hadoop),
        *(("org.datanucleus", name, version) for name, version in stores),
    ]


def _artifact(folder: Path, group: str, name: str, version: str) -> Path:
    jar = folder / f"{name}-{version}.jar"
    with _locks["maven"]:
        if not jar.exists():
            run_maven("dependency:copy", f"-Dartifact={group}:{name}:{version}", f"-DoutputDirectory={folder}")
    return jar


def schema(release: Release, jars: Path) -> Path:
    """A Derby database with the tables of the release, made once."""
    folder = jars / _SCHEMAS / release.version
    database = folder / "metastore_db"
    with _locks[release.version]:
        if database.exists():
            return database
        (folder / "conf").mkdir(parents=True)
        (folder / "conf" / "metastore-site.xml").write_text(_site(_settings(folder, 0)))
        if release.schema_of:
            [earlier] = [one for one in RELEASES if one.version == release.schema_of]
            shutil.copytree(schema(earlier, jars), database)
        _make_schema(release, jars, folder)
    return database


def _make_schema(release: Release, jars: Path, folder: Path) -> None:
    home = jars / release.home
    if release.schema_of:
        script = folder / "changes.sql"
        version = f'UPDATE "APP"."VERSION" SET "SCHEMA_VERSION" = \'{release.version}\''
        script.write_text("".join(f"{statement};\n" for statement in [*_SCHEMA_CHANGES[release.version], version]))
        tool = ["sqlline.SqlLine", "-u", f"jdbc:derby:;databaseName={folder / 'metastore_db'}", "-n", "APP", "-p", "x",
                "-d", "org.apache.derby.jdbc.EmbeddedDriver", "--force=false", "-f", str(script)]  # fmt: skip
    else:
        tool = [release.schema_tool, "-dbType", "derby", "-initSchema"]
    own = [str(jar) for jar in sorted((home / "lib").glob("*.jar")) if not jar.name.startswith("derby-")]
    classes = ":".join([str(folder / "conf"), str(jars / _DERBY), *own, f"{jars}/*"])
    done = subprocess.run(
        [*java_command(folder), "-Dlog4j2.disable.jmx=true", "-cp", classes, *tool],
        cwd=folder,
        env={**os.environ, "METASTORE_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    output = done.stdout + done.stderr
    if done.returncode != 0 or (release.schema_of and "Error:" in output):
        raise RuntimeError("the metastore's schema could not be made:\n" + output[-3000:])


def _java_version(home: Path) -> int:
    told = home / "release"
    match = re.search(r'^JAVA_VERSION="(\d+)', told.read_text(), re.MULTILINE) if told.is_file() else None
    return int(match[1]) if match and (home / "bin" / "java").exists() else 0


def _settings(folder: Path, port: int) -> Mapping[str, str]:
    return {
        "metastore.thrift.port": str(port),
        "metastore.thrift.uris": "",
        "metastore.warehouse.dir": (folder / "warehouse").as_uri(),
        "metastore.warehouse.external.dir": (folder / "external").as_uri(),
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore_db'};create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        # The default needs all of Hive to evaluate filters.
        "metastore.expression.proxy": f"{_METASTORE}.DefaultPartitionExpressionProxy",
        "metastore.task.threads.always": f"{_METASTORE}.events.EventCleanerTask",
        # Full-ACID tables are checked against classes of Hive itself, which are not here.
        "metastore.strict.managed.tables": "false",
        # The schema of 4.1 and later is made here.
        "metastore.schema.verification": "false",
    }


def _site(settings: Mapping[str, str]) -> str:
    properties = [
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    ]
    return "\n".join(["<configuration>", *properties, "</configuration>", ""])
