"""The table of RESILIENCE section 2, row by row."""

import pytest

from resilience.core.kinds import RULES, Kind

TABLE = """
rate_limit        yes         False  counts_if_alone  always     counts
quota_exhausted   yes         False  counts_if_alone  always     counts
overloaded        yes         True   counts           hint_only  counts
transient         yes         True   counts           hint_only  counts
timeout           yes         False  counts           never      counts
auth              yes         False  none             always     never
model_unavailable yes         False  alive            never      at_once
context_length    yes         False  alive            never      never
content_filter    by_setting  False  alive            never      never
invalid_request   no          False  alive            never      never
cancelled         stop        False  release          never      never
local             yes         False  release          never      never
"""


@pytest.mark.parametrize("row", [line.split() for line in TABLE.strip().splitlines()], ids=lambda row: row[0])
def test_a_row_of_the_table(row: list[str]) -> None:
    rule = RULES[Kind(row[0])]
    found = [rule.next_target, str(rule.retry_same_target), rule.breaker, rule.cooldown, rule.lockout]
    assert [str(value) for value in found] == row[1:]


def test_every_kind_has_a_row_and_words_for_operators() -> None:
    assert set(RULES) == set(Kind)
    assert all(rule.label and rule.cause for rule in RULES.values())
    assert RULES[Kind.AUTH].label == "credentials rejected"
