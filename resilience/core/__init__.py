"""Pure resilience: frozen values and functions of (value, config, now). No Django, no I/O, no clock, no chance."""
