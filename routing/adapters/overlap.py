"""What a target says beyond the text that a client already has; the pieces it comes in do not matter.

Replayed: asked from the start, the target says all of it again, or something else. Continued: asked to go on, it says
the rest, or all of it again, since some providers put the given beginning first.
"""

SURE = 16  # characters; a repetition of fewer may be how the text goes on: `#`, and `# Title` after it


class DivergedError(Exception):
    """The target says something else, or it cannot be told whether it repeats itself or goes on."""


class Replayed:
    """Lets through what follows an exact repetition."""

    def __init__(self, sent: str) -> None:
        self._sent = sent
        self._at = 0  # characters repeated so far

    def take(self, piece: str) -> str:
        """What is new in a piece. Raises DivergedError."""
        known = len(self._sent) - self._at
        if known <= 0:
            return piece
        if not self._sent.startswith(piece[:known], self._at):
            raise DivergedError
        self._at += min(known, len(piece))
        return piece[known:]

    def rest(self) -> str:
        """What was held back, now that no text follows. Raises DivergedError for an answer that is shorter."""
        if self._at < len(self._sent):
            raise DivergedError
        return ""


class Continued:
    """Lets through what follows `prefill`, the sent text without the white space at its end.

    Anthropic refuses a beginning that ends in white space, and models go on badly from one. The white space that was
    left out is what the target is likely to begin with, and the client has it.
    """

    def __init__(self, sent: str) -> None:
        self.prefill = sent.rstrip()
        self._space = sent[len(self.prefill) :]
        self._echoed: int | None = 0  # characters of the beginning repeated so far; None once that is decided

    def take(self, piece: str) -> str:
        """What is new in a piece. Raises DivergedError."""
        if self._echoed is None:
            return self._after_space(piece)
        left = len(self.prefill) - self._echoed
        if self.prefill.startswith(piece[:left], self._echoed):
            if len(piece) < left:
                self._echoed += len(piece)
                return ""
            if not _is_sure(self.prefill):
                raise DivergedError
            piece = piece[left:]
        else:  # it looked like a repetition, and is how the text goes on
            piece = self.prefill[: self._echoed] + piece
        self._echoed = None
        return self._after_space(piece)

    def rest(self) -> str:
        """What was held back, now that no text follows."""
        held = self.prefill[: self._echoed or 0]
        self._echoed = None
        return self._after_space(held)

    def _after_space(self, piece: str) -> str:
        if not (self._space and piece):
            return piece
        known = 0
        while known < min(len(self._space), len(piece)) and self._space[known] == piece[known]:
            known += 1
        self._space = self._space[known:] if known == len(piece) else ""
        return piece[known:]


def _is_sure(text: str) -> bool:
    """Whether saying it once more can only be a repetition: not for a short text, nor for one made of a repeated part."""
    return len(text) >= SURE and (text + text).find(text, 1) == len(text)
