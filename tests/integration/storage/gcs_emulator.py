"""Google Cloud Storage on loopback: the emulator gcp-storage-emulator, as a process of its own, since Arrow holds
Python's lock while it opens an object. It asks nobody who they are."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.fs as pafs

from tests.hms import free_port
from tests.server_process import running_process

__all__ = ["GcsEmulator", "running_gcs"]

_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class GcsEmulator:
    """A server that runs: ``http://127.0.0.1:port``, with the bucket ``lake``."""

    endpoint: str

    def put(self, name: str, data: bytes = b"") -> None:
        """Writes an object into the bucket; nothing is made for the folders above it."""
        place = self.endpoint.removeprefix("http://")
        store = pafs.GcsFileSystem(anonymous=True, endpoint_override=place, scheme="http")
        # By itself it compresses what is called .gz.
        with store.open_output_stream(f"lake/{name}", compression=None) as file:
            file.write(data)

    def make_folder(self, name: str) -> None:
        """Writes an empty object that stands for a folder, as Google's console and Hadoop do."""
        parts = [("application/json", json.dumps({"name": f"{name}/"})), ("application/octet-stream", "")]
        body = "".join(f"--part\r\nContent-Type: {kind}\r\n\r\n{text}\r\n" for kind, text in parts) + "--part--\r\n"
        asked = urllib.request.Request(
            f"{self.endpoint}/upload/storage/v1/b/lake/o?uploadType=multipart",
            body.encode(),
            {"Content-Type": "multipart/related; boundary=part"},
            method="POST",
        )
        with urllib.request.urlopen(asked, timeout=60):
            pass

    def upload(self, folder: Path, target: str) -> None:
        """Copies the files of a local folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{target}/{path.relative_to(folder)}", path.read_bytes())


@contextmanager
def running_gcs(folder: Path) -> Iterator[GcsEmulator]:
    """Runs it until the block ends; all is in memory but its log, which goes to ``folder``."""
    port, log = free_port(), folder / "gcs.log"
    options = ["--host", "127.0.0.1", "--port", str(port), "--default-bucket", "lake", "--in-memory", "--quiet"]
    command = [sys.executable, "-m", "gcp_storage_emulator", "start", *options]
    with running_process(command, folder, log) as process:
        _wait_for(process, port, log)
        yield GcsEmulator(f"http://127.0.0.1:{port}")


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the emulator did not start; its log ends:\n" + log.read_text(errors="replace")[-3000:])
