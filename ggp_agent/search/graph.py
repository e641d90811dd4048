"""The position graph as arrays: nodes, edges, and a hash table of positions.

One pool of memory holds one graph or many, each with its own root; a position belongs to one graph. A node is a
position, or a *group* of the moves of one: choosing a move is then walking through groups. Statistics lie on edges.

The moves of a node are listed when a simulation first goes on from it, so most nodes have none. A move gets its edge
when a simulation first takes it; the edges of a node lie together and move to a larger place when they have filled
theirs. An edge is *in the graph* once a simulation that took it has ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine.block import Block, Place
from ggp_agent.errors import ConfigError
from ggp_agent.search.breadth import make_breadths
from ggp_agent.search.config import INFINITE, SearchConfig
from ggp_agent.search.table import (
    EDGES,
    JOINTS,
    LISTED,
    NODES,
    NONE,
    RANDOM,
    STAMP,
    copy_joints,
    fill_table,
    pack_graph,
)

SIMULTANEOUS = -1  # the mover of a position in which several roles choose
UNTRIED, PROVEN = 0.0, -1.0  # the trials of an edge that no simulation has taken, or whose value is proven

# kind of a node
POSITION, GROUP = range(2)
# kind of groups: none or fixed stages; formed from statistics; made when a position gets its edges, from the last
# moves, from a value of each move, or from a table
STAGES, RANKED, NEAR, PRIOR, TABLE = range(5)
# flags of a node
EXPANDED, SOLVED, TERMINAL = 1, 2, 4

MIN_NODES, MIN_EDGES, MIN_JOINTS, MIN_LISTED = 1 << 10, 1 << 12, 1 << 6, 1 << 12
SIZES = 30  # of places for edges, each twice as large as the one before
FIRST_SHARE = 0.05  # of the memory is taken at once
LINE = 64  # bytes of a line of cache
LEAST_WORN = 8 << 20  # bytes in use: fewer are not worth packing
GROWTH = (2.0, 1.5, 1.2)  # tried in turn
MAX_PATH = 1024  # edges
FEW_ROLES = 2  # or fewer: records of nodes and edges are of the same size

# Every array of a pool: name -> (type, shape of one row). "roles", "words" and so on depend on the pool. What is used
# together lies together, as fields of records, because what costs most is to wait for memory.
Shape = tuple[type, tuple[int | str, ...]]
Record = dict[str, Shape]
NODE: Record = {  # what a walk reads of a node
    "kind": (np.int8, ()),  # POSITION or GROUP
    "flags": (np.int8, ()),
    "mover": (np.int16, ()),  # the role that chooses, or SIMULTANEOUS
    "first": (np.int32, ()),  # first edge out
    "edges": (np.int32, ()),  # how many edges out
    "space": (np.int32, ()),  # how many there is space for where they lie
    "list": (np.int32, ()),  # first of its moves that have no edge yet, in `listed`
    "left": (np.int32, ()),  # how many of these
    "level": (np.int32, ()),  # plies from the start of the match when first seen
    "running": (np.int32, ()),  # simulations on their way through it
    "parent": (np.int32, ()),  # first edge in
    "open": (np.int32, ()),  # moves that are not proven
    "counts": (np.float64, ("counts",)),  # layer d: sum of n_d(f) over edges f out; the last one may be depth inf
    "sums": (np.float64, ("sums",)),  # layer d, role: sum of n(f) mu_d(f) over edges f out, likewise
}
NODE_MORE: Record = {
    "hash": (np.uint64, ()),
    "graph": (np.int32, ()),  # to which it belongs
    "position": (np.int32, ()),  # the position of a group; itself for a position
    # Of a group: which one it is. Of a position with groups NEAR: where the last moves were, with RANKED: when to form
    # groups again. And how many stages of the choice lie above its edges
    "label": (np.int32, (2,)),
    "state": (np.uint64, ("words",)),  # what is true, packed
    "value": (np.float64, ("roles",)),  # of a solved node
}
EDGE: Record = {  # what selection reads of an edge, four of them in a line of cache
    "trials": (np.float32, ()),  # n_{d3} and virtual losses, or UNTRIED, or PROVEN
    "gain": (np.float32, ()),  # n_{d3} mu_{d1} for the role whose move it is, or the value that is proven
    "flying": (np.int32, ()),  # simulations on their way through it
    "child": (np.int32, ()),  # node, or NONE
}
EDGE_MORE: Record = {
    "origin": (np.int32, ()),  # node
    "next": (np.int32, ()),  # next edge into the same child
    "deeper": (np.int32, ()),  # does it lead to a group, or to a position first seen deeper than its origin?
    "move": (np.int32, ()),  # of the role; a group if negative: -1 - its number
    "role": (np.int32, ()),  # whose move it is
    "n": (np.int32, ()),  # simulations that took it
    "end_n": (np.int32, ()),  # n': simulations that ended where it leads
    "total": (np.float64, ("roles",)),  # sum of their payoffs
    "end_total": (np.float64, ("roles",)),  # n' mu': sum of payoffs of those that ended there
}
AMAF: Record = {  # RAVE: simulations in which the role of an edge played its move then or later
    "amaf_n": (np.int64, ()),
    "amaf_total": (np.float64, ()),  # sum of its payoffs
}
MARKS: Record = {  # scratch of updates
    "node_mark": (np.int64, (3,)),  # stamp of the update that put it into either list, and on whose path it is
    "delta": (np.float64, (2, "deltas")),  # how counts and sums of a layer have changed, for either list
    "touched": (np.int32, (2,)),  # the two lists: entry k of each
}
EDGE_MARKS: Record = {
    "edge_mark": (np.int64, ()),  # stamp of the update on whose path it is
}
LIST: Record = {
    "listed": (np.int32, ()),  # a move, or a group if negative
}
RECORDS: dict[int, tuple[Record, ...]] = {
    NODES: (NODE, NODE_MORE, MARKS),
    EDGES: (EDGE, EDGE_MORE, AMAF, EDGE_MARKS),
    LISTED: (LIST,),
}


def make_rules(config: SearchConfig, *, grouped: bool) -> dict[str, int | float]:
    """A configuration as numbers for kernels, with the layers that its depths need.

    n_d(e) asks for layer d - 1 of a position and layer d of a group, because depths see through groups; p_d is layer d.
    """
    d1, d2, d3 = config.depths if config.transpositions and not config.update_all else (0, 0, 0)
    more = 1 if grouped else 0
    sum_layers = 0 if d1 in (0, INFINITE) else d1 + more
    count_layers = 1 + max([0, *(d for d in (d2, d3 - 1 + more) if d < INFINITE - 1)])
    deep = max(count_layers, sum_layers) > 1 or INFINITE in (d1, d2, d3)
    return {
        "urgency": float(config.first_play_urgency),
        "virtual_loss": config.virtual_loss,
        "grouped": int(grouped),  # may moves be in groups?
        "transpositions": int(config.transpositions),
        "update_all": int(config.update_all),
        "solve": int(config.solve),
        # Layers above layer 0 know nothing of simulations that ended before an edge had a child.
        "ripe": 1 if deep else config.ripe,
        "rave": float(config.rave),
        "rave_depth": config.rave_depth,
        "d1": d1,
        "d2": d2,
        "d3": d3,
        "even": int(d1 == d3 == 0 or (d1 > 0 and d3 == 1 and not grouped)),  # is n_{d3} what mu_{d1} is a mean of?
        "count_layers": count_layers,  # finite ones
        "sum_layers": sum_layers,
        "deep": int(deep),  # are there layers above layer 0?
        "count_inf": count_layers if INFINITE in (d2, d3) else NONE,  # the layer of depth inf
        "sum_inf": 0 if d1 == INFINITE else NONE,
        "own_inf": count_layers if d3 == INFINITE else NONE,  # where n_{d3} looks
        "parent_layer": count_layers if d2 == INFINITE else d2,  # the layer that is p_{d2}
    }


def new_played(moves: int) -> NDArray[np.int64]:
    """Scratch of RAVE: no simulation has made any of so many moves."""
    played = np.zeros(moves + 1, np.int64)
    played[-1] = 1
    return played


def table_size(nodes: int) -> int:
    """Slots of a hash table: a power of two, at least twice as many as nodes."""
    return 1 << (2 * nodes - 1).bit_length()


def places(record: Record) -> Iterator[tuple[str, Place]]:
    """Where the fields of a record lie: all after the first one whose size depends on the pool lie somewhere else."""
    first, offset = next(iter(record)), 0
    fixed = True
    for name, (kind, row) in record.items():
        yield name, (first, offset if fixed else None)
        fixed &= all(isinstance(part, int) for part in row)
        if fixed:
            offset += np.dtype((kind, row)).itemsize


class Pool:
    """Memory for graphs, up to a limit. `block` is what kernels get."""

    def __init__(
        self,
        config: SearchConfig,
        groups: dict[str, NDArray[Any] | int],
        best: NDArray[np.float64],
        *,
        words: int,
        graphs: int,
        walks: int,
        megabytes: float,
        seed: int,
        worst: NDArray[np.float64] | None = None,
        fixed: Collection[str] = (),
    ) -> None:
        """`best` and `worst` are the best and the worst payoff of each role, `walks` simulations run at once.

        Kernels are faster if they know the rules and the size of records, but then they are compiled for these alone:
        that is done for the default settings and few roles, and for rules that a caller wants to be `fixed`.
        """
        roles = len(best)
        grouped = groups["group_kind"] != STAGES or len(np.atleast_1d(groups["group_key"])) > 0
        rules = make_rules(config, grouped=grouped)
        if roles <= FEW_ROLES and rules == make_rules(SearchConfig(), grouped=False):
            fixed = rules.keys()
        self.limit = int(megabytes * (1 << 20))
        self.sizes: dict[str, int] = {
            "words": words,
            "roles": roles,
            "counts": int(rules["count_layers"]) + (rules["count_inf"] != NONE),
            "sums": roles * (int(rules["sum_layers"]) + (rules["sum_inf"] != NONE)),
            "deltas": 1 + roles,
        }
        deep = rules["deep"] or config.update_all
        self.unused = [] if deep else [MARKS, EDGE_MARKS]
        self.unused += [] if config.rave else [AMAF]
        self.bytes_of = {
            what: sum(self.dtype(record).itemsize for record in records if record not in self.unused)
            for what, records in RECORDS.items()
        }  # bytes for one of each
        self.room = {NODES: max(MIN_NODES, 2 * graphs), EDGES: MIN_EDGES, JOINTS: MIN_JOINTS, LISTED: MIN_LISTED}
        if (need := self.bytes(self.room)) > self.limit:
            raise ConfigError(
                f"a search of this game needs at least {need / 2**20:.1f} megabytes, and {megabytes:.1f} are allowed"
            )
        while (
            self.bytes(larger := {what: room * (1 if what == JOINTS else 2) for what, room in self.room.items()})
            < FIRST_SHARE * self.limit
        ):
            self.room = larger
        # Memory for the largest table; the smaller ones before it are the beginning of that.
        self.slots = np.empty(table_size(self.limit // self.dtype(NODE).itemsize), np.int32)
        arrays = [self.empty(what, record) for what in RECORDS for record in RECORDS[what]]
        used = np.zeros(6, np.int64)  # nodes, edges, joint moves, listed moves; stamp of the last update; random state
        self.block = Block(
            {
                **rules,
                **groups,
                "roles": roles,
                "breadths": make_breadths(config.exploration),
                "best": best,
                "worst": np.zeros(roles) if worst is None else worst,
                "used": used,
                "root": np.full(graphs, NONE, np.int32),  # int32[graphs]: node
                # Walks: simulations on their way, one a lane
                "lane_graph": np.zeros(walks, np.int32),  # int32[lanes]
                "at": np.full(walks, NONE, np.int32),  # int32[lanes]: the node where it stands
                "top": np.zeros(walks, np.int32),  # int32[lanes]: the deepest level on its path
                "length": np.zeros(walks, np.int32),  # int32[lanes]: edges of its path
                # Rows as long as a power of two would all compete for the same lines of cache.
                "path": np.zeros((walks, MAX_PATH + 16), np.int32),  # int32[lanes, ...]: edges
                "nodes": np.zeros((walks, MAX_PATH + 16), np.int32),  # int32[lanes, ...]: their origins
                "payoff": np.zeros((walks, roles)),  # float64[lanes, roles]
                # int64[moves of all roles + 1]: the simulation that last made a move; the one that ends next
                "played": new_played(int(np.asarray(groups["group_offset"])[-1]) if config.rave else 0),
                # A longer walk is played out; the paths of others grow when groups are formed
                "max_path": (MAX_PATH // 2 if groups["group_kind"] == RANKED else MAX_PATH) - roles,
                # int32[2, 2]: x and y of the last two moves before the root, the latest first, or NONE
                "last": np.full((2, 2), NONE, np.int32),
                # int32[SIZES]: the first free place for 8, 16, ... edges; `next` of its first edge is the next one
                "free": np.full(SIZES, NONE, np.int32),
                # int64[2]: NODES + 1, EDGES + 1, ... if room for more of them was missing; whether that is known
                "wanting": np.zeros(2, np.int64),
                "room": np.array(list(self.room.values()), np.int64),  # int64[4]: nodes, edges, joint and listed moves
                "table": self.table(self.room),  # int32[slots]: node
                "joint": self.joint(self.room),
                **{name: array[name] for array in arrays for name in array.dtype.names or () if name != "padding"},
            },
            steady=EDGE | EDGE_MORE | NODE if fixed else EDGE,
            fixed=fixed,
            records={name: place for what in RECORDS for record in RECORDS[what] for name, place in places(record)},
        )

        self.first_room = self.room
        self.restart(seed)

    def restart(self, seed: int) -> None:
        """Be as new: what comes now depends on the seed alone."""
        self.room = self.first_room
        self.block["room"][:] = list(self.room.values())
        self.block["table"], self.block["joint"] = self.table(self.room), self.joint(self.room)
        self.clear()
        self.block["wanting"][:] = 0
        word = np.random.SeedSequence(seed % 2**64).generate_state(1, np.uint64)[0]
        self.block["used"][RANDOM] = word >> np.uint64(1) | np.uint64(1)

    def table(self, room: dict[int, int]) -> NDArray[np.int32]:
        """An empty hash table of positions, at most half full when the room is used up, in place of the one before."""
        table = self.slots[: table_size(room[NODES])]
        table[:] = NONE
        return table

    def joint(self, room: dict[int, int]) -> NDArray[np.int64]:
        """The same for joint moves: int64[slots, 3]: node, number of its joint move, child."""
        return np.full((2 * room[JOINTS], 3), NONE, np.int64)

    def dtype(self, record: Record) -> np.dtype[Any]:
        def shape(parts: tuple[int | str, ...]) -> tuple[int, ...]:
            return tuple(self.sizes[part] if isinstance(part, str) else part for part in parts)

        fields: list[tuple[str, type, tuple[int, ...]]] = [
            (name, kind, shape(row)) for name, (kind, row) in record.items()
        ]
        size = np.dtype(fields).itemsize
        if size > LINE // 4:
            fields.append(("padding", np.uint8, (-size % LINE,)))
        return np.dtype(fields)

    def empty(self, what: int, record: Record) -> NDArray[Any]:
        """Blank records, as many as the limit allows of this kind, that begin with lines of cache.

        The system gives memory to a program when it is first used, so what is not used costs nothing.
        """
        dtype = self.dtype(record)
        most = min(self.limit // self.bytes_of[what], (1 << 31) - 1)
        size = dtype.itemsize * (1 if record in self.unused else most)
        memory = np.zeros(size + 4 * LINE, np.uint8)  # selection reads four lines, of which a node may have one
        skip = -memory.ctypes.data % LINE
        return memory[skip : skip + size].view(dtype)

    def bytes(self, room: dict[int, int]) -> int:
        """The memory of a pool with this room."""
        tables = 48 * room[JOINTS] + 16 * room[NODES]  # which are powers of two
        return tables + sum(room[what] * size for what, size in self.bytes_of.items())

    def grow(self, what: int) -> bool:
        """Make room for more nodes, edges or joint moves; false if that would exceed the limit."""
        for factor in GROWTH if what != JOINTS else (2.0,):
            room = {**self.room, what: int(self.room[what] * factor)}
            if self.bytes(room) <= self.limit and room[what] < 1 << 31:
                break
        else:
            return False
        self.room, block = room, self.block
        block["room"][:] = list(room.values())
        if what == JOINTS:
            old = block["joint"]
            block["joint"] = self.joint(room)
            copy_joints(block, old)
            return True
        if what == NODES:
            block["table"] = self.table(room)
            fill_table(block)
        return True

    def used(self, what: int) -> int:
        return int(self.block["used"][what])

    @property
    def in_use(self) -> int:
        """Bytes of the memory that graphs take now."""
        return self.bytes({what: self.used(what) for what in self.room})

    @property
    def fill(self) -> float:
        """How much of the memory that is allowed is in use, 0..1."""
        return min(1.0, self.in_use / self.limit)

    @property
    def is_worn(self) -> bool:
        """Is it time to throw away what cannot be reached?

        It takes time in proportion to what is in use, so that must have doubled. But memory that was used before is
        nearer, and the system need not be asked for more.
        """
        return self.in_use > max(2 * self.packed, LEAST_WORN)

    def joints(self) -> NDArray[np.int64]:
        """All joint moves that are known, in the order of their nodes."""
        joint: NDArray[np.int64] = self.block["joint"]
        slots = np.flatnonzero(joint[:, 0] != NONE)
        return joint[slots[np.argsort(joint[slots, 0], kind="stable")]]

    def compact(self) -> None:
        """Keep only what the roots reach. No simulation may be on its way."""
        block, joints = self.block, self.joints()
        block["joint"][:] = NONE
        block["table"][:] = NONE
        pack_graph(block, joints)
        block["node_mark"][:] = 0
        block["edge_mark"][:] = 0
        block["used"][STAMP] = 0
        self.packed = self.in_use

    def clear(self) -> None:
        """Forget all graphs."""
        self.packed = 0  # bytes in use when this was last cleared or compacted
        self.block["used"][:STAMP] = 0
        self.block["free"][:] = NONE
        self.block["root"][:] = NONE
        self.block["table"][:] = NONE
        self.block["joint"][:] = NONE
