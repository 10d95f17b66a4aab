"""Scans of many pieces, made with their truth, for tests and for the pictures of the documentation."""
