"""Many browsers on one workbench, and whether it loses an edit or keeps memory."""
