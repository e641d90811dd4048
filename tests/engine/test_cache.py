"""The cache folder is shared by all processes of a user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ggp_agent.engine import cache


def test_shrink_deletes_the_oldest_and_minds_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "MAX_BYTES", 25)
    for age, name in enumerate(("new.o", "old.o", "oldest.o")):
        (tmp_path / name).write_bytes(b"x" * 10)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    stat = Path.stat

    def vanish(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        """What another process renames between two looks."""
        if path.name == "other.part":
            raise FileNotFoundError(path)
        return stat(path, follow_symlinks=follow_symlinks)

    (tmp_path / "other.part").write_bytes(b"x")
    monkeypatch.setattr(Path, "stat", vanish)
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    cache.shrink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.o", "old.o", "other.part"]
