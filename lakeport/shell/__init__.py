"""The command ``lakeport``: an interactive shell, statements in batch, and checks of catalogs."""
