"""``lakeport sql``, ``shell``, ``catalogs`` and ``demo``."""
