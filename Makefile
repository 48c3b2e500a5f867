# OmniRoute. A fresh checkout needs Python 3.11 or newer, make and git; nothing else by hand.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
HOST ?= 127.0.0.1
PORT ?= 8000
BIN := .venv/bin
TEST := $(BIN)/pytest -n 2 --dist loadfile
COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-emit-index-url --no-emit-find-links --no-header --no-annotate
PACKAGES := omniroute_site routing resilience tests manage.py

.PHONY: run test check bench fuzz faults demo-reset setup setup-dev fmt lint types imports migrations services constraints

run: setup
	@$(BIN)/python manage.py quickstart --host $(HOST) --port $(PORT)

test: setup-dev
	@$(TEST) -m "not services and not browser"

check: setup-dev lint types imports migrations test services

bench: setup-dev
	@$(BIN)/python -m tests.bench $(ARGS)

# random inputs for the parsers; ARGS="--count 1000000 errors", or --seed for one again
fuzz: setup-dev
	@$(BIN)/python -m tests.fuzz $(ARGS)

# a quarter of an hour and more: kill -9 under traffic, then mixed faults and rough clients
faults: setup-dev
	@$(BIN)/python -m tests.faults kills --times 100
	@$(BIN)/python -m tests.faults kills --times 30 --workers 3 --one-by-one
	@$(BIN)/python -m tests.faults soak --minutes 10

demo-reset: setup
	@$(BIN)/python manage.py quickstart --reset

setup:
	@$(PYTHON) omniroute_site/bootstrap.py

setup-dev:
	@$(PYTHON) omniroute_site/bootstrap.py --dev

fmt: setup-dev
	$(BIN)/ruff check --fix $(PACKAGES)
	$(BIN)/ruff format $(PACKAGES)

lint:
	$(BIN)/ruff check $(PACKAGES)
	$(BIN)/ruff format --check $(PACKAGES)

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

migrations:
	$(BIN)/python manage.py makemigrations --check --dry-run

# PostgreSQL, Redis and Chromium: .ci/run installs and starts them
services:
	@test -n "$(PG_TEST_URL)" -a -n "$(REDIS_TEST_URL)" || { echo "set PG_TEST_URL and REDIS_TEST_URL, or run .ci/run"; exit 1; }
	TEST_DATABASE_URL=$(PG_TEST_URL) $(TEST) tests/resilience tests/routing -m "not services and not browser"
	$(TEST) -m "services or browser"

# after a change of pyproject.toml
constraints: setup-dev
	$(BIN)/pip install --quiet --disable-pip-version-check pip-tools
	$(COMPILE) --extra scale --output-file constraints.txt pyproject.toml
	$(COMPILE) --all-extras --constraint constraints.txt --output-file constraints-dev.txt pyproject.toml
