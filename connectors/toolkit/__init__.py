"""What connectors share: storage, readers, partition values, schema adaption. Knows no connector and no metastore."""
