"""The GGP player: `python server.py --port 9147 --name NAME`, the same as `ggp serve`."""

import sys

from ggp_agent.cli import cli
from ggp_agent.cli.common import run

if __name__ == "__main__":
    sys.exit(run(lambda **settings: cli.main(["serve", *sys.argv[1:]], **settings)))
