"""Real Hive metastores, 3.1 and 4.0, from Maven Central, each on a Derby database of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from tests.hms import HiveMetastoreServer, free_port, java_command, running_server, why_not

__all__ = ["RELEASES", "Release", "fetch", "running_release", "why_no_servers"]

_POM = Path(__file__).with_name("pom.xml")
_DERBY = "derby-10.14.2.0.jar"
_ENGINES = "engines"
_METASTORE = "org.apache.hadoop.hive.metastore"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Hive's standalone metastore.

    Attributes:
        version: Its version.
        archive: Its tarball.
        schema_tool: The class that makes the tables of its database.
        housekeeper: The class that aborts transactions without heartbeats.
    """

    version: str
    archive: str
    schema_tool: str
    housekeeper: str


RELEASES = (
    Release(
        "3.1.3",
        "hive-standalone-metastore-3.1.3-bin.tar.gz",
        f"{_METASTORE}.tools.MetastoreSchemaTool",
        f"{_METASTORE}.txn.AcidHouseKeeperService",
    ),
    Release(
        "4.0.1",
        "hive-standalone-metastore-server-4.0.1-bin.tar.gz",
        f"{_METASTORE}.tools.schematool.MetastoreSchemaTool",
        f"{_METASTORE}.txn.service.AcidHouseKeeperService",
    ),
)


def why_no_servers() -> str | None:
    """Why none can be started here; ``None`` if they can."""
    return "no Maven: put mvn on the PATH" if shutil.which("mvn") is None else why_not()


def fetch(folder: Path) -> None:
    """Has Maven fetch the jars and tarballs into ``folder``, and unpacks them there.

    Raises:
        RuntimeError: Maven failed; its last lines.
    """
    _maven("-f", str(_POM), "dependency:copy-dependencies", f"-DoutputDirectory={folder}")
    for release in RELEASES:
        artifact = f"org.apache.hive:hive-exec:{release.version}"
        _maven("dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder / _ENGINES}")
        with tarfile.open(folder / release.archive) as archive:
            archive.extractall(folder, filter="data")


@contextmanager
def running_release(
    release: Release, jars: Path, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[HiveMetastoreServer]:
    """Runs a metastore until the block ends.

    Args:
        release: Which one.
        jars: What ``fetch`` filled.
        folder: For its database, its warehouse and its log; made here.
        settings: More settings; with them it also has Hive's engine, without which it makes no full ACID tables.
    """
    port = free_port()
    home = jars / f"apache-hive-metastore-{release.version}-bin"
    conf = folder / "conf"
    conf.mkdir(parents=True)
    (conf / "metastore-site.xml").write_text(_site({**_settings(folder, port), **(settings or {})}))
    # 4.0.1's own Derby is a debug build, whose assertions fail where transactions are opened.
    own = [str(jar) for jar in sorted((home / "lib").glob("*.jar")) if not jar.name.startswith("derby-")]
    engine = [] if settings is None else [str(jars / _ENGINES / f"hive-exec-{release.version}.jar")]
    classes = ":".join([str(conf), str(jars / _DERBY), *own, f"{jars}/*", *engine])
    java = [*java_command(folder), "-Dlog4j2.disable.jmx=true", "-cp", classes]
    _make_schema([*java, release.schema_tool, "-dbType", "derby", "-initSchema"], home, folder)
    with running_server([*java, f"{_METASTORE}.HiveMetaStore", "-p", str(port)], folder, port) as server:
        yield server


def _maven(*arguments: str) -> None:
    done = subprocess.run(["mvn", "-q", "-B", *arguments], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        raise RuntimeError("mvn could not fetch the metastores:\n" + (done.stdout + done.stderr)[-3000:])


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
    }


def _site(settings: Mapping[str, str]) -> str:
    properties = [
        f"<property><name>{name}</name><value>{escape(value)}</value></property>" for name, value in settings.items()
    ]
    return "\n".join(["<configuration>", *properties, "</configuration>", ""])


def _make_schema(command: list[str], home: Path, folder: Path) -> None:
    environment = {**os.environ, "METASTORE_HOME": str(home)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode != 0:
        raise RuntimeError("the metastore's schema could not be made:\n" + (done.stdout + done.stderr)[-3000:])
