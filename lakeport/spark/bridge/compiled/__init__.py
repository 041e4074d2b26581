"""Java classes of ours, compiled at run time by the Janino that Spark ships (ADR 11)."""
