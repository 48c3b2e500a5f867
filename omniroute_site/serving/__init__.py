"""`manage.py serve`: uvicorn in one process, or a small supervisor over several."""
