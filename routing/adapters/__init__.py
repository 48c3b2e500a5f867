"""Exchanges between the clients' formats and the providers'; pure translation, golden-tested."""
