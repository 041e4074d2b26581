"""HDFS, read and written without Java where ``hdfs-native`` is installed. Both sides."""
