"""Compacts transactional tables, and deletes what compactions have replaced. Driver side."""
