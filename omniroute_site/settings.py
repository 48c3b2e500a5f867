"""Every setting of the project, read from the environment in this one file (README has the table)."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from omniroute_site.environment import Environment
from omniroute_site.logs import logging_config

BASE_DIR = Path(__file__).resolve().parent.parent

env = Environment()
env.read_env(BASE_DIR / ".env")  # what the environment already holds wins over the file

# --- secrets and hosts

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="")
if not SECRET_KEY:
    if not DEBUG:
        raise ImproperlyConfigured("SECRET_KEY is not set: put a long random value in the environment or in .env")
    SECRET_KEY = "insecure-development-key"  # noqa: S105 (only ever with DEBUG on)
ENCRYPTION_KEYS = env.fernet_keys("ENCRYPTION_KEY")  # the first encrypts, all decrypt: put a new key in front to rotate

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
FORWARDED_ALLOW_IPS = env.list("FORWARDED_ALLOW_IPS", default=["127.0.0.1", "::1"])  # whose X-Forwarded-* we believe

# --- the gateway

DRAIN_SECONDS = env.number("DRAIN_SECONDS", default=30)
MAX_BODY_BYTES = env.whole("MAX_BODY_BYTES", default=32 * 1024 * 1024, minimum=1024)
REQUEST_LOG_RETENTION_DAYS = env.whole("REQUEST_LOG_RETENTION_DAYS", default=30)
EVENT_RETENTION_DAYS = env.whole("EVENT_RETENTION_DAYS", default=90)
DEMO_CLIENT_KEY = env.str("DEMO_CLIENT_KEY", default="")  # written to .env by `make run`, so that it can be shown again
LOG_LEVEL = env.choice("LOG_LEVEL", ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], default="INFO")
LOG_FORMAT = env.choice("LOG_FORMAT", ["text", "json"], default="text")
LOGGING = logging_config(level=LOG_LEVEL, style=LOG_FORMAT)

# --- Django

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "omniroute_site",  # above staticfiles: its `runserver` is daphne's, which speaks ASGI; below auth: see apps.py
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "axes",
    "ninja",  # so that /api/docs serves its own script and style instead of a CDN's
    "resilience",
    "routing",
    "omniroute_site.dashboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "omniroute_site.csp.ContentSecurityPolicyMiddleware",
    "omniroute_site.api.errors.JsonErrorsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "omniroute_site.urls"
ASGI_APPLICATION = "omniroute_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- database and channel layer

(BASE_DIR / "var").mkdir(exist_ok=True)
DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{BASE_DIR / 'var' / 'omniroute.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # WAL lets pages read while state is written; IMMEDIATE, since a deferred transaction that turns into a
    # writer fails at once under contention instead of waiting for the busy timeout.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON",
    }
    # a file, not memory: writer threads have connections of their own; one per process, so that runs do not meet
    DATABASES["default"]["TEST"] = {"NAME": str(BASE_DIR / "var" / f"test-{os.getpid()}.sqlite3")}
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    # Each of the few long-lived threads (state, log, table, heartbeat, pages, consumers) holds one connection at a time, so
    # nobody waits in line; what is waited for is a server that is away, which the pages then say.
    DATABASES["default"]["OPTIONS"] = {
        "pool": {"min_size": 1, "max_size": 10, "timeout": 3},
        # A host that vanishes (power, failover, a firewall that forgot us) says no goodbye, and an answer that never comes
        # is waited for by Linux's defaults for two hours. libpq's words, seconds but for the last: given up after 20 s.
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 20_000,  # ms
        **DATABASES["default"].get("OPTIONS", {}),
    }
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
else:
    raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgres://")

REDIS_URL = env.str("REDIS_URL", default="")
CHANNEL_LAYERS = {
    "default": (
        {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            # above the 5 s for which the layer waits for a message: redis-py's default cuts that wait off
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 15}]},
        }
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# --- people

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
# A person who mistypes waits a little; someone guessing from one address does not lock the operator out of others.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

# A Secure cookie never comes back over plain http, and http://127.0.0.1 is how a first run is used. So the cookies
# are Secure exactly where the operator has said that people come by https.
SERVED_OVER_HTTPS = any(origin.startswith("https://") for origin in CSRF_TRUSTED_ORIGINS)
SESSION_COOKIE_SECURE = SERVED_OVER_HTTPS
CSRF_COOKIE_SECURE = SERVED_OVER_HTTPS
SESSION_COOKIE_AGE = 7 * 24 * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
