"""Keys, certificates and stores made by Java's own keytool."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["PASSWORD", "Stores", "make_stores"]

PASSWORD = "store-pa55word"


@dataclass(frozen=True, slots=True)
class Stores:
    """Files of one key for ``localhost``, signed by itself.

    Attributes:
        folder: Where they are.
    """

    folder: Path

    @property
    def certificate(self) -> Path:
        """PEM."""
        return self.folder / "certificate.pem"

    def keys(self, kind: str) -> Path:
        """A store with the key, of kind ``JKS``, ``PKCS12`` or ``JCEKS``."""
        path = self.folder / f"keys.{kind}"
        if not path.exists():
            _keytool("-importkeystore", "-srckeystore", self.folder / "keys", "-srcstorepass", PASSWORD,
                     "-destkeystore", path, "-deststoretype", kind, "-deststorepass", PASSWORD)  # fmt: skip
        return path

    def trust(self, kind: str) -> Path:
        """A store with the certificate alone."""
        path = self.folder / f"trust.{kind}"
        if not path.exists():
            _keytool("-importcert", "-noprompt", "-alias", "server", "-file", self.certificate,
                     "-keystore", path, "-storetype", kind, "-storepass", PASSWORD)  # fmt: skip
        return path


def make_stores(folder: Path, name: str = "localhost", kind: str = "RSA") -> Stores:
    """Makes a key and its certificate; skips where there is no keytool."""
    if shutil.which("keytool") is None:
        pytest.skip("no keytool: put Java's bin on the PATH")
    folder.mkdir(parents=True, exist_ok=True)
    stores = Stores(folder)
    _keytool("-genkeypair", "-keyalg", kind, "-alias", "server", "-dname", f"CN={name}", "-validity", "30",
             "-ext", f"SAN=dns:{name},ip:127.0.0.1", "-keystore", folder / "keys", "-storetype", "PKCS12",
             "-storepass", PASSWORD)  # fmt: skip
    _keytool("-exportcert", "-rfc", "-alias", "server", "-keystore", folder / "keys", "-storepass", PASSWORD,
             "-file", stores.certificate)  # fmt: skip
    return stores


def _keytool(*arguments: str | Path) -> None:
    # A command of so little work ends before Java's second compiler pays.
    quick = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")
    subprocess.run(["keytool", *quick, *map(str, arguments)], check=True, capture_output=True, timeout=120)
