"""The start without a command line: a page to drop scans on, the review of what is cut out, and the workbench of each case."""
