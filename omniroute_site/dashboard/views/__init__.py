"""The pages, as thin functions."""
