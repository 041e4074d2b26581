"""The reference connector: tables of the process's memory, made through ``MemoryConnector.create_table``."""
