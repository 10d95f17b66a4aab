"""Fuzzing that can be continued: every reader is given files that were changed by chance, with their checksums put right.

``make fuzz`` goes on for a given time or number of inputs; ``tests/fuzz/corpus`` holds what it starts from.
"""
