"""``jigsawnet bench SUITE``: puzzles of a suite, the paper's methods and ours, side by side.

A suite (`definition`) says which puzzles (`cases`) are put together by whom (`methods`). Every puzzle and method runs in a
process of its own (`runner`, `work`), from saved stages where nothing changed (`stages`, `digest`); ``report`` makes tables,
plots and pages of what was measured.
"""
