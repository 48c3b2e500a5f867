"""The two groups: what they hold, and that they come back."""

from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.management import call_command

from omniroute_site import people


def member(group: str) -> User:
    user = User.objects.create_user(group)
    user.groups.add(Group.objects.get(name=group))
    return user


def test_viewers_see_and_operators_act(db: None) -> None:
    viewer, operator = member(people.VIEWERS), member(people.OPERATORS)

    assert (people.may_read(viewer), people.may_operate(viewer), people.may_configure(viewer)) == (True, False, False)
    assert (people.may_read(operator), people.may_operate(operator), people.may_configure(operator)) == (
        True,
        True,
        True,
    )
    assert not operator.has_perm("resilience.delete_breakerstate")
    assert operator.has_perm("routing.add_fallbackentry")


def test_nobody_and_a_person_without_a_group_see_nothing(db: None) -> None:
    assert not people.may_read(AnonymousUser())
    assert not people.may_read(User.objects.create_user("new"))


def test_what_an_administrator_added_stays(db: None) -> None:
    viewers = Group.objects.get(name=people.VIEWERS)
    before = viewers.permissions.count()
    permission = Group.objects.get(name=people.OPERATORS).permissions.filter(codename="change_breakerstate").get()
    viewers.permissions.add(permission)

    call_command("migrate", verbosity=0)

    assert viewers.permissions.count() == before + 1
