"""Rows from the database, in a number of queries that does not grow with the rows."""
