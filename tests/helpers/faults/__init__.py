"""Every failure, everywhere: each file operation of a run and each call for memory fails once, or the process dies there.

``make faults`` tries all points; ``tests/faults`` a sample of them.
"""
