"""SASL PLAIN (RFC 4616): user and password in clear text."""

from __future__ import annotations

from catalog.metastore.security.errors import AuthenticationError
from catalog.metastore.security.sasl import SaslMechanism

__all__ = ["PlainMechanism"]


class PlainMechanism(SaslMechanism):
    """User and password in one message; without TLS, anyone on the network path can read them.

    Args:
        username: The authenticated user.
        password: The user's password.
        acting_for: The user to act for; empty for the authenticated user.
    """

    name = "PLAIN"

    def __init__(self, username: str, password: str, acting_for: str = "") -> None:
        if "\0" in username + password + acting_for:
            raise AuthenticationError("PLAIN does not allow the character NUL in user or password")
        self._message = f"{acting_for}\0{username}\0{password}".encode()

    def start(self) -> bytes:
        return self._message

    def respond(self, challenge: bytes) -> bytes:
        if challenge:
            raise AuthenticationError("the metastore asks for more than user and password")
        return b""

    @property
    def complete(self) -> bool:
        return True
