"""What all commands share: the group they belong to, options, output, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from ggp_agent.engine import ENGINES
from ggp_agent.errors import ConfigError, GgpError
from ggp_agent.search.config import SearchConfig

OUT = Console(highlight=False, soft_wrap=True)
ERR = Console(highlight=False, soft_wrap=True, stderr=True)

MAX_STEPS = 10_000


def engine_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--engine", "engine_name", type=click.Choice(ENGINES), default=default, show_default=True)


seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
steps_option = click.option(
    "--max-steps", type=click.IntRange(1), default=MAX_STEPS, show_default=True, help="Joint moves before giving up."
)


set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the search, such as d=1:0:1 or c=0.7."
)


def read_settings(settings: tuple[str, ...]) -> SearchConfig:
    """What `--set` says."""
    parts = [text.partition("=") for text in settings]
    if wrong := [text for text, (name, equals, _) in zip(settings, parts, strict=True) if not name or not equals]:
        raise ConfigError(f"--set {wrong[0]}: NAME=VALUE is needed")
    return SearchConfig.parse({name: value for name, _, value in parts})


def tell(message: str) -> None:
    """Something that the user should know, beside the result."""
    ERR.print(f"ggp: {escape(message)}")


# The module that adds each command. It is imported when the command is asked for: some need a while.
MODULES = {
    **dict.fromkeys(("check", "format", "trace", "perft", "games", "circuit"), "rules"),
    **dict.fromkeys(("serve", "match", "replay"), "net"),
    "play": "play",
    "analyse": "search",
    "bench": "bench",
    "tournament": "arena",
    "lab": "lab",
}


class Commands(click.Group):
    """All commands, by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in MODULES:
            import_module(f"ggp_agent.cli.{MODULES[cmd_name]}")
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ggp-agent")
def cli() -> None:
    """General Game Playing: read the rules of any game in GDL, check them, play it."""


def finished(terminal: bool, max_steps: int) -> int:
    if not terminal:
        ERR.print(f"the game is not over after {max_steps:,} joint moves; --max-steps allows more")
    return 0 if terminal else 1


def run(command: Callable[..., Any]) -> int:
    """The exit code of a command, with every error of ours as a message."""
    try:
        result = command(standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        ERR.print("interrupted")
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ConfigError as error:
        ERR.print(f"ggp: {escape(str(error))}")
        return 2
    except OSError as error:  # a file that cannot be written, and the like
        ERR.print(f"ggp: {escape(str(error))}")
        return 1
    except GgpError as error:
        ERR.print(escape(str(error)))
        return 1
