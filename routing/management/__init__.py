"""Management commands of the routing floor."""
