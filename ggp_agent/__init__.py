"""A General Game Playing agent: it gets the rules of a game it has never seen, and plays.

    >>> from ggp_agent import load_game, open_engine
    >>> with open_engine(load_game("tic_tac_toe")) as engine:
    ...     start = engine.initial()
    ...     position = engine.look(start)
    ...     print(len(position.legal[0]), position.terminal, engine.playouts(start, 1000, seed=1).plies.max())
    9 False 9

The words, each used for one thing everywhere:

rulesheet   a text in GDL, the Game Description Language, that describes one game
role        a side of the game; `white`. A game has one or more, in the order of the sheet
fluent      a term that may be true in a state; `(cell 1 1 b)`
fact        a fluent that is true, written as text
state       the fluents that are true at one moment; opaque, hashable, and the key of a transposition
position    what the rules say of a state: is it terminal, what is legal, what are the goals
move        what one role does; inside, an index into `engine.moves[role]`
joint move  one move a role, those that only wait (`noop`) included; a step of the game
legal       said of a move that a role may choose in a state
goal        what a state is worth to a role, an integer from 0 to 100
terminal    said of a state in which the game is over
ply         one joint move of a game, counted
playout     a game played at random from some state to its end
perft       the number of paths of so many joint moves, which tells whether two programs play the same game
engine      what steps a game: `prolog` is the reference, `lanes` the fast one
lane        one bit position of machine words, in which one game is played
row         the bits of all lanes for one thing: a fluent, a move, a gate
circuit     the rules of a game as gates; a gate is the AND of literals, and a literal a row or its negation
latch       the row of a sentence that depends on itself
sentence    what a rule derives or asks for; `(legal ?r noop)`
rule        a head that holds if all literals of its body do
"""

from ggp_agent.engine import Engine, Game, Playouts, Position, PrologEngine, open_engine
from ggp_agent.engine.games import load as load_game
from ggp_agent.errors import GgpError

__all__ = ["Engine", "Game", "GgpError", "Playouts", "Position", "PrologEngine", "load_game", "open_engine"]
