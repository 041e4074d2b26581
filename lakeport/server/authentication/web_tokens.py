"""JSON web tokens of clients, with Trino's properties."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError

from catalog.config import CatalogConfig
from catalog.named_config import load_properties
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import PropertyMetadata, string_property
from lakeport.spark.bridge.compiled.java_classes import first_line, new_instance
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["JWT_PROPERTIES", "JwtSettings", "jwt_settings", "jwt_users"]

_CLASS = "JwtUsers"
_PREFIX = "http-server.authentication.jwt."
_BEGIN, _END = "-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"
_KINDS = {
    "RSA": bytes.fromhex("06092a864886f70d010101"),
    "EC": bytes.fromhex("06072a8648ce3d0201"),
    "EdDSA": bytes.fromhex("06032b6570"),
}
"""Object identifiers of keys in X.509 (RFC 3279, 5480, 8410)."""

KEY_FILE = string_property(
    _PREFIX + "key-file", "A public key (PEM), a set of keys (JWKS), or a secret (Base64).", required=True
)
REQUIRED_ISSUER = string_property(_PREFIX + "required-issuer", "The issuer of tokens (``iss``).")
REQUIRED_AUDIENCE = string_property(_PREFIX + "required-audience", "The audience of tokens (``aud``).")
PRINCIPAL_FIELD = string_property(_PREFIX + "principal-field", "The claim that names the user.", default="sub")
JWT_PROPERTIES: Sequence[PropertyMetadata[object]] = (KEY_FILE, REQUIRED_ISSUER, REQUIRED_AUDIENCE, PRINCIPAL_FIELD)
"""Of the file of ``--jwt``."""


@dataclass(frozen=True, slots=True)
class JwtSettings:
    """Which tokens are good.

    Attributes:
        kind: Of the key: ``RSA``, ``EC``, ``EdDSA``, ``HMAC`` or ``JWKS``.
        key: In Base64, or JSON.
        issuer: Of tokens, or ``None``.
        audience: Of tokens, or ``None``.
        principal: The claim that names the user.
    """

    kind: str
    key: str = field(repr=False)
    issuer: str | None
    audience: str | None
    principal: str


def jwt_settings(path: Path) -> JwtSettings:
    """Reads the properties of a file, and the key.

    Raises:
        InvalidPropertyError: One is unknown or missing, or the key cannot be read; the key is not shown.
    """
    config = load_properties(path)
    values = config.typed_properties(JWT_PROPERTIES)
    kind, key = _key(config, path.parent / values.get(KEY_FILE))
    return JwtSettings(
        kind, key, values.get(REQUIRED_ISSUER), values.get(REQUIRED_AUDIENCE), values.get(PRINCIPAL_FIELD)
    )


def jwt_users(jvm: Jvm, settings: JwtSettings) -> JavaObject:
    """A Java function that gives the user of a token, and null for any other text.

    Raises:
        InvalidPropertyError: The key is not one of its kind, or too short.
    """
    given = (settings.kind, settings.key, settings.issuer, settings.audience, settings.principal)
    try:
        return new_instance(jvm, _CLASS, *given)
    except Py4JError as error:
        cause = getattr(error, "java_exception", None)
        reason = (
            first_line(error) if cause is None or cause.getCause() is None else cause.getCause().getClass().getName()
        )
        raise InvalidPropertyError(
            f"{KEY_FILE.name}: the key cannot be used as one of {settings.kind}: {reason}"
        ) from None


def _key(config: CatalogConfig, path: Path) -> tuple[str, str]:
    where = f"{config.where(KEY_FILE.name)}: {path}"
    try:
        text = path.read_text("utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise InvalidPropertyError(f"{where} cannot be read: {getattr(error, 'strerror', 'it is no text')}") from None
    if text.startswith("{"):
        return "JWKS", text
    if text.startswith(_BEGIN) and text.endswith(_END):
        text = text.removeprefix(_BEGIN).removesuffix(_END)
    elif text.startswith("-----"):
        raise InvalidPropertyError(f"{where} has {text.partition(chr(10))[0]}; expected {_BEGIN}")
    try:
        encoded = base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        raise InvalidPropertyError(f"{where} is not understood; expected PEM, JWKS, or Base64") from None
    kind = next((kind for kind, identifier in _KINDS.items() if identifier in encoded[:40]), "HMAC")
    return kind, "".join(text.split())
