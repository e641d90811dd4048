# Everything a newcomer needs:  make play   make test
VENV := .venv
GGP := $(VENV)/bin/ggp
RUN := $(VENV)/bin/python -m

.PHONY: play test lint types unit perft bench matches clean

play: $(VENV)/.ready
	$(GGP) match connect_four server,name=agent server,name=novice,playouts=100 \
		--start-clock 5 --play-clock 2 --seed 1

test: lint types unit

lint: $(VENV)/.ready-dev
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(VENV)/bin/lint-imports

types: $(VENV)/.ready-dev
	$(RUN) mypy

unit: $(VENV)/.ready-dev
	$(RUN) pytest -n 2

# Long checks: every perft count of every game; playouts a second beside OpenSpiel's.
perft: $(VENV)/.ready-dev
	$(RUN) pytest -n 2 -m long

bench: $(VENV)/.ready-dev
	$(GGP) bench playouts --engine lanes --engine interpreted --against open_spiel --plot docs/images/speed.png

# 200 matches in a row over HTTP with clocks of one second: in 20 of them the players think until the clock ends.
matches: $(VENV)/.ready
	$(GGP) bench http --matches 20
	$(GGP) bench http --matches 180 --playouts 300 --seed 100

$(VENV)/.ready: pyproject.toml tools/setup.sh
	tools/setup.sh $(VENV) ""
	@touch $@

$(VENV)/.ready-dev: pyproject.toml tools/setup.sh
	tools/setup.sh $(VENV) "[dev]"
	@touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
