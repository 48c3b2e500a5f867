"""The state API: what the three layers hold, and the operator's actions on it. CONTRACT section 5."""
