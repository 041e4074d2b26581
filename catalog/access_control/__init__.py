"""Built-in access controls and group providers, and how they are configured."""
