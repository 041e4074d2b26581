"""The file formats and SerDes of Hive: one module and one entry in the registry for each. Executor side."""
