"""Who asks in a session, and what controls it."""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog.access_control.built_in import AllowAllAccessControl, DefaultAccessControl
from catalog.access_control.credential_file import FileCredentials
from catalog.access_control.group_file import NoGroups
from catalog.metastore.process_user import process_user
from connector_spi.security import GroupProvider, Identity, SystemAccessControl

__all__ = ["Security"]


@dataclass(frozen=True, slots=True)
class Security:
    """The security of a session or server.

    Attributes:
        access_control: Of all catalogs.
        groups: Knows the groups of users.
        own: Who asks where no client does; ``None`` is the user of the process.
        credentials: Knows what users reach storage with; ``None`` knows nothing.
    """

    access_control: SystemAccessControl = field(default_factory=DefaultAccessControl)
    groups: GroupProvider = field(default_factory=NoGroups)
    own: Identity | None = None
    credentials: FileCredentials | None = field(default=None, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether everyone may do everything in the catalogs."""
        return type(self.access_control) in (AllowAllAccessControl, DefaultAccessControl)

    @property
    def own_user(self) -> str:
        """Name of who asks where no client does."""
        return process_user() if self.own is None else self.own.user

    def identity(self, user: str) -> Identity:
        """A user with the groups and credentials that are known of it."""
        groups = self.groups.get_groups(user)
        credentials = () if self.credentials is None else self.credentials.get(user)
        if self.own is not None and user == self.own.user:
            own = self.own
            return Identity(user, own.groups | groups, own.roles, own.extra_credentials or credentials)
        return Identity(user, groups, extra_credentials=credentials)
