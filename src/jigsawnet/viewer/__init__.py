"""The workbench: a run in the browser, to see it, correct it and solve on. Needs the extra ``web``."""
