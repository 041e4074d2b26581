"""The connectors that come with Lakeport, and what they share."""
