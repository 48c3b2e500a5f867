"""What is new of an answer whose beginning the client has: all of it, once, or nothing."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing.adapters import sent as sent_texts
from routing.adapters.overlap import Continued, DivergedError, Replayed
from routing.adapters.sent import Sent, with_prefill

LONG = "The quick brown fox jumps over the lazy dog"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
gappy = st.text(st.sampled_from("ab \n"), max_size=40)  # where repetitions and white space are likely


def pieces_of(text: str, cuts: Sequence[int]) -> list[str]:
    """The text cut at these places."""
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


def heard(overlap: Replayed | Continued, pieces: Sequence[str]) -> str:
    return "".join([overlap.take(piece) for piece in pieces]) + overlap.rest()


cuts = st.lists(st.integers(0, 60), max_size=8)


@settings(deadline=None)
@given(texts | gappy, st.integers(0, 60), cuts)
def test_a_repeated_answer_is_heard_once_however_it_is_cut(text: str, died_at: int, cuts: list[int]) -> None:
    sent = text[:died_at]
    assert sent + heard(Replayed(sent), pieces_of(text, cuts)) == text


@settings(deadline=None)
@given(texts | gappy, texts | gappy, cuts)
def test_another_answer_is_never_heard(sent: str, other: str, cuts: list[int]) -> None:
    if other.startswith(sent):
        assert sent + heard(Replayed(sent), pieces_of(other, cuts)) == other
    else:
        with pytest.raises(DivergedError):
            heard(Replayed(sent), pieces_of(other, cuts))


@settings(deadline=None)
@given(texts | gappy, texts | gappy, cuts)
def test_a_continuation_is_heard_whole_but_for_white_space_the_client_has(
    sent: str, more: str, cuts: list[int]
) -> None:
    overlap = Continued(sent + "x")  # ends in no white space
    try:
        assert heard(overlap, pieces_of(more, cuts)) == more
    except DivergedError:
        assert more.startswith(overlap.prefill)
    except AssertionError:  # only what cannot be anything but a repetition is left out
        assert more.startswith(overlap.prefill)
        assert len(overlap.prefill) >= 16


@settings(deadline=None)
@given(gappy, gappy, cuts)
def test_white_space_at_the_end_of_the_sent_text_is_not_doubled(begun: str, more: str, cuts: list[int]) -> None:
    text = f"{begun}x \n{more}"
    sent = f"{begun}x \n"
    overlap = Continued(sent)
    continuation = text.removeprefix(overlap.prefill)
    try:
        assert sent + heard(overlap, pieces_of(continuation, cuts)) == text
    except DivergedError:
        assert continuation.startswith(overlap.prefill)


@settings(deadline=None)
@given(st.integers(18, len(LONG)), cuts, st.booleans())
def test_a_provider_that_says_the_given_beginning_again_is_heard_from_its_end(
    died_at: int, cuts: list[int], spaced: bool
) -> None:
    sent = LONG[:died_at] + (" " if spaced else "")
    text = sent.rstrip() + " and then"
    assert sent + heard(Continued(sent), pieces_of(text, cuts)) == (f"{sent}and then" if sent[-1:] == " " else text)


@pytest.mark.parametrize("sent", ["#", "ha", "=-" * 20])
def test_what_may_be_a_repetition_or_the_text_going_on_is_given_up(sent: str) -> None:
    with pytest.raises(DivergedError):
        heard(Continued(sent), [sent.rstrip(), sent.rstrip(), "!"])


def test_a_beginning_that_only_looks_like_a_repetition_is_part_of_the_answer() -> None:
    assert heard(Continued(LONG), ["The ", "quick", " end."]) == "The quick end."
    assert heard(Continued(LONG), ["The "]) == "The "


def test_only_text_is_continued() -> None:
    sent = Sent()
    sent.take({"role": "assistant", "content": ""})
    sent.take({"content": "Hel", "refusal": None, "tool_calls": []})
    sent.take({"content": "lo"})
    assert (sent.text, sent.only_text) == ("Hello", True)
    for more in ({"tool_calls": [{}]}, {"reasoning_content": "hm"}, {"refusal": "no"}, {"content": [{"text": "x"}]}):
        sent.only_text = True
        sent.take(more)
        assert not sent.only_text


def test_a_text_too_long_to_keep_is_not_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent_texts, "MOST_KEPT", 10)
    sent = Sent()
    sent.say("0123456789")
    assert sent.only_text
    sent.say("x")
    assert (sent.text, sent.only_text) == ("", False)


def test_an_answer_that_the_client_began_itself_goes_on() -> None:
    user = {"role": "user", "content": "ping"}
    assert with_prefill([user], "po") == [user, {"role": "assistant", "content": "po"}]
    begun = [user, {"role": "assistant", "content": "p"}]
    assert with_prefill(begun, "o") == [user, {"role": "assistant", "content": "po"}]
    parts = [user, {"role": "assistant", "content": [{"type": "text", "text": "p"}]}]
    assert with_prefill(parts, "o")[-1]["content"] == [{"type": "text", "text": "p"}, {"type": "text", "text": "o"}]
