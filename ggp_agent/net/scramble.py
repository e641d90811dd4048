"""Rules in other words: servers rename everything in a rulesheet, so that no player can know the game by its names.

Every name and every variable becomes a made-up word, the same one everywhere. Keywords, connectives and numbers stay.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ggp_agent.errors import GdlSyntaxError, ProtocolError
from ggp_agent.gdl.reader import Group, Node, read, shorten
from ggp_agent.gdl.sheet import CONNECTIVES, KEYWORDS
from ggp_agent.gdl.terms import spell

KEPT = frozenset(KEYWORDS) | CONNECTIVES | {"random", "_", "nil"}
Translate = Callable[[str], str]
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


class Scrambler:
    """One renaming, drawn from a seed. `scramble` and `restore` undo each other on what was scrambled before."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.words: dict[str, str] = {}  # name, or variable with its question mark -> word
        self.names: dict[str, str] = {}  # the other way

    def scramble(self, text: str) -> str:
        """KIF text in other words."""
        return "\n".join(self.rename(item, self.word) for item in read(text).items)

    def restore(self, text: str) -> str:
        """The first term of a text in the words of the rules, as servers read replies: in any case, and what is not
        known stays as it is. ProtocolError if there is no term."""
        try:
            items = read(text, "<reply>").items
        except GdlSyntaxError as error:
            raise ProtocolError(f"{shorten(text, 60)!r} is no term: {error.findings[0]}") from error
        if not items:
            raise ProtocolError("the reply is empty")
        return self.rename(items[0], lambda name: self.names.get(name.lower(), name))

    def rename(self, node: Node, of: Translate) -> str:
        if isinstance(node, Group):
            return f"({' '.join(self.rename(item, of) for item in node.items)})"
        variable = node.name.startswith("?") and not node.quoted
        return of(node.name) if variable else spell(of(node.name))

    def word(self, name: str) -> str:
        """The word for a name, made up when it is met first."""
        if name.lower() in KEPT or name.lstrip("+-").isdecimal():
            return name
        if name not in self.words:
            word = name
            mark = "?" if name.startswith("?") else ""
            while word == name or word.lower() in KEPT or word in self.names:
                count = self.random.choice((2, 2, 3))
                syllables = (self.random.choice(CONSONANTS) + self.random.choice(VOWELS) for _ in range(count))
                word = mark + "".join(syllables)
            self.words[name] = word
            self.names[word] = name
        return self.words[name]


class Plain(Scrambler):
    """No renaming. Replies keep their case, and case matters."""

    def __init__(self) -> None:
        super().__init__(0)

    def word(self, name: str) -> str:
        return name
