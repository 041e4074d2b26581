"""Which directories and files of a transactional table a snapshot reads. Driver side.

A *location* is the directory of a table or partition. A *directory* is a base, delta or delete delta inside it.

- ``AcidDirectory``: a directory, parsed from its name; ``DirectoryContent`` adds its files.
- ``AcidListing``: a location as listed: its directories, and the files older than the transactions.
- ``AcidState``: the directories that a snapshot reads, and why it skips the others.
- ``AcidLocation``: a location's listing and state together. ``AcidEntry`` is one row of ``t$acid`` made from it,
  ``UnknownIds`` the ids in it that the snapshot does not know.
- ``AcidDirectories`` (in ``registration``): the directories of all partitions of a table that no metastore knows.
"""
