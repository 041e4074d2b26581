.DEFAULT_GOAL := help
.PHONY: help install check test test-all release integration fuzz bench demo thrift docs screens site clean java

BIN := .venv/bin
INSTALLED := .venv/.lakeport-installed
INSTALLED_DEV := .venv/.lakeport-installed-dev
SPARK_CLASSES := .venv/spark-classes.jsa
INPUTS := pyproject.toml constraints.txt scripts/make-environment

# With it, each of the many processes of a test run would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-20s %s\n", $$1, $$2 }'

demo: java $(INSTALLED) ## install, then a tour in SQL through a sample warehouse
	@$(BIN)/lakeport demo

install: $(INSTALLED_DEV) ## make .venv with Lakeport and all that its tests need

check: $(INSTALLED_DEV) ## lint, format, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports --no-cache

test: java $(SPARK_CLASSES) ## every package in minutes: a sample of what test-all runs
	$(BIN)/pytest --ignore=tests/integration -m "not slow" --numprocesses=3 --dist=loadscope

test-all: java $(SPARK_CLASSES) ## all tests that need pip and Java only, with the large profile of Hypothesis
	$(BIN)/pytest --ignore=tests/integration --hypothesis-profile=large --numprocesses=2 --dist=loadscope

integration: java $(SPARK_CLASSES) ## tests against servers that Maven and npm fetch (skipped without Maven, unless LAKEPORT_REQUIRE_INTEGRATION=1)
	$(BIN)/pytest tests/integration --hypothesis-profile=large --numprocesses=2 --dist=loadscope

fuzz: $(INSTALLED_DEV) ## read 2,000 damaged files of all formats; each has to end in rows or in an error of ours
	$(BIN)/python -m tests.fuzz 2000

bench: java $(INSTALLED_DEV) ## print what Lakeport costs, in figures
	$(BIN)/python -m benchmarks

docs: $(INSTALLED_DEV) ## write the generated pages again: docs/properties.md, docs/errors.md
	$(BIN)/python scripts/write_properties_page.py
	$(BIN)/python scripts/write_errors_page.py

screens: java $(INSTALLED_DEV) ## write the screens of docs/shell.md again, as a real shell shows them
	$(BIN)/python -m scripts.write_shell_screens

site: $(INSTALLED_DEV) ## make the documentation's site in build/site
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site

release: java $(INSTALLED_DEV) ## sdist and wheel in dist/, and the wheel tried in a bare environment
	@scripts/make-release

thrift: ## generate the metastore's Thrift bindings again (needs the Apache Thrift compiler 0.17)
	scripts/generate-thrift

clean: ## remove .venv, caches and the sample warehouse
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist lakeport-warehouse spark-warehouse

java:
	@scripts/check-java

$(INSTALLED): $(INPUTS)
	@scripts/make-environment

$(INSTALLED_DEV): $(INPUTS)
	@scripts/make-environment dev

$(SPARK_CLASSES): $(INSTALLED_DEV) | java
	@$(BIN)/python -m tests.java >/dev/null 2>&1 || touch $@
