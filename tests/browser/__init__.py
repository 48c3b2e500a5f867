"""The console in a real browser, against a real server process."""

PASSWORD = "look-at-the-board"  # of the people that seed.py makes
