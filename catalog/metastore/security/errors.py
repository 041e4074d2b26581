"""What goes wrong between us and a metastore that is secured."""

from __future__ import annotations

__all__ = ["AuthenticationError", "SecureChannelError"]


class SecureChannelError(OSError):
    """The other side does not keep to the protocol that secures the connection, or changed bytes were met."""


class AuthenticationError(OSError):
    """We cannot prove who we are, or the other side does not take it, or it cannot prove who it is.

    Trying the same once more does not help. The message holds no secret.
    """
