# Everyday commands, for a checkout with a virtual environment in .venv (`make test` makes one).
# `make VENV=/path/to/venv check` takes another one.
VENV ?= .venv
BIN := $(VENV)/bin
PATTERNS := $(BIN)/postmortem patterns check --no-attack
# Structure, names, documents, values, rules, order and verdict: what most changes touch.
FAST := $(addprefix tests/contracts/test_, layers.py names.py sizes.py traits.py documents.py) \
	$(addprefix tests/core/test_, message.py passages.py visible.py) \
	$(addprefix tests/rules/test_, catalogue.py conditions.py engine.py first_lines.py) \
	tests/diagnosis/case/test_order.py tests/diagnosis/inference/test_verdict.py

.DEFAULT_GOAL := help
.PHONY: help check format lint types patterns fast test

help:  ## Show these targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

check:  ## Before each commit, at most a minute: format, lint, types, rules, fast tests
	@$(MAKE) -j2 --output-sync=target --no-print-directory format lint types patterns fast

format:  ## Check the format (ruff format without --check mends it)
	$(BIN)/ruff format --check -q

lint:  ## Lint
	$(BIN)/ruff check -q

types:  ## Check types (strict)
	$(BIN)/mypy

patterns:  ## Check the rules and prove each on its examples
	$(PATTERNS)

fast:  ## Run the fast tests
	$(BIN)/python -m pytest -q $(FAST)

test:  ## Run the test command of README.md, whole: installs everything first
	bash -c "$$(sed -n '/^<!-- test command -->$$/,/^```$$/p' README.md | sed -n '/^```bash$$/,/^```$$/p' | sed '/^```/d')"
