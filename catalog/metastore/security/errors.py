"""Errors of secured connections to a metastore."""

from __future__ import annotations

__all__ = ["AuthenticationError", "SecureChannelError"]


class SecureChannelError(OSError):
    """The other side violates the security protocol, or bytes were changed in transit."""


class AuthenticationError(OSError):
    """Authentication failed: no proof could be made, the other side refused it, or it did not prove its own identity.

    Retrying does not help. The message contains no secret.
    """
