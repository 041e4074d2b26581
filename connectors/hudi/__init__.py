"""The hudi connector: copy-on-write tables of Apache Hudi, at one instant each."""
