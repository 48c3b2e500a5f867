"""What the documentation says, compared with the code."""

import re
import subprocess
from pathlib import Path

from django.core.management import get_commands

from omniroute_site.demo import CONFIG
from resilience.core.kinds import RULES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return README.split(f"## {title}\n")[1].split("\n## ")[0]


def test_readme_settings_and_example_name_the_same_variables() -> None:
    settings = (ROOT / "omniroute_site" / "settings.py").read_text()
    read = set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", settings))
    in_readme = set(re.findall(r"^\| `([A-Z_]+)` \|", section("Environment"), re.MULTILINE))
    in_example = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    assert in_readme == read
    assert in_example == read


def test_the_commands_that_readme_names_exist() -> None:
    named = set(re.findall(r"manage\.py (\w+)", README))

    assert named - set(get_commands()) == set()


def test_the_make_targets_that_the_docs_name_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    texts = [README, (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "CHANGELOG.md").read_text()]
    named = {target for text in texts for target in re.findall(r"`make ([\w-]+)", text)}

    assert named - targets == set()


def test_the_files_that_the_docs_link_to_exist() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
        assert missing == [], page.name


def test_the_kinds_page_is_the_kinds_table() -> None:
    page = (ROOT / "docs" / "kinds.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]

    assert rows == [
        f"| `{rule.kind}` | {rule.cause} | {rule.next_target} | {'yes' if rule.retry_same_target else 'no'} "
        f"| {rule.breaker} | {rule.cooldown} | {rule.lockout} |"
        for rule in RULES.values()
    ]


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_decision_records_are_short_and_complete() -> None:
    for record in (ROOT / "docs" / "adr").glob("*.md"):
        text = record.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, record.name
        assert "## Decision" in text, record.name
        assert "## Consequences" in text, record.name


def test_no_secret_or_machine_path_is_committed() -> None:
    command = ["git", "ls-files"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    texts = {path: (ROOT / path).read_text(errors="replace") for path in listed if (ROOT / path).is_file()}

    assert ".env" not in listed
    assert [
        path for path, text in texts.items() if re.search(r"(^|[^\w.])/(work|root)/", text) and path != __file__
    ] == []
    assert "env:DEMO_CLIENT_KEY" in CONFIG.read_text()
