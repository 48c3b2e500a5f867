"""The top floor: settings, the ASGI application, pages, state API, metrics, and the commands that run it all."""
