"""Connectors that obey an access control: what the engine asks of them passes here, whichever way it comes."""
