"""One small match as three servers send it, byte for byte: ggp-base, the Dresden server and Tiltyard.

The game is that of `fakes.MARKS`, and the player has the role of white: it marks 1, then waits while black marks 2.
Each entry is a request and the body of the reply that the player must give.
"""

from __future__ import annotations

from tests.net.fakes import MARKS

SCRAMBLE = {  # as Tiltyard does with every rulesheet
    "white": "garlic",
    "black": "temple",
    "mark": "shiver",
    "noop": "planet",
    "cell": "basket",
    "succ": "mellow",
    "step": "harbor",
    "control": "violin",
    "chosen": "copper",
    "?r": "?lunch",
    "?x": "?drift",
    "?n": "?ember",
    "?m": "?quilt",
}


def scrambled(rules: str) -> str:
    for name, word in SCRAMBLE.items():
        for before in ("(", " "):
            for after in (")", " "):
                rules = rules.replace(f"{before}{name}{after}", f"{before}{word}{after}")
    return rules


RULES = " ".join(MARKS.split())
SPACED_RULES = " ".join(RULES.replace("(", " ( ").replace(")", " ) ").split())


def base(body: str, extra: str = "") -> bytes:
    return (
        "POST / HTTP/1.0\r\n"
        "Accept: text/delim\r\n"
        "Host: 127.0.0.1\r\n"
        "Sender: GAMESERVER\r\n"
        "Receiver: ggp_agent\r\n"
        "Content-Type: text/acl\r\n"
        f"{extra}"
        f"Content-Length: {len(body)}\r\n"
        "\r\n"
        f"{body}"
    ).encode("ascii")


def dresden(body: str) -> bytes:
    return (
        "POST / HTTP/1.0\r\n"
        "Accept: text/delim\r\n"
        "Sender: Gamecontroller\r\n"
        "Receiver: 127.0.0.1\r\n"
        "Content-type: text/acl\r\n"
        f"Content-length: {len(body)}\r\n"
        "\r\n"
        f"{body}"
    ).encode("ascii")


def tiltyard(body: str, step: int) -> bytes:
    headers = (
        "GGP-Match-ID: tiltyard.marks.1350000000000\r\n"
        f"GGP-Match-Step: {step}\r\n"
        "GGP-Match-Host: Tiltyard\r\n"
        "GGP-Match-Players: ggp_agent,other\r\n"
    )
    return base(body, headers)


def ping(body: str) -> bytes:
    """Tiltyard's ping, which comes from Java's own client."""
    return (
        "POST / HTTP/1.1\r\n"
        "User-Agent: Java/1.7.0\r\n"
        "Host: 127.0.0.1:9147\r\n"
        "Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\n"
        "Connection: keep-alive\r\n"
        "Content-type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n"
        "\r\n"
        f"{body}"
    ).encode("ascii")


AVAILABLE = "( ( name ggp_agent ) ( status available ) )"
BUSY = "( ( name ggp_agent ) ( status busy ) )"
B, D, T = "Base.marks.1350000000000", "marks.1350000000000", "tiltyard.marks.1350000000000"

DIALECTS: dict[str, list[tuple[bytes, str]]] = {
    "ggp-base": [
        (base("( INFO )"), AVAILABLE),
        (base(f"( START {B} white ({SPACED_RULES}) 20 2)"), "ready"),
        (base("( INFO )"), BUSY),
        (base(f"( PLAY {B} NIL )"), "(mark 1)"),
        (base(f"( PLAY {B} (( mark 1 ) noop ) )"), "noop"),
        (base(f"( STOP {B} (noop ( mark 2 ) ) )"), "done"),
        (base(f"( START {B} white ({SPACED_RULES}) 20 2)"), "ready"),
        (base(f"( ABORT {B} )"), "aborted"),
        (base(f"( PREVIEW ({SPACED_RULES}) 20 )"), "ready"),
        (base("( INFO )"), AVAILABLE),
    ],
    "dresden": [
        (dresden(f"(START {D} WHITE ({RULES.upper()}) 20 2)"), "ready"),
        (dresden(f"(PLAY {D} NIL)"), "(MARK 1)"),
        (dresden(f"(PLAY {D} ((MARK 1) NOOP))"), "NOOP"),
        (dresden(f"(STOP {D} (NOOP (MARK 2)))"), "done"),
    ],
    "tiltyard": [
        (ping("( INFO )"), AVAILABLE),
        (ping(""), AVAILABLE),
        (tiltyard(f"( START {T} garlic ({scrambled(SPACED_RULES)}) 20 2)", 0), "ready"),
        (ping("( INFO )"), BUSY),
        (tiltyard(f"( PLAY {T} NIL )", 1), "(shiver 1)"),
        (tiltyard(f"( PLAY {T} (( shiver 1 ) planet ) )", 2), "planet"),
        (tiltyard(f"( STOP {T} (planet ( shiver 2 ) ) )", 3), "done"),
        (ping("( INFO )"), AVAILABLE),
    ],
}
