"""Settings as users write them."""

from __future__ import annotations

import math

import pytest

from ggp_agent.errors import ConfigError
from ggp_agent.play.spec import PlayerSpec
from ggp_agent.search.config import INFINITE, Limit, SearchConfig


def test_a_player_is_read_from_its_text_and_says_its_settings_again() -> None:
    spec = PlayerSpec.parse("ucd,d=inf:0:2,playouts=2000,groups=stages,solve=off,fpu=1.5,name=deep")
    assert spec.name == "deep" and spec.limit == Limit(playouts=2000)
    assert spec.config.depths == (INFINITE, 0, 2) and not spec.config.solve
    settings = {"d": "inf:0:2", "fpu": "1.5", "solve": "off", "groups": "stages"}
    assert spec.config.settings() == settings and SearchConfig.parse(settings) == spec.config
    assert PlayerSpec.parse("http://localhost:9147").kind == "http"


@pytest.mark.parametrize(
    ("text", "depths", "settings"),
    [
        ("ucd", (1, 0, 1), {}),
        ("ucd,groups=near", (0, 0, 0), {"groups": "near"}),
        ("ucd,d=1:0:1,groups=near", (1, 0, 1), {"d": "1:0:1", "groups": "near"}),
        ("ucd,d=0:0:0", (0, 0, 0), {"d": "0:0:0"}),
    ],
)
def test_depths_that_are_not_set_are_others_where_moves_are_grouped(
    text: str, depths: tuple[int, int, int], settings: dict[str, str]
) -> None:
    config = PlayerSpec.parse(text).config
    assert config.depths == depths and config.settings() == settings
    assert SearchConfig.parse(settings) == config


@pytest.mark.parametrize(
    "text",
    [
        "minimax",
        "ucd,d=1:0",
        "ucd,d=1:0:x",
        "ucd,d=-1:0:0",
        "ucd,d=1:0:65",
        "ucd,c=nan",
        "ucd,c=-1",
        "ucd,c=high",
        "ucd,lanes=-1",
        "ucd,lanes=513",
        "ucd,workers=0",
        "ucd,groups=some",
        "ucd,parallel=no",
        "ucd,solve=maybe",
        "ucd,speed=9",
        "ucd,playouts=0",
        "ucd,playouts=many",
        "ucd,seconds=-1",
        "ucd,c",
        "ucd,c=1,c=2",
        "random,c=1",
        "",
    ],
)
def test_what_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        PlayerSpec.parse(text)


def test_a_limit_limits() -> None:
    with pytest.raises(ConfigError):
        Limit()
    with pytest.raises(ConfigError):
        Limit(seconds=math.nan)
