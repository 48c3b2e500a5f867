"""How the console's templates write times, shapes and controls."""
