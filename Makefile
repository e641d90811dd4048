# Everything a newcomer needs:  make play   make test
VENV := .venv
GGP := $(VENV)/bin/ggp
RUN := $(VENV)/bin/python -m

.PHONY: play test lint types unit perft bench clean

play: $(VENV)/.ready
	$(GGP) play connect_four --seed 1 --seconds 0.2

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

$(VENV)/.ready: pyproject.toml tools/setup.sh
	tools/setup.sh $(VENV) ""
	@touch $@

$(VENV)/.ready-dev: pyproject.toml tools/setup.sh
	tools/setup.sh $(VENV) "[dev]"
	@touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
