"""`ggp ...`: the commands. Results go to standard output, progress to standard error.

Exit codes: 0 all is well, 1 something was found wrong, 2 the question was wrong, 130 interrupted.
"""

import sys

from ggp_agent.cli.common import cli, run

__all__ = ["cli", "main"]


def main() -> None:
    sys.exit(run(cli.main))
