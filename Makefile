# Thin: every command below can be typed by hand. For GNU make 3.81 and the BSD tools, as Macs have them.

SHELL = /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

PORT = 8000
SYSTEM = cifar_optimizers
ARGS =
PAGE =

VENV_PYTHON = .venv/bin/python
export NO_MKDOCS_2_WARNING = 1

.PHONY: help
help: ## list these commands
	@echo "make COMMAND [NAME=value ...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

# ---- Read and train ----

.PHONY: serve
serve: .venv/.site ## read the site, both languages, live: http://127.0.0.1:8000 (PORT=8001)
	@$(VENV_PYTHON) -m mkdocs serve --dev-addr 127.0.0.1:$(PORT)

.PHONY: train
train: known-system .venv/.examples ## train a network (SYSTEM=cifar_optimizers ARGS="--epochs 2")
	@$(VENV_PYTHON) examples/systems.py "$(SYSTEM)" $(ARGS)

.PHONY: check-setup
check-setup: .venv/.examples ## is this machine ready to train, and if not, what to do
	@$(VENV_PYTHON) examples/check_setup.py $(ARGS)

.PHONY: verify-mac
verify-mac: .venv/.$(if $(findstring --full,$(ARGS)),dev,examples) ## verify the handbook on this Mac, in at most ten minutes (ARGS=--plan)
	@$(VENV_PYTHON) examples/verify_handbook.py $(ARGS)

# ---- Check ----

.PHONY: check
check: .venv/.dev ## the quick answer, in about a minute: linters, and tests that start no program and no browser
	@$(VENV_PYTHON) -m tools.run_tests --check

.PHONY: test
test: .venv/.dev .venv-sim/.sim ## run every test, or some (ARGS=tests/snippets/test_device.py)
	@$(VENV_PYTHON) -m tools.run_tests $(ARGS)

.PHONY: test-long
test-long: .venv/.dev .venv-sim/.sim ## the slow checks as well
	@$(VENV_PYTHON) -m tools.run_tests --long $(ARGS)

.PHONY: lint
lint: .venv/.dev ## check the form of code, pages, shell scripts and workflows
	@$(VENV_PYTHON) -m tools.checks.lint $(ARGS)

.PHONY: site
site: .venv/.site ## strict build of both languages into site/
	@$(VENV_PYTHON) -m mkdocs build --strict

# ---- Write ----

.PHONY: stale
stale: .venv/.site ## list Chinese pages that are out of date, and what to check against its sources again
	@$(VENV_PYTHON) -m tools.checks.parity stale
	@$(VENV_PYTHON) -m tools.checks.readings list --short

.PHONY: synced
synced: named-page .venv/.site ## after reviewing a Chinese page: mark it as up to date (PAGE=start/check-setup.md)
	@$(VENV_PYTHON) -m tools.checks.parity synced "$(PAGE)"

.PHONY: record
record: .venv/.dev .venv-sim/.sim ## run the commands whose output the pages show, and record it again
	@$(VENV_PYTHON) -m tools.record_output $(ARGS)

.PHONY: notebooks
notebooks: .venv/.dev ## write the notebooks again from the files that they are made of
	@$(VENV_PYTHON) -m tools.build_notebooks

.PHONY: follow-release
follow-release: .venv/.dev ## read every release of PyTorch again (1.4 GB, 10 minutes): versions, operators, ranges; what changed
	@$(VENV_PYTHON) -m tools.measuring.wheels
	@$(VENV_PYTHON) -m tools.measuring.releases $(ARGS)

.PHONY: lock
lock: .venv/.site ## choose the newest versions again: requirements/*.txt from pyproject.toml
	@tools/lock.sh

.PHONY: clean
clean: ## remove what was made and say how much disk that was; runs and data stay
	@tools/clean.sh

# ---- Mistakes are answered before anything is installed ----

.PHONY: known-system
known-system:
	@python=$$(tools/find_python.sh) && "$$python" examples/systems.py --known "$(SYSTEM)"

.PHONY: named-page
named-page:
	@test -n "$(PAGE)" || { echo "Say which page: make synced PAGE=start/check-setup.md" >&2; exit 2; }

# ---- Environments ----
# The script decides what is missing, in milliseconds when nothing is: it also finds a Python that has gone, a moved
# folder and an interrupted installation, which the dates of files do not show.

.venv/.site .venv/.examples .venv/.dev: always
	@tools/environment.sh $(subst .,,$(notdir $@))

.venv-sim/.sim: .venv/.dev always
	@tools/simulated_environment.sh

.PHONY: always
always:
