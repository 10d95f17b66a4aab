"""The version, on the ground floor: every module may read it."""

__version__ = "0.1.0.dev0"
