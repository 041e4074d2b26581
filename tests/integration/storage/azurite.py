"""Azure's blobs on loopback: Microsoft's emulator Azurite, from npm.

Run as a program it only installs Azurite, so that tests need not wait for it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hms import free_port
from tests.server_process import running_process

__all__ = ["ACCOUNT", "KEY", "Azurite", "install_azurite", "running_azurite", "why_no_azurite"]

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Of the account that the emulator has; Microsoft has published both."""
_VERSION = "3.37.0"
_MAIN = Path("node_modules", "azurite", "dist", "src", "blob", "main.js")
_START_SECONDS = 60
_SIGNED_VERSION = "2019-12-12"


@dataclass(frozen=True, slots=True)
class Azurite:
    """A server that runs: ``http://127.0.0.1:port``. It has no hierarchical namespace."""

    endpoint: str

    def put(self, name: str, data: bytes = b"", **metadata: str) -> None:
        """Writes the blob ``container/name``."""
        headers = {f"x-ms-meta-{key}": value for key, value in metadata.items()}
        self._ask(name, data, {"x-ms-blob-type": "BlockBlob", **headers})

    def make_container(self, name: str) -> None:
        """Makes a container."""
        self._ask(name, b"", {}, "restype=container&")

    def upload(self, folder: Path, target: str) -> None:
        """Copies the files of a local folder to ``container/name``."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{target}/{path.relative_to(folder)}", path.read_bytes())

    @staticmethod
    def sas(rights: str, until: str = "2099-01-01T00:00:00Z") -> str:
        """A shared access signature for the account: ``r`` is reading, ``l`` listing."""
        fields = [ACCOUNT, rights, "b", "sco", "", until, "", "https,http", _SIGNED_VERSION, ""]
        digest = hmac.new(base64.b64decode(KEY), "\n".join(fields).encode(), hashlib.sha256).digest()
        told = {"sv": _SIGNED_VERSION, "ss": "b", "srt": "sco", "sp": rights, "se": until, "spr": "https,http"}
        return urllib.parse.urlencode({**told, "sig": base64.b64encode(digest).decode()})

    def _ask(self, name: str, data: bytes, headers: dict[str, str], query: str = "") -> None:
        url = f"{self.endpoint}/{ACCOUNT}/{urllib.parse.quote(name)}?{query}{self.sas('rwdlacup')}"
        asked = urllib.request.Request(url, data, {"Content-Length": str(len(data)), **headers}, method="PUT")
        with urllib.request.urlopen(asked, timeout=60):
            pass


def why_no_azurite() -> str | None:
    """Why it cannot be had here; ``None`` if it can."""
    missing = [name for name in ("npm", "node") if shutil.which(name) is None]
    return f"no {missing[0]}: install Node.js" if missing else None


def install_azurite() -> Path:
    """Its folder, beside the Python that runs; npm is asked where it is not there yet.

    Raises:
        RuntimeError: npm failed; its last lines.
    """
    folder = Path(sys.prefix, f"azurite-{_VERSION}")
    if (folder / _MAIN).exists():
        return folder
    with TemporaryDirectory(dir=sys.prefix, ignore_cleanup_errors=True) as made:
        quiet = ["--silent", "--no-fund", "--no-audit", "--ignore-scripts"]
        command = ["npm", "install", *quiet, "--prefix", made, f"azurite@{_VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0 or not Path(made, _MAIN).exists():
            raise RuntimeError("npm could not install Azurite:\n" + (done.stdout + done.stderr)[-3000:])
        if not (folder / _MAIN).exists():
            Path(made).rename(folder)
    return folder


@contextmanager
def running_azurite(folder: Path) -> Iterator[Azurite]:
    """Runs it until the block ends; all is in memory but its log, which goes to ``folder``."""
    port, log = free_port(), folder / "azurite.log"
    options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    place = ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command = ["node", str(install_azurite() / _MAIN), *place, *options]
    with running_process(command, folder, log) as process:
        deadline = time.monotonic() + _START_SECONDS
        while not re.search("successfully listens", log.read_text(errors="replace")):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("Azurite did not start; its log ends:\n" + log.read_text(errors="replace")[-3000:])
            time.sleep(0.1)
        yield Azurite(f"http://127.0.0.1:{port}")


if __name__ == "__main__":
    install_azurite()
