"""Passwords of users that a directory knows, by LDAP, with Trino's properties."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError

from catalog.config import CatalogConfig
from connector_spi.errors import InvalidPropertyError
from connector_spi.properties import PropertyMetadata, boolean_property, duration_property, string_property
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["LDAP_PROPERTIES", "LdapDirectory", "LdapSettings", "ldap_settings"]

_log = logging.getLogger(__name__)
_USER = "${USER}"
_FACTORY = "com.sun.jndi.ldap.LdapCtxFactory"
_SPECIAL = re.compile(r"[,=+<>#;*()\"\\\x00]|^\s|\s$")
"""What means something in a name or a search of LDAP; Trino refuses the same."""

URL = string_property("ldap.url", "Of the directory, such as ``ldaps://ldap.example.com:636``.", required=True)
ALLOW_INSECURE = boolean_property("ldap.allow-insecure", "Passwords may go to the directory without TLS.", False)
USER_BIND_PATTERN = string_property(
    "ldap.user-bind-pattern", "The name to log in with, with ``${USER}`` in it; several are parted by colons."
)
USER_BASE_DN = string_property("ldap.user-base-dn", "Where users are searched.")
GROUP_AUTH_PATTERN = string_property(
    "ldap.group-auth-pattern", "A search with ``${USER}`` in it that has to find the user."
)
BIND_DN = string_property("ldap.bind-dn", "Who searches for the name of a user.")
BIND_PASSWORD = string_property("ldap.bind-password", "The password of ``ldap.bind-dn``.", sensitive=True)
CONNECT_TIMEOUT = duration_property("ldap.timeout.connect", "How long to wait for a connection.", 60.0, minimum=0.001)
READ_TIMEOUT = duration_property("ldap.timeout.read", "How long to wait for an answer.", 60.0, minimum=0.001)
LDAP_PROPERTIES: Sequence[PropertyMetadata[object]] = (
    URL,
    ALLOW_INSECURE,
    USER_BIND_PATTERN,
    USER_BASE_DN,
    GROUP_AUTH_PATTERN,
    BIND_DN,
    BIND_PASSWORD,
    CONNECT_TIMEOUT,
    READ_TIMEOUT,
)
"""Of ``password-authenticator.name=ldap``."""


@dataclass(frozen=True, slots=True)
class LdapSettings:
    """How to ask a directory.

    Attributes:
        url: Of the directory.
        patterns: Names to log in with.
        base: Where users are searched, or ``None``.
        search: Has to find the user, or ``None``.
        searcher: Name and password of who searches, or ``None`` where users do.
        timeouts: For a connection and for an answer, in seconds.
    """

    url: str
    patterns: tuple[str, ...]
    base: str | None
    search: str | None
    searcher: tuple[str, str] | None = field(repr=False)
    timeouts: tuple[float, float]


def ldap_settings(config: CatalogConfig) -> LdapSettings:
    """Reads the properties of ``password-authenticator.properties``.

    Raises:
        InvalidPropertyError: One is unknown, missing or wrong, or passwords would go out without TLS.
    """
    values = config.typed_properties(LDAP_PROPERTIES)
    url, search, base = values.get(URL), values.get(GROUP_AUTH_PATTERN), values.get(USER_BASE_DN)
    patterns, who, password = values.get(USER_BIND_PATTERN), values.get(BIND_DN), values.get(BIND_PASSWORD)
    where = config.file or config.name
    if not url.startswith("ldaps://") and not (url.startswith("ldap://") and values.get(ALLOW_INSECURE)):
        raise InvalidPropertyError(f"{where}: ldap.url is {url}; expected ldaps://, or ldap.allow-insecure=true")
    for name, text in {"ldap.user-bind-pattern": patterns, "ldap.group-auth-pattern": search}.items():
        if text is not None and _USER not in text:
            raise InvalidPropertyError(f"{where}: {name} has no {_USER}, so everyone would be the same user")
    if (who is None) != (password is None) or (who is not None and (search is None or base is None)):
        raise InvalidPropertyError(
            f"{where}: ldap.bind-dn needs ldap.bind-password, ldap.user-base-dn and ldap.group-auth-pattern"
        )
    if (who is None) == (patterns is None):
        raise InvalidPropertyError(f"{where}: expected one of ldap.user-bind-pattern and ldap.bind-dn")
    if search is not None and base is None:
        raise InvalidPropertyError(f"{where}: ldap.group-auth-pattern needs ldap.user-base-dn")
    return LdapSettings(
        url=url,
        patterns=tuple((patterns or "").split(":")),
        base=base,
        search=search,
        searcher=None if who is None or password is None else (who, password),
        timeouts=(values.get(CONNECT_TIMEOUT), values.get(READ_TIMEOUT)),
    )


class LdapDirectory:
    """Asks a directory for passwords, through Java's own client. May be asked by many threads.

    Args:
        jvm: The JVM.
        settings: How to ask.
    """

    def __init__(self, jvm: Jvm, settings: LdapSettings) -> None:
        self._jvm = jvm
        self._settings = settings

    def authenticate(self, user: str, password: str) -> bool:
        """Whether this is the user's password; no password is, while the directory cannot be asked."""
        # A directory takes a name without a password for an anonymous login, which succeeds.
        if not user or not password or _SPECIAL.search(user):
            return False
        try:
            if self._settings.searcher is not None:
                return self._is_found_user(user, password)
            names = (pattern.replace(_USER, user) for pattern in self._settings.patterns)
            return any(self._is_user(name, user, password) for name in names)
        except Py4JJavaError as error:
            # Java's text has the name of the host and of the user, but no password.
            _log.error("the directory %s cannot be asked: %s", self._settings.url, error.java_exception.toString())
            return False

    def _is_found_user(self, user: str, password: str) -> bool:
        assert self._settings.searcher is not None
        context = self._login(*self._settings.searcher)
        if context is None:
            _log.error("the directory %s refuses ldap.bind-dn", self._settings.url)
            return False
        try:
            names = self._found(context, user)
        finally:
            context.close()
        return len(names) == 1 and self._is_password(names[0], password)

    def _is_user(self, name: str, user: str, password: str) -> bool:
        context = self._login(name, password)
        if context is None:
            return False
        try:
            return self._settings.search is None or bool(self._found(context, user))
        finally:
            context.close()

    def _is_password(self, name: str, password: str) -> bool:
        context = self._login(name, password)
        if context is not None:
            context.close()
        return context is not None

    def _found(self, context: JavaObject, user: str) -> list[str]:
        """Names of the entries that the search finds, two at most."""
        controls = self._jvm.cls("javax.naming.directory.SearchControls")()
        controls.setSearchScope(2)  # the whole subtree
        controls.setCountLimit(2)
        controls.setReturningAttributes(self._jvm.no_strings)
        text = str(self._settings.search).replace(_USER, user)
        results = context.search(self._settings.base, text, controls)
        # The class of the results is hidden from py4j.
        entries = self._jvm.cls("java.util.Collections").list(results)
        return [str(entry.getNameInNamespace()) for entry in entries]

    def _login(self, name: str, password: str) -> JavaObject | None:
        """A connection of this user; ``None`` where the directory refuses it."""
        connect, read = self._settings.timeouts
        environment = self._jvm.cls("java.util.Hashtable")()
        given = {
            "java.naming.factory.initial": _FACTORY,
            "java.naming.provider.url": self._settings.url,
            "java.naming.security.authentication": "simple",
            "java.naming.security.principal": name,
            "java.naming.security.credentials": password,
            "com.sun.jndi.ldap.connect.timeout": str(max(1, round(1000 * connect))),
            "com.sun.jndi.ldap.read.timeout": str(max(1, round(1000 * read))),
        }
        for key, text in given.items():
            environment.put(key, text)
        try:
            return self._jvm.cls("javax.naming.directory.InitialDirContext")(environment)
        except Py4JJavaError as error:
            kind = self._jvm.class_name(error.java_exception)
            # A name that is none, and a password that is wrong.
            if kind in ("AuthenticationException", "InvalidNameException", "NameNotFoundException"):
                return None
            raise
