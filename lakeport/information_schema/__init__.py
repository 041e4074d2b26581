"""Tables about a catalog that the engine gives for every connector: ``information_schema`` and ``system.metadata``."""
