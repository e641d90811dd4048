"""Settings of the player: the shipped file says what the defaults are, and wrong ones are named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.errors import ConfigError
from ggp_agent.net import PlayerConfig
from ggp_agent.net.config import default_file
from ggp_agent.search.config import FIELDS, SearchConfig


def test_the_shipped_file_holds_every_default_with_a_comment() -> None:
    table = tomllib.loads(default_file())
    assert PlayerConfig.parse(table) == PlayerConfig()
    assert set(table["search"]) == set(FIELDS)
    assert set(table) == {"name", "host", "port", "margin_seconds", "silence_seconds", "playouts", "seed", "search"}
    for line in default_file().splitlines():
        assert not re.match(r"\w+ =", line) or re.search(r'("|\d) +# \S', line), line


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(
        'name = "mine"\nmargin_seconds = 2\n[search]\nworkers = 3\nsolve = false\nc = 0.7'
    )
    config = PlayerConfig.load(tmp_path / "my.toml")
    assert config.name == "mine" and config.margin_seconds == 2.0 and config.port == 9147
    assert config.search == SearchConfig(workers=3, solve=False, exploration=0.7)
    changed = config.with_search({"d": "inf:0:1", "workers": "2"})
    assert changed.search == SearchConfig(workers=2, solve=False, exploration=0.7, depths=(1_000_000, 0, 1))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"nam": "x"}, "there is no setting nam"),
        ({"name": 5}, "a text is needed"),
        ({"name": "two words"}, "letters, digits"),
        ({"name": "x" * 30}, "2 to 20"),
        ({"name": "Random"}, "another word"),
        ({"port": "9147"}, "a whole number is needed"),
        ({"port": 70000}, "0..65535"),
        ({"port": True}, "a whole number is needed"),
        ({"margin_seconds": -1}, "0 or more"),
        ({"margin_seconds": float("nan")}, "0 or more"),
        ({"silence_seconds": 0}, "more than 0"),
        ({"playouts": -1}, "0 or more"),
        ({"search": 5}, "must be a table"),
        ({"search": {"dd": "1"}}, "there is no setting dd"),
        ({"search": {"d": "1:0"}}, "three depths"),
    ],
)
def test_wrong_settings_are_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        PlayerConfig.parse(table)


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    for data in (b"name = ", b"\xff\xfe", b"#" * 200_000):
        (tmp_path / "bad.toml").write_bytes(data)
        with pytest.raises(ConfigError, match=r"bad\.toml"):
            PlayerConfig.load(tmp_path / "bad.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        PlayerConfig.load(tmp_path / "none.toml")
