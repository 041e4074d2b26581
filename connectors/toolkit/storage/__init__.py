"""Listing and opening files on any storage. Both sides."""
