# Thin: every command below can be typed by hand. For GNU make 3.81 and the BSD tools, as Macs have them.

SHELL = /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

PORT = 8000
SYSTEM = cifar_optimizers
ARGS =
PAGE =

RUN = .venv/bin/python

.PHONY: help
help: ## list these commands
	@echo "make COMMAND [NAME=value ...]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

# ---- Read and train ----

.PHONY: serve
serve: .venv/.site ## read the site, both languages, live: http://127.0.0.1:8000 (PORT=8001)
	@$(RUN) tools/serve_site.py --port $(PORT)

.PHONY: train
train: .venv/.examples ## train a network (SYSTEM=cifar_optimizers ARGS="--epochs 2")
	@test -f "examples/$(SYSTEM)/train.py" || { \
	  echo "SYSTEM=$(SYSTEM) is unknown; choose one of: $$(cd examples && ls -d */train.py | sed 's|/train.py||' | tr '\n' ' ')" >&2; \
	  exit 2; }
	@$(RUN) examples/$(SYSTEM)/train.py $(ARGS)

.PHONY: check-setup
check-setup: .venv/.examples ## is this machine ready to train, and if not, what to do
	@$(RUN) examples/check_setup.py $(ARGS)

# ---- Check ----

.PHONY: test
test: .venv/.dev ## run every test; what was skipped, and why, is listed at the end
	@$(RUN) tools/run_tests.py $(ARGS)

.PHONY: test-long
test-long: .venv/.dev ## the slow checks as well
	@$(RUN) tools/run_tests.py --long $(ARGS)

.PHONY: lint
lint: .venv/.dev ## check the form of code, pages, shell scripts and workflows
	@$(RUN) tools/lint.py $(ARGS)

.PHONY: site
site: .venv/.site ## strict build of both languages into site/
	@$(RUN) tools/build_site.py

# ---- Write ----

.PHONY: stale
stale: .venv/.site ## list the Chinese pages whose English page has changed
	@$(RUN) tools/parity.py stale

.PHONY: synced
synced: .venv/.site ## after reviewing a Chinese page: mark it as up to date (PAGE=start/check-setup.md)
	@test -n "$(PAGE)" || { echo "Say which page: make synced PAGE=start/check-setup.md" >&2; exit 2; }
	@$(RUN) tools/parity.py synced "$(PAGE)"

.PHONY: record
record: .venv/.dev ## run the commands whose output the pages show, and record it again
	@$(RUN) tools/record.py $(ARGS)

.PHONY: lock
lock: .venv/.site ## choose the newest versions again: requirements/*.txt from pyproject.toml
	@tools/lock.sh

.PHONY: clean
clean: ## remove what was made and say how much disk that was; runs and data stay
	@tools/clean.sh

# ---- Environments ----
# The script decides what is missing, in milliseconds when nothing is: it also finds a Python that has gone, a moved
# folder and an interrupted installation, which the dates of files do not show.

.venv/.site .venv/.examples .venv/.dev: always
	@tools/environment.sh $(subst .,,$(notdir $@))

.PHONY: always
always:
