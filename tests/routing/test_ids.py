"""Request ids."""

import threading
import uuid

from routing.ids import uuid7


def test_ids_are_uuids_of_version_7() -> None:
    identifier = uuid.UUID(uuid7())
    assert (identifier.version, identifier.variant) == (7, uuid.RFC_4122)


def test_each_id_is_greater_than_the_one_before() -> None:
    ids = [uuid7() for _ in range(20_000)]
    assert ids == sorted(set(ids))


def test_threads_never_make_the_same_id() -> None:
    made: list[str] = []

    def make() -> None:
        made.extend([uuid7() for _ in range(5_000)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 20_000


def test_a_clock_that_goes_back_does_not_take_the_ids_with_it(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    first = uuid7()
    monkeypatch.setattr("time.time_ns", lambda: 0)
    assert uuid7() > first
