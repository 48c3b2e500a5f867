"""`manage.py serve`, `manage.py quickstart`."""
