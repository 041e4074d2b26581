"""A real Kerberos of its own on loopback: MIT's KDC, with a database in a folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.hms import free_port

__all__ = ["REALM", "Kdc", "running_kdc", "why_no_kdc", "why_no_kerberos"]

REALM = "LAKEPORT.TEST"
_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/lib/mit/sbin")
_TOOLS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Kdc:
    """A running KDC.

    Attributes:
        folder: Its files.
        config: The ``krb5.conf`` of its clients.
        environment: What its tools need.
    """

    folder: Path
    config: Path
    environment: Mapping[str, str]

    def add(self, *principals: str) -> Path:
        """Makes principals of the realm; their keys are in the keytab that is returned."""
        keytab = self.folder / (principals[0].replace("/", "_") + ".keytab")
        for principal in principals:
            self._admin(f"addprinc -randkey {principal}@{REALM}")
            self._admin(f"ktadd -k {keytab} {principal}@{REALM}")
        return keytab

    def _admin(self, query: str) -> None:
        _run([_tool("kadmin.local"), "-r", REALM, "-q", query], self.environment)


def why_no_kdc() -> str | None:
    """Why none can be started here; ``None`` if it can."""
    for tool in _TOOLS:
        if _find(tool) is None:
            return f"no {tool}: install a KDC (Debian: apt-get install krb5-kdc krb5-admin-server krb5-user)"
    return None


def why_no_kerberos() -> str | None:
    """Why none can be started or spoken to by Python here; ``None`` if it can."""
    reason = why_no_kdc()
    if reason is not None:
        return reason
    if find_spec("gssapi") is None:
        return "no library gssapi: pip install 'lakeport[kerberos]' (needs a C compiler and libkrb5-dev)"
    return None


@contextmanager
def running_kdc(folder: Path) -> Iterator[Kdc]:
    """Runs a KDC with an empty realm until the block ends."""
    folder.mkdir(parents=True)
    port = free_port()
    config, profile = folder / "krb5.conf", folder / "kdc.conf"
    config.write_text(
        f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n rdns = false\n"
        # Java's and MIT's clients then never try UDP.
        " dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
        f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{port}\n }}\n"
    )
    profile.write_text(
        f"[realms]\n {REALM} = {{\n  database_name = {folder}/principal\n  key_stash_file = {folder}/stash\n"
        f"  acl_file = {folder}/kadm5.acl\n  kdc_listen = 127.0.0.1:{port}\n  kdc_tcp_listen = 127.0.0.1:{port}\n }}\n"
        f"[logging]\n kdc = FILE:{folder}/kdc.log\n"
    )
    environment = {**os.environ, "KRB5_CONFIG": str(config), "KRB5_KDC_PROFILE": str(profile)}
    _run([_tool("kdb5_util"), "-r", REALM, "create", "-s", "-P", "master-key"], environment)
    with (folder / "out.log").open("wb") as output:
        process = subprocess.Popen(
            [_tool("krb5kdc"), "-n", "-r", REALM], env=environment, stdout=output, stderr=output, cwd=folder
        )
    try:
        _wait_for(port, process)
        yield Kdc(folder, config, environment)
    finally:
        process.terminate()
        process.wait(20)


def _find(tool: str) -> str | None:
    return shutil.which(tool) or shutil.which(tool, path=os.pathsep.join(_FOLDERS))


def _tool(tool: str) -> str:
    found = _find(tool)
    assert found is not None, tool
    return found


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    # kadmin.local says what went wrong on stderr, and ends with 0.
    if done.returncode != 0 or "while" in done.stderr:
        raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("the KDC ended at once")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the KDC does not listen")
