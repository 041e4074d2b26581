"""Who asks, and what they may do: identities, groups, access controls, row filters and column masks."""

from connector_spi.security.connector_access_control import ConnectorAccessControl
from connector_spi.security.group_provider import GroupProvider
from connector_spi.security.identity import Identity
from connector_spi.security.system_access_control import SystemAccessControl
from connector_spi.security.view_expression import ViewExpression

__all__ = ["ConnectorAccessControl", "GroupProvider", "Identity", "SystemAccessControl", "ViewExpression"]
