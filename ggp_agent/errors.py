"""Every error that ggp_agent raises on purpose.

    GgpError
    ├── GdlError (ValueError)      a rulesheet is wrong; carries all its findings
    │   ├── GdlSyntaxError         it cannot be read
    │   └── GdlRuleError           it can be read, but its rules are not GDL
    ├── EngineError                an engine cannot go on: the game is broken in this position, or the engine is
    │   ├── EngineTimeout          it took longer than allowed; the child that ran it was killed
    │   └── CannotGround           the rules have no finite ground form within the limits: use the Prolog engine
    ├── IllegalMove (ValueError)   a move that the position does not allow
    ├── ProtocolError (ValueError) a message that is not of the GGP protocol
    └── ConfigError (ValueError)   a setting, name or path that makes no sense

An opponent's timeout or illegal move is not an error but an entry in the record of the match.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

SHOWN = 20  # findings printed in full; a broken file may have millions


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong, or looks wrong, at one place of a rulesheet."""

    line: int
    column: int
    severity: Literal["error", "warning"]
    code: str  # a short name of the kind of finding, e.g. "unsafe"
    message: str  # what is wrong and what to do
    text: str = ""  # the term or rule it is about
    source: str = "<text>"

    def __str__(self) -> str:
        place = f"{self.source}:{self.line}:{self.column}" if self.line else self.source
        text = f"\n    {self.text}" if self.text else ""
        return f"{place}: {self.severity}: {self.message} [{self.code}]{text}"


class GgpError(Exception):
    """The root: catch this to catch everything of ours."""


class GdlError(GgpError, ValueError):
    """A rulesheet is wrong. `findings` holds every error and warning of the file, in the order of the text."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(sorted(findings))
        errors = [finding for finding in self.findings if finding.severity == "error"]
        lines = [str(error) for error in errors[:SHOWN]]
        if len(errors) > SHOWN:
            lines.append(f"... and {len(errors) - SHOWN:,} more errors")
        super().__init__("\n".join(lines))


class GdlSyntaxError(GdlError):
    """The text is not KIF."""


class GdlRuleError(GdlError):
    """The rules are not GDL."""


class EngineError(GgpError):
    """An engine cannot answer; the message names the position."""


class EngineTimeout(EngineError):
    """An engine took too long. The child process that ran it was killed and a new one takes its place."""


class CannotGround(EngineError):
    """The rules have no ground form within the limits; the Prolog engine can still play them."""


class IllegalMove(GgpError, ValueError):
    """A move that the position does not allow."""


class ProtocolError(GgpError, ValueError):
    """A message that is not of the GGP protocol."""


class ConfigError(GgpError, ValueError):
    """A setting, a name or a path that makes no sense."""
