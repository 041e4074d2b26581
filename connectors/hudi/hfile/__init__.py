"""HFile, the sorted key-value file of HBase, as Hudi writes it: of the metadata table and of HFile data blocks."""
