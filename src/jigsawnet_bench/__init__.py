"""The benchmark beside the product: which puzzles, solved or measured how, recorded where.

A suite (`suite`, TOML files in ``builtin``) says which puzzles (`cases`) are worked on by which methods (`methods`), and what
is done to them: solved, or one stage looked at (`tasks`). Every puzzle and method runs in a process of its own (`runner`), by
the product's corridor, from saved stages where nothing changed (`work`), and leaves a record (`records`). Means and tables
(`tables`, `experiments`), `plots`, contact sheets (`pictures`) and pages (`documents`) are made from the records; `results`
writes one JSON file per suite, with the command, the commit and the machine. `side_by_side` compares two commits.
"""
