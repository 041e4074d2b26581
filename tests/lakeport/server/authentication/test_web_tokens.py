"""Which JSON web tokens are good; they are made here by the words of RFC 7515 and 7519."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidPropertyError
from lakeport.server.authentication.web_tokens import jwt_settings, jwt_users
from lakeport.spark.catalog.install import jvm_of

SECRET = b"a secret of thirty-two bytes or more"
_PREFIX = "http-server.authentication.jwt."
# RFC 7515, appendix A.1: it expired in 2011.
_RFC_KEY = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow=="
_RFC_TOKEN = (
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(header: dict[str, object], claims: dict[str, object], sign: Callable[[bytes], bytes]) -> str:
    text = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(claims).encode())}"
    return f"{text}.{encoded(sign(text.encode()))}"


def hs256(claims: dict[str, object], secret: bytes = SECRET) -> str:
    return token({"alg": "HS256"}, claims, lambda text: hmac.digest(secret, text, hashlib.sha256))


def rs256(claims: dict[str, object], **header: object) -> str:
    return token({"alg": "RS256", **header}, claims, lambda text: KEY.sign(text, padding.PKCS1v15(), hashes.SHA256()))


def claims(**others: object) -> dict[str, object]:
    """Claims for a day: parameters of tests are made long before the last test runs."""
    return {"sub": "alice", "exp": int(time.time()) + 86_400, **others}


def public_pem() -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return str(KEY.public_key().public_bytes(serialization.Encoding.PEM, form).decode())


def user(spark: SparkSession, folder: Path, key: str, text: str, **properties: str) -> str | None:
    """The user of a token, under a key and properties."""
    (folder / "key").write_text(key, "utf-8")
    lines = {"key-file": "key", **{name.replace("_", "-"): value for name, value in properties.items()}}
    file = folder / "jwt.properties"
    file.write_text("".join(f"{_PREFIX}{name}={value}\n" for name, value in lines.items()), "utf-8")
    found: str | None = jwt_users(jvm_of(spark), jwt_settings(file)).apply(text)
    return found


HMAC_KEY = base64.b64encode(SECRET).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (hs256(claims()), "alice"),
        (hs256(claims(exp=int(time.time()) - 5)), None),
        (hs256({"sub": "alice"}), None),
        (hs256(claims(nbf=int(time.time()) + 43_200)), None),
        (hs256(claims(), b"another secret of thirty-two bytes or so"), None),
        (hs256(claims(sub="")), None),
        (hs256({"exp": int(time.time()) + 86_400}), None),
        (token({"alg": "none"}, claims(), lambda text: b""), None),
        (hs256(claims())[:-2], None),
        ("", None),
        ("no token", None),
    ],
    ids=[
        "good",
        "expired",
        "endless",
        "early",
        "another's",
        "nameless",
        "no-one's",
        "unsigned",
        "cut",
        "empty",
        "none",
    ],
)
def test_tokens_with_a_secret(spark: SparkSession, tmp_path: Path, text: str, expected: str | None) -> None:
    assert user(spark, tmp_path, HMAC_KEY, text) == expected


def test_the_token_of_the_standard_has_expired(spark: SparkSession, tmp_path: Path) -> None:
    key = _RFC_KEY.replace("-", "+").replace("_", "/")
    assert user(spark, tmp_path, key, _RFC_TOKEN) is None


def test_tokens_with_a_public_key(spark: SparkSession, tmp_path: Path) -> None:
    assert user(spark, tmp_path, public_pem(), rs256(claims())) == "alice"
    # The public key as a secret: an old trick.
    assert user(spark, tmp_path, public_pem(), hs256(claims(), public_pem().encode())) is None
    numbers = KEY.public_key().public_numbers()
    web_key = {
        "kty": "RSA",
        "kid": "one",
        "n": encoded(numbers.n.to_bytes(256, "big")),
        "e": encoded(numbers.e.to_bytes(3, "big")),
    }
    keys = json.dumps({"keys": [web_key]})
    assert user(spark, tmp_path, keys, rs256(claims(), kid="one")) == "alice"
    assert user(spark, tmp_path, keys, rs256(claims(), kid="two")) is None
    assert user(spark, tmp_path, keys, rs256(claims())) is None


def test_issuer_audience_and_the_name_of_the_user(spark: SparkSession, tmp_path: Path) -> None:
    def of(text: str) -> str | None:
        return user(
            spark, tmp_path, HMAC_KEY, text, required_issuer="us", required_audience="lakeport", principal_field="name"
        )

    assert of(hs256(claims(iss="us", aud="lakeport", name="bob"))) == "bob"
    assert of(hs256(claims(iss="us", aud=["others", "lakeport"], name="bob"))) == "bob"
    assert of(hs256(claims(iss="them", aud="lakeport", name="bob"))) is None
    assert of(hs256(claims(iss="us", aud="others", name="bob"))) is None
    assert of(hs256(claims(iss="us", aud="lakeport"))) is None


def test_keys_that_are_none(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidPropertyError, match="cannot be used as one of HMAC"):
        user(spark, tmp_path, base64.b64encode(b"short").decode(), "x")
    with pytest.raises(InvalidPropertyError, match="expected PEM, JWKS, or Base64") as met:
        user(spark, tmp_path, "p@ssword!", "x")
    assert "p@ssword" not in str(met.value)
    with pytest.raises(InvalidPropertyError, match="PRIVATE KEY"):
        user(spark, tmp_path, "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----", "x")
    file = tmp_path / "jwt.properties"
    file.write_text(f"{_PREFIX}key-fil=key\n", "utf-8")
    with pytest.raises(InvalidPropertyError, match="key-fil"):
        jwt_settings(file)
