"""Decisive moves, found by gates: what wins at once, and what lets another role win (Teytaud and Teytaud, 2010).

A role that can win at once need not consider its other moves. A role that cannot need not consider a *blunder*, a move
after which the other one wins at once, unless all its moves are like that. So a search sees two plies farther, in
playouts too.

A move wins if the state that it leads to is terminal and has the best goal of its role and the worst of all others, so
that others cannot hope for a better way to lose. Blunders are known in games of two roles only: with three, who is to
win may depend on what somebody prefers.

Gates say so of the state before the move: those of `terminal` and `goal`, in which every fluent is replaced by what
says that it will be true, in which in turn every `does` is replaced by true or false. Most of that is the same for all
moves of a role, so that only the gates are made anew that feel the move. And because the game is not over yet, what
alone would end it is false. The same once more, with "the other role has a move that wins" in the place of `terminal`
and `goal`, tells which moves are blunders.

This works where one role at a time has a choice, and what the others do is known. A literal that the legality of a move
rests on, such as (true (control white)), *silences* another role if all its moves but one are illegal where it holds.

Nothing is claimed that does not hold, but not all that holds is found: no win that takes many things at once, such as
that no piece is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from ggp_agent.engine.network import FALSE, TRUE, Network, implied

MAX_WIDTH = 8  # literals that must hold together for a move to win: more seldom do, and would cost most
MAX_WORK = 1_000_000  # literals that are looked at, at most: about a second
TRIED = 8  # moves, after which it is seen how much work all will be
MAX_GROWTH, LITTLE = 16, 5_000  # times the literals of the rules, or so many, are not too many

Values = dict[int, int]  # node -> the literal that takes its place
Moves = list[list[int]]  # role -> a literal for each of its moves


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the literals of a network stand for."""

    fluents: list[int]
    next: list[int]  # that the fluents will be true
    does: Moves
    legal: Moves
    terminal: int
    best: list[int]  # role -> that it has the best goal there is
    worst: list[int]
    latches: set[int]  # nodes


class TooLarge(Exception):
    """The gates would be more than they are worth."""


def keep_decisive(network: Network, rules: Rules) -> Moves:
    """The literals that say which moves to consider; nothing if nothing is known, or it would take too many gates."""
    kept: Moves = []
    try:
        decisive = Decisive(network, rules)
        wins = decisive.find_wins()
        if any(literal != FALSE for literals in wins for literal in literals):
            kept = decisive.keep(wins, [[FALSE] * len(moves) for moves in wins])
            kept = decisive.keep(wins, decisive.find_blunders(wins))
    except (TooLarge, RecursionError):
        pass
    return kept


class Decisive:
    """Finds the moves that win, and those that lose."""

    def __init__(self, network: Network, rules: Rules) -> None:
        self.network, self.rules = network, rules
        self.given = len(network.gates)  # later gates are ours
        self.room = max(LITTLE, MAX_GROWTH * sum(len(gate) for gate in network.gates if gate is not None))
        self.work = 0
        self.narrowed: dict[int, int] = {}
        self.users: dict[int, list[int]] = defaultdict(list)
        self.linked = 0  # nodes up to here are in `users`
        self.over = set(self.parts(rules.terminal))
        self.fluent_of = {literal >> 1: number for number, literal in enumerate(rules.fluents)}

    def find_wins(self) -> Moves:
        """The moves that are legal and win."""
        rules = self.rules
        wins = [[FALSE] * len(legal) for legal in rules.legal]
        for role, mine in enumerate(wins):
            worst = [literal for other, literal in enumerate(rules.worst) if other != role]
            for move, after in self.after_moves(role, [rules.terminal, rules.best[role], *worst]):
                mine[move] = self.both([rules.legal[role][move], *after])
        return wins

    def find_blunders(self, wins: Moves) -> Moves:
        """The moves of two roles after which the game goes on and the other can win at once, if the moves are legal."""
        blunders = [[FALSE] * len(legal) for legal in self.rules.legal]
        if len(blunders) == 2:
            for role, mine in enumerate(blunders):
                beaten = self.network.disjunction(wins[1 - role])
                for move, (over, lost) in self.after_moves(role, [self.rules.terminal, beaten]):
                    mine[move] = self.unless(lost, over)
        return blunders

    def keep(self, wins: Moves, blunders: Moves) -> Moves:
        """The moves to consider: those that win, or else those that are no blunders, or else all; if that is cheap."""
        network, kept = self.network, []
        for legal, winning, losing in zip(self.rules.legal, wins, blunders, strict=True):
            pairs = list(zip(legal, losing, strict=True))
            no_win = network.disjunction(winning) ^ 1
            no_other = network.conjunction(network.conjunction([move, bad ^ 1]) ^ 1 for move, bad in pairs)
            rest = (
                network.conjunction([move, no_win, network.disjunction([bad ^ 1, no_other])]) for move, bad in pairs
            )
            kept.append([network.disjunction(pair) for pair in zip(winning, rest, strict=True)])
        new = (node for node in self.cone(chain.from_iterable(kept)) if node >= self.given)
        if sum(len(network.gates[node] or ()) for node in new) > self.room:
            raise TooLarge
        return kept

    # What literals say

    def parts(self, literal: int) -> list[int]:
        """A literal, and those of which it is the OR: all are false where it is."""
        found, todo = {literal: None}, [literal]
        for one in todo:  # grows
            new = [other ^ 1 for other in self.gate(one) if other ^ 1 not in found] if one & 1 else []
            found.update(dict.fromkeys(new))
            todo += new
        self.spend(len(found))
        return list(found)

    def implied(self, literal: int) -> set[int]:
        """Inputs, some of them negated, that hold where a literal does."""
        found = implied(literal, self.network.gates)
        self.spend(len(found))
        return {one for one in found if not self.gate(one)}

    def both(self, literals: Iterable[int]) -> int:
        """The literal that says that all of these hold, or less: without gates of too many literals."""
        some = [literal for literal in literals if literal != TRUE]
        some = [one for one in some if not any(one & 1 and other ^ 1 in self.gate(one) for other in some)]
        if self.network.simplify(held for literal in some for held in self.implied(literal)) is None:
            return FALSE
        return self.narrow(self.network.conjunction(some))

    def gate(self, literal: int) -> tuple[int, ...]:
        """The literals of the gate of a literal; none for an input."""
        return self.network.gates[literal >> 1] or ()

    def narrow(self, literal: int) -> int:
        """A literal that holds only where this one does, without new gates of too many literals."""
        gate = self.gate(literal)
        if not gate or literal >> 1 < self.given:
            return literal
        if literal not in self.narrowed:
            self.spend(len(gate))
            if literal & 1:
                found = self.network.disjunction([self.narrow(other ^ 1) for other in gate])
            elif len(gate) > MAX_WIDTH:
                found = FALSE
            else:
                found = self.network.conjunction([self.narrow(other) for other in gate])
            self.narrowed[literal] = self.narrowed[found] = found
        return self.narrowed[literal]

    def unless(self, literal: int, over: int) -> int:
        """The literal that says that one holds and not the other, or less."""
        if literal == FALSE or over == TRUE:
            return FALSE
        literals = [self.narrow(literal)]
        for part in self.parts(over):
            gate = self.gate(part)
            if gate and part & 1:  # an OR, of which the parts come next
                continue
            if len(gate) <= MAX_WIDTH or part >> 1 < self.given:
                literals.append(part ^ 1)
            elif not self.excludes(self.implied(part), literals[0], {}):
                return FALSE
        return self.network.conjunction(literals)

    def excludes(self, held: set[int], literal: int, known: dict[int, bool]) -> bool:
        """Is a literal seen to be false where all of these hold?"""
        if literal not in known:
            gate = self.gate(literal)
            self.spend(1 + len(gate))
            if not gate:
                known[literal] = literal ^ 1 in held
            elif literal & 1:
                known[literal] = all(self.excludes(held, other ^ 1, known) for other in gate)
            else:
                known[literal] = any(self.excludes(held, other, known) for other in gate)
        return known[literal]

    # What other roles do

    def excluded(self, literal: int) -> Iterator[int]:
        """Literals that cannot hold together with that of an input."""
        yield literal ^ 1
        group = self.network.group_of.get(literal >> 1)
        if group is not None and not literal & 1:
            nodes, _ = self.network.groups[group]
            self.spend(len(nodes))
            yield from (2 * node for node in nodes if 2 * node != literal)

    def silencers(self, role: int) -> dict[int, int]:
        """Literal -> the only move of a role that can be legal where it holds; TRUE if it never has another one."""
        legal = self.rules.legal[role]
        possible = {move for move, literal in enumerate(legal) if literal != FALSE}
        if len(possible) == 1:
            return {TRUE: possible.pop()}
        barred: dict[int, set[int]] = defaultdict(set)
        for move in possible:
            for held in self.implied(legal[move]):
                for literal in self.excluded(held):
                    barred[literal].add(move)
        left = {literal: possible - moves for literal, moves in barred.items() if len(moves) == len(possible) - 1}
        return {literal: moves.pop() for literal, moves in left.items()}

    def by_answers(self, role: int) -> dict[tuple[int, ...], list[int]]:
        """The moves of a role with which all others have one legal move only, by what those others do."""
        others = [other for other in range(len(self.rules.legal)) if other != role]
        silencers = [self.silencers(other) for other in others]
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for move, literal in enumerate(self.rules.legal[role]):
            held = sorted({TRUE, *self.implied(literal)})
            answers = [next((known[one] for one in held if one in known), None) for known in silencers]
            does = [self.rules.does[o][a] for o, a in zip(others, answers, strict=True) if a is not None]
            if literal != FALSE and len(does) == len(others):
                found[tuple(does)].append(move)
        return found

    # What a move leads to

    def after_moves(self, role: int, wanted: list[int]) -> Iterator[tuple[int, list[int]]]:
        """The moves of a role with which others have no choice, each with what some literals will be after it."""
        for others, moves in self.by_answers(role).items():
            yield from self.after(role, others, moves, wanted)

    def after(
        self, role: int, others: tuple[int, ...], moves: list[int], wanted: list[int]
    ) -> Iterator[tuple[int, list[int]]]:
        rules = self.rules
        self.link()
        after = self.cone(wanted)
        fluents = [node for node in after if node in self.fluent_of]
        before = self.cone(rules.next[self.fluent_of[node]] for node in fluents)
        if not rules.latches.isdisjoint(after | before):
            raise TooLarge  # a loop would have to be made anew for every move

        def state(*values: Values) -> Values:
            self.spend(len(fluents))
            return {node: self.unless_over(value(rules.next[self.fluent_of[node]], *values)) for node in fluents}

        # If the role made no move at all
        made = {literal >> 1: FALSE for literals in rules.does for literal in literals}
        made.update({literal >> 1: TRUE for literal in others})
        self.replace(self.touched(made, before), made, {})
        moved = state(made, {})
        self.replace(self.touched(moved, after), moved, {})
        begun = self.work
        for number, move in enumerate(moves):
            if number == TRIED and begun + (self.work - begun) * len(moves) // TRIED > MAX_WORK:
                raise TooLarge  # before the end, which would not be reached
            mine = {rules.does[role][move] >> 1: TRUE}
            self.replace(self.touched(mine, before), mine, made)
            changed = {node: literal for node, literal in state(mine, made).items() if literal != moved[node]}
            self.replace(self.touched(changed, after), changed, moved)
            yield move, [value(literal, changed, moved) for literal in wanted]

    def link(self) -> None:
        """Note what new gates use."""
        for node in range(self.linked, len(self.network.gates)):
            for literal in self.network.gates[node] or ():
                self.users[literal >> 1].append(node)
        self.linked = len(self.network.gates)

    def cone(self, literals: Iterable[int]) -> set[int]:
        """The nodes that these literals rest on."""
        found: set[int] = set()
        todo = [literal >> 1 for literal in literals]
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo += [literal >> 1 for literal in self.network.gates[node] or ()]
        return found

    def touched(self, nodes: Iterable[int], cone: set[int]) -> list[int]:
        """The gates of a cone that rest on some nodes, each after those that it uses."""
        found: set[int] = set()
        todo = list(nodes)
        while todo:
            new = [user for user in self.users[todo.pop()] if user in cone and user not in found]
            found.update(new)
            todo += new
        return sorted(found)

    def replace(self, gates: list[int], values: Values, base: Values) -> None:
        """Add what takes the place of these gates where other nodes have these values."""
        self.spend(sum(len(self.gate(2 * node)) for node in gates))
        for node in gates:
            gate = self.gate(2 * node)
            literals = [value(literal, values, base) for literal in gate]
            same = all(map(int.__eq__, literals, gate))
            values[node] = self.unless_over(2 * node if same else self.network.conjunction(literals))

    def spend(self, literals: int) -> None:
        self.work += literals
        if self.work > MAX_WORK:
            raise TooLarge

    def unless_over(self, literal: int) -> int:
        """A literal, or what it is because the game is not over."""
        return FALSE if literal in self.over else TRUE if literal ^ 1 in self.over else literal


def value(literal: int, values: Values, base: Values) -> int:
    """What takes the place of a literal."""
    node = literal >> 1
    found = values.get(node)
    if found is None:
        found = base.get(node, 2 * node)
    return found ^ (literal & 1)
