"""HDFS under a real Kerberos, by hdfs-native: keytabs and ticket caches of several catalogs in one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hdfs_native import Client

from connector_spi.errors import StorageError
from tests.connectors.toolkit.storage.test_remote_storage import file_system
from tests.integration.security.kdc import REALM, Kdc, running_kdc, why_no_kerberos
from tests.integration.storage.minidfs import Hdfs, running_hdfs

SERVICE = "hdfs/localhost"
ROWS = "/files/rows"
# Blocks are read under Kerberos, too.
CLIENT = {"dfs.data.transfer.protection": "authentication"}


@dataclass(frozen=True, slots=True)
class Secured:
    """A cluster under Kerberos, with a folder that only lake may read."""

    kdc: Kdc
    hdfs: Hdfs
    site: Path

    def properties(self, name: str, **more: str) -> dict[str, str]:
        """A catalog that reads as somebody of the realm; ``__`` in a keyword stands for ``-``."""
        given = {f"hdfs.kerberos-{key.replace('__', '-')}": value for key, value in more.items()}
        return {"hdfs.kerberos-principal": f"{name}@{REALM}", "hive.config.resources": str(self.site), **given}

    def keytab(self, name: str) -> str:
        """The file of somebody's keys."""
        return str(self.kdc.folder / f"{name}.keytab")


@pytest.fixture(scope="module")
def secured(hadoop_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    reason = why_no_kerberos()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("secured")
    with running_kdc(folder / "kdc") as kdc, pytest.MonkeyPatch.context() as patch:
        keys = str(kdc.add(SERVICE))
        kdc.add("lake")
        kdc.add("other")
        patch.setenv("KRB5_CONFIG", str(kdc.config))
        patch.setenv("KRB5CCNAME", str(folder / "nobody"))
        settings = {"hadoop.security.authentication": "kerberos", "dfs.block.access.token.enable": "true", **CLIENT}
        for node in ("namenode", "datanode"):
            settings |= {f"dfs.{node}.kerberos.principal": f"{SERVICE}@{REALM}", f"dfs.{node}.keytab.file": keys}
        # Else a DataNode wants ports of root's, or certificates.
        settings["ignore.secure.ports.for.testing"] = "true"
        java = [f"-Djava.security.krb5.conf={kdc.config}"]
        with running_hdfs(hadoop_jars, folder / "run", settings, java) as hdfs:
            known = {"hadoop.security.authentication": "kerberos", **CLIENT}
            client = Client(hdfs.url, known, kerberos_principal=f"{SERVICE}@{REALM}", kerberos_keytab=keys)
            with client.create(ROWS) as file:
                file.write(b"rows")
            client.set_owner("/files", "lake")
            client.set_permission("/files", 0o700)
            entries = [
                f"<property><name>{name}</name><value>{text}</value></property>" for name, text in CLIENT.items()
            ]
            site = folder / "hdfs-site.xml"
            site.write_text(f"<configuration>{''.join(entries)}</configuration>")
            yield Secured(kdc, hdfs, site)


def test_keytabs_of_two_catalogs(secured: Secured) -> None:
    lake, other = (file_system(secured.properties(name, keytab=secured.keytab(name))) for name in ("lake", "other"))
    for _ in range(3):
        assert lake.read_text(f"{secured.hdfs.url}{ROWS}") == "rows"
        with pytest.raises(StorageError, match="Permission denied: user=other"):
            other.read_text(f"{secured.hdfs.url}{ROWS}")


def test_a_ticket_cache(secured: Secured, tmp_path: Path) -> None:
    import gssapi  # an optional extra

    cache = f"FILE:{tmp_path}/tickets"
    tickets = gssapi.Credentials(usage="initiate", store={"client_keytab": secured.keytab("lake"), "ccache": cache})
    assert tickets.lifetime > 0
    files = file_system(secured.properties("lake", ticket__cache=cache))
    assert files.read_text(f"{secured.hdfs.url}{ROWS}") == "rows"
    # A cache of somebody else's is not taken for the principal's.
    with pytest.raises(StorageError, match="Kerberos: "):
        file_system(secured.properties("other", ticket__cache=cache)).list(f"{secured.hdfs.url}/")


def test_keys_of_somebody_else(secured: Secured) -> None:
    with pytest.raises(StorageError, match="Kerberos: "):
        file_system(secured.properties("lake", keytab=secured.keytab("other"))).list(f"{secured.hdfs.url}/")
