"""`manage.py` commands of the routing floor."""
