"""Another process that writes state: started afresh, as a forked one would share this one's database connections."""

import os


def settle_many(database: str, index: int, number: int) -> None:
    """Entry point of the child. Django is not set up yet, hence the late imports."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.db import connection

    connection.settings_dict["NAME"] = database
    from .test_concurrency import settle_many as settle

    settle(index, number)
    connection.close()
