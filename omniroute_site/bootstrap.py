"""From a fresh checkout to a virtual environment and a `.env`: `python3 omniroute_site/bootstrap.py [--dev]`.

Run by the machine's own Python before anything is installed, so the standard library is all there is. What exists is
kept: a second run with unchanged pins installs nothing and never touches `.env`.
"""

import argparse
import base64
import hashlib
import os
import secrets
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
ENV_FILE = ROOT / ".env"
PINS = ROOT / "constraints.txt"
DEV_PINS = ROOT / "constraints-dev.txt"  # the same and what tests and checks need
OLDEST = (3, 11)


def main() -> None:
    """Make what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="also install what tests and checks need")
    options = parser.parse_args()
    if sys.version_info < OLDEST:
        sys.exit(
            f"OmniRoute needs Python 3.11 or newer; this is {sys.version.split()[0]}. Try: make PYTHON=python3.11 …"
        )
    if not (VENV / "bin" / "python").exists():
        say("creating .venv")
        venv.create(VENV, with_pip=True, symlinks=True)
    install(DEV_PINS if options.dev else PINS)
    write_env_file()


def install(pins: Path) -> None:
    """Install exactly what the file pins, hashes checked, unless the same was installed last time."""
    wanted = hashlib.sha256(pins.read_bytes()).hexdigest()
    stamp = VENV / f"installed-{pins.name}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say(f"installing what {pins.name} pins; the first time takes a minute or two")
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # the file is complete, so nothing is left for pip to resolve
    done = subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", str(pins)], check=False)  # noqa: S603
    if done.returncode:
        sys.exit("omniroute: pip could not install the dependencies; its message is above")
    stamp.write_text(wanted)


def write_env_file() -> None:
    """Secrets of this installation, readable by its owner only; an existing file is left alone."""
    if ENV_FILE.exists():
        return
    values = {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ENCRYPTION_KEY": base64.urlsafe_b64encode(os.urandom(32)).decode(),
        "DEMO_CLIENT_KEY": f"sk-or-{secrets.token_urlsafe(30)}",
    }
    lines = ["# Written by `make run`. Every variable is explained in .env.example."]
    lines += [f"{name}={value}" for name, value in values.items()]
    descriptor = os.open(ENV_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    say("wrote .env with new secrets")


def say(text: str) -> None:
    """Tell the person at the terminal."""
    print(f"omniroute: {text}", file=sys.stderr, flush=True)  # noqa: T201 (a command's own output)


if __name__ == "__main__":
    main()
