"""Who works in the admin."""

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(
        User.objects.create_superuser("admin", password="pw"), "django.contrib.auth.backends.ModelBackend"
    )
    return client
