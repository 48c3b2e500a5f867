"""`manage.py resilience …`."""
