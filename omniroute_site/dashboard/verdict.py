"""The board in a sentence: what is out, what happens next, who answers instead."""

from collections.abc import Sequence

from omniroute_site.dashboard.board_rows import Phrase, Verdict
from omniroute_site.dashboard.rows import CALM, Circuit
from omniroute_site.dashboard.selectors.state import Now
from omniroute_site.dashboard.standing import answers_first, chosen_first

NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
MOST_NAMES = 3  # names that a sentence can carry


def judge(circuits: Sequence[Circuit], now: Now) -> Verdict:
    """What an operator needs to know first."""
    served = [circuit for circuit in circuits if circuit.enabled]
    if not served:
        return Verdict((Phrase("No provider yet."),), "No provider", "off")
    out = [circuit for circuit in served if circuit.out]
    limping = [circuit for circuit in served if not circuit.out and circuit.rank < CALM]
    if not out and not limping:
        return Verdict((Phrase(_all_well(len(served))),), "All healthy", "ok")
    phrases = [*_said_of_out(out, len(served)), *_said_of_limping(limping), *_said_of_chains(now)]
    if not out:
        return Verdict(tuple(phrases), _title(limping, "needs a look", "need a look"), "degraded")
    return Verdict(tuple(phrases), _title(out, "out", "out"), "open")


def _all_well(number: int) -> str:
    return "The one provider is healthy." if number == 1 else f"All {number} providers healthy."


def _title(circuits: Sequence[Circuit], one: str, many: str) -> str:
    return f"{circuits[0].slug} {one}" if len(circuits) == 1 else f"{len(circuits)} {many}"


def _said_of_out(out: Sequence[Circuit], number: int) -> list[Phrase]:
    if not out:
        return []
    if len(out) == 1:
        return [*_fate(out[0]), Phrase(". ")]
    phrases = [Phrase(f"{_spelled(len(out))} of {_spelled(number).lower()} providers are out: ")]
    for position, circuit in enumerate(out[:MOST_NAMES]):
        phrases += [Phrase(", ")] if position else []
        phrases += _fate(circuit)
    if len(out) > MOST_NAMES:
        phrases.append(Phrase(f" and {len(out) - MOST_NAMES} more"))
    return [*phrases, Phrase(". ")]


def _fate(circuit: Circuit) -> list[Phrase]:
    """A name in its tone, and what happens to it next."""
    name = Phrase(circuit.slug, tone=circuit.tone)
    if circuit.forced_mode == "open":
        return [name, Phrase(" is held open")]
    if circuit.state == "HALF_OPEN":
        return [name, Phrase(" is being probed")]
    return [name, Phrase(" is open, retrying "), Phrase("", until=circuit.retry_at)]


def _said_of_limping(limping: Sequence[Circuit]) -> list[Phrase]:
    phrases: list[Phrase] = []
    for circuit in limping[:MOST_NAMES]:
        phrases += [Phrase(circuit.slug, tone=circuit.tone), Phrase(f" {_complaint(circuit)}. ")]
    if len(limping) > MOST_NAMES:
        phrases.append(Phrase(f"{len(limping) - MOST_NAMES} more need a look. "))
    return phrases


def _complaint(circuit: Circuit) -> str:
    if circuit.forced_mode:
        return "is held closed"
    if circuit.state == "DEGRADED":
        return "is degraded"
    cooling = [connection.slug for connection in circuit.connections if connection.cooling]
    if cooling:
        return f"has {cooling[0]} cooling down" if len(cooling) == 1 else f"has {len(cooling)} connections cooling down"
    return "has a locked model"


def _said_of_chains(now: Now) -> list[Phrase]:
    """Only of chains that are not answered by their first choice; silent ones first."""
    dead: list[str] = []
    moved: list[tuple[str, str]] = []
    for chain in now.table.chains.values():
        first = chosen_first(chain)
        if not chain.enabled or first is None:
            continue
        answering = answers_first(chain, now)
        if answering is None:
            dead.append(chain.model)
        elif answering is not first and answering.provider is not first.provider and chain.strategy == "priority":
            moved.append((chain.model, answering.provider.slug))
    phrases = []
    if dead:
        names = ", ".join(dead[:MOST_NAMES]) + (f" and {len(dead) - MOST_NAMES} more" if len(dead) > MOST_NAMES else "")
        phrases += [Phrase("Nothing answers ", tone="open"), Phrase(f"{names}. ")]
    for model, provider in moved[: max(1, MOST_NAMES - len(dead))]:
        phrases.append(Phrase(f"{model} is answered by {provider}. "))
    return phrases


def _spelled(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)
