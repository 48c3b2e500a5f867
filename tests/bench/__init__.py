"""Performance figures: the gateway beside the bare upstream and nginx as reverse proxy. `python -m tests.bench`."""
