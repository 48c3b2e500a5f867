"""What people do to providers, connections and rules: on what they have seen, with who and why, and no secret told."""

from typing import Any

import pytest

from resilience.models import ResilienceEvent
from routing import crypto, edits
from routing.configfile import ConfigFileError, apply_file, export_file
from routing.configfile.schema import ConnectionFile, ErrorRuleFile, ProviderFile
from routing.models import Connection, Provider
from routing.table import current_sync
from tests.routing.rows import make_provider

pytestmark = pytest.mark.django_db
WHO: dict[str, str] = {"actor": "alice", "reason": "because"}


def provider(slug: str = "openai", **members: Any) -> ProviderFile:
    said = {"slug": slug, "format": "openai", "base_url": "http://openai.test/v1", "connections": [], **members}
    return ProviderFile.model_validate(said)


def rule(kind: str = "overloaded", **members: Any) -> ErrorRuleFile:
    return ErrorRuleFile.model_validate({"status": 529, "kind": kind, **members})


def told() -> list[tuple[str, str]]:
    rows = ResilienceEvent.objects.filter(name="config_changed").order_by("id")
    assert all((row.actor, row.reason) == ("alice", "because") for row in rows)
    return [(row.data["subject"], row.cause) for row in rows]


def test_a_provider_is_made_with_its_connections_and_told_once_each() -> None:
    said = provider(connections=[{"slug": "main", "api_key": "sk-0123456789-abcdef"}])
    edits.save_provider(said, edits.NEW, **WHO)
    assert current_sync().providers["openai"].connections[0].api_key == "sk-0123456789-abcdef"
    assert told() == [("provider openai", "created"), ("connection openai/main", "created")]
    assert [row.connection for row in ResilienceEvent.objects.order_by("id")] == ["", "main"]


def test_a_change_is_told_with_before_and_after() -> None:
    make_provider()
    seen = edits.stamp_of(Provider.objects.get())
    edits.save_provider(provider(breaker={"reset_timeout": 60}, retries=0), seen, **WHO)
    assert told() == [("provider openai", "breaker_reset_timeout 30 → 60, retries 1 → 0")]


def test_a_save_that_changes_nothing_is_not_told() -> None:
    make_provider()
    edits.save_provider(provider(), edits.stamp_of(Provider.objects.get()), **WHO)
    assert told() == []


def test_nobody_overwrites_what_they_did_not_see_whoever_wrote_it() -> None:
    make_provider()
    seen = edits.stamp_of(Provider.objects.get())
    exported = export_file().replace("reset_timeout: 30", "reset_timeout: 45")
    apply_file(exported.encode())
    with pytest.raises(edits.ChangedMeanwhileError):
        edits.save_provider(provider(breaker={"reset_timeout": 60}), seen, **WHO)
    assert Provider.objects.get().breaker_reset_timeout == 45
    assert told() == []


def test_a_name_that_is_taken_is_said_at_the_name() -> None:
    make_provider()
    with pytest.raises(ConfigFileError) as caught:
        edits.save_provider(provider(), edits.NEW, **WHO)
    assert [problem.path for problem in caught.value.problems] == [("slug",)]
    with pytest.raises(ConfigFileError):
        edits.save_connection("openai", ConnectionFile(slug="main"), edits.NEW, **WHO)


def test_settings_that_contradict_each_other_are_refused_in_the_file_s_words() -> None:
    with pytest.raises(ConfigFileError) as caught:
        edits.save_provider(provider(breaker={"degradation_threshold": 9}), edits.NEW, **WHO)
    assert str(caught.value) == "breaker.degradation_threshold: must not be above failure_threshold, which is 5"
    assert not Provider.objects.exists()


def test_a_key_is_replaced_without_being_told() -> None:
    make_provider()
    connection = Connection.objects.get()
    said = ConnectionFile.model_validate({"slug": "main", "api_key": "sk-0123456789-abcdef"})
    edits.save_connection("openai", said, edits.stamp_of(connection), **WHO)
    connection.refresh_from_db()
    assert crypto.decrypt(connection.api_key_encrypted) == "sk-0123456789-abcdef"
    assert told() == [("connection openai/main", "api_key changed")]
    assert "0123456789" not in str(ResilienceEvent.objects.values_list().get())


def test_a_key_that_is_not_mentioned_stays_and_one_that_changed_meanwhile_is_noticed() -> None:
    make_provider()
    first = ConnectionFile.model_validate({"slug": "main", "api_key": "env:SOME_KEY"})
    edits.save_connection("openai", first, edits.stamp_of(Connection.objects.get()), **WHO)
    seen = edits.stamp_of(Connection.objects.get())
    edits.save_connection("openai", ConnectionFile(slug="main", weight=2), seen, **WHO)
    assert Connection.objects.get().api_key_env == "SOME_KEY"
    with pytest.raises(edits.ChangedMeanwhileError):
        edits.save_connection("openai", first, seen, **WHO)


def test_providers_and_connections_are_switched_off_and_on() -> None:
    make_provider()
    edits.switch_connection("openai", "main", enabled=False, **WHO)
    edits.switch_provider("openai", enabled=False, **WHO)
    served = current_sync().providers["openai"]
    assert (served.enabled, served.connections[0].enabled) == (False, False)
    assert [done for _subject, done in told()] == ["enabled true → false"] * 2


def test_without_a_reason_nothing_is_done() -> None:
    make_provider()
    with pytest.raises(ValueError, match="a reason is needed"):
        edits.switch_connection("openai", "main", enabled=False, actor="alice", reason=" ")
    assert Connection.objects.get().enabled


def test_rules_are_added_edited_moved_and_removed_in_order() -> None:
    row = make_provider()

    def arrange(how: edits.Arrange) -> list[str]:
        edits.edit_rules("openai", how, edits.rules_stamp(row), **WHO)
        return [f"{one.status} {one.kind}" for one in current_sync().providers["openai"].error_rules]

    assert arrange(edits.rule_added(rule())) == ["529 overloaded"]
    assert arrange(edits.rule_added(rule("auth", status=418))) == ["529 overloaded", "418 auth"]
    assert arrange(edits.rule_moved(1, -1)) == ["418 auth", "529 overloaded"]
    assert arrange(edits.rule_moved(0, -1)) == ["418 auth", "529 overloaded"]
    assert arrange(edits.rule_replaced(0, rule("timeout", status=418))) == ["418 timeout", "529 overloaded"]
    assert arrange(edits.rule_removed(1)) == ["418 timeout"]
    assert told()[-1] == ("rules openai", "error rule removed: status 529 → overloaded")


def test_rules_that_changed_meanwhile_are_left_alone() -> None:
    row = make_provider()
    seen = edits.rules_stamp(row)
    edits.edit_rules("openai", edits.rule_added(rule()), seen, **WHO)
    with pytest.raises(edits.ChangedMeanwhileError):
        edits.edit_rules("openai", edits.rule_removed(0), seen, **WHO)
    assert row.error_rules.count() == 1
