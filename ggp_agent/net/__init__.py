"""The GGP protocol: a player that servers can call, and a game master that calls players."""

from ggp_agent.net.config import PlayerConfig
from ggp_agent.net.master import Master, Terms
from ggp_agent.net.player import Player
from ggp_agent.net.record import Record
from ggp_agent.net.server import Server, serve

__all__ = ["Master", "Player", "PlayerConfig", "Record", "Server", "Terms", "serve"]
