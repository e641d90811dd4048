"""Pictures of circuits and of how fast they run, with matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ggp_agent.engine.circuit import Circuit
from ggp_agent.errors import ConfigError

MAX_DRAWN = 400  # rows in a picture of a circuit


def pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ConfigError("pictures need matplotlib: pip install 'ggp-agent[plot]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot as module

    return module


def save(figure: Any, path: Path) -> None:
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=100)
    except ValueError as error:  # an ending that means no kind of picture
        raise ConfigError(f"{path} cannot be a picture: {error}") from error
    finally:
        pyplot().close(figure)


def labels(circuit: Circuit) -> dict[int, str]:
    """Row -> what it means, for inputs and outputs."""
    found = {1 + number: fluent for number, fluent in enumerate(circuit.fluents)}
    for role, moves in enumerate(circuit.moves):
        for number, move in enumerate(moves):
            found[int(circuit.move_starts[role]) + number] = f"does {circuit.roles[role]} {move}"
            found[int(circuit.legal_starts[role]) + number] = f"legal {circuit.roles[role]} {move}"
    for number, fluent in enumerate(circuit.fluents):
        found[circuit.next_start + number] = f"next {fluent}"
    found[circuit.terminal >> 1] = "terminal"
    return found


def draw(circuit: Circuit, path: Path) -> None:
    """The circuit from left to right: inputs, gates by their depth; a red line is a negated one.

    Without the gates of decisive moves, which are not part of the rules.
    """
    gates = circuit.plain_gates
    if gates > MAX_DRAWN:
        raise ConfigError(f"a picture of {gates:,} gates would show nothing; up to {MAX_DRAWN} can be drawn")
    depths, targets, all_literals = (
        circuit.depths(),
        circuit.targets[:gates],
        circuit.literals[: circuit.offsets[gates]],
    )
    used = {int(literal) >> 1 for literal in all_literals} | set(targets.tolist())
    columns: dict[int, list[int]] = defaultdict(list)
    for row in sorted(used):
        columns[int(depths[row])].append(row)
    place: dict[int, tuple[float, float]] = {}
    order: dict[int, float] = {}
    inputs: dict[int, list[int]] = defaultdict(list)
    for gate, target in enumerate(targets.tolist()):
        inputs[target] += [int(x) for x in circuit.literals[circuit.offsets[gate] : circuit.offsets[gate + 1]]]
    for depth in sorted(columns):  # a gate stands at the height of what it uses
        rows = columns[depth]
        rows.sort(key=lambda row: sum(order.get(x >> 1, 0.0) for x in inputs[row]) / max(1, len(inputs[row])))
        for number, row in enumerate(rows):
            order[row] = (number + 0.5) / len(rows)
            place[row] = (float(depth), 1 - order[row])
    plt = pyplot()
    height = max(6.0, 0.13 * max(map(len, columns.values())))
    figure, axes = plt.subplots(figsize=(3.2 * len(columns) + 2, height))
    for target, literals in inputs.items():
        for literal in literals:
            (x1, y1), (x2, y2) = place[literal >> 1], place[target]
            axes.plot([x1, x2], [y1, y2], color="tab:red" if literal & 1 else "0.6", linewidth=0.5, zorder=1)
    axes.scatter(*zip(*place.values(), strict=True), s=9, color="tab:blue", zorder=2)
    for row, text in labels(circuit).items():
        if row in place:
            axes.annotate(text, place[row], fontsize=5, xytext=(3, 0), textcoords="offset points", va="center")
    axes.set_xlabel("depth")
    axes.set_yticks([])
    axes.set_title(f"{gates} gates, {len(all_literals)} literals; red lines are negated")
    save(figure, path)


def plot_speed(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Steps a second against literals, one point a game, interpreter and machine code; numbers name the games."""
    sized = sorted((result for result in results if result["literals"]), key=lambda result: result["literals"])
    names = list(dict.fromkeys(result["game"] for result in sized))
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(12, 7))
    for engine, colour, name in (("interpreted", "tab:orange", "interpreter"), ("lanes", "tab:blue", "machine code")):
        points = [result for result in sized if result["engine"] == engine]
        sizes, rates = [r["literals"] for r in points], [r["steps_per_second"] for r in points]
        axes.scatter(sizes, rates, s=16, color=colour, label=name)
        if engine == "lanes":
            for result, size, rate in zip(points, sizes, rates, strict=True):
                number = names.index(result["game"]) + 1
                above = (0, 5 if number % 2 else -11)  # neighbours in size apart from each other
                axes.annotate(number, (size, rate), fontsize=7, xytext=above, textcoords="offset points", ha="center")
    axes.set(xscale="log", yscale="log", xlabel="literals of all gates", ylabel="steps a second, one core")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(loc="lower left")
    axes.set_title("What a step costs: random playouts of all games")
    listed = "\n".join(f"{number:2} {name}" for number, name in enumerate(names, start=1))
    axes.text(1.02, 1.0, listed, transform=axes.transAxes, fontsize=7.5, family="monospace", va="top")
    save(figure, path)
