"""What was measured, for people: tables, plots, contact sheets, one HTML page, and two papers of the documentation."""
