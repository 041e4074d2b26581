"""``GRANT``, ``REVOKE``, ``SHOW GRANTS`` and roles, as in Trino; no engine's parser knows them."""
