# SPDX-License-Identifier: GPL-2.0-only
#
# Verbs in Python: for each a program that finds the package and runs one of its modules

python_verbs := calibrate compare drives embeddings figures model parquet report study synth weights worn
python_programs := $(addprefix $(plain_dir)/approxftl-,$(python_verbs))
python_files := $(shell cd trace-tools && find approxftl_tools -name '*.py' -o -name '*.css' \
	-o -name '*.js' -o -name '*.html' -o -name '*.toml' -o -name '*.csv')

PROGRAMS += $(python_programs)
INSTALLED += $(foreach f,$(python_files),644:trace-tools/$(f):$(PYTHONDIR)/$(f))

$(python_programs): trace-tools/approxftl_tools/start.sh $(plain_dir)/python-tools
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sed 's/@VERB@/$(patsubst approxftl-%,%,$(@F))/' $< >$@ && chmod 755 $@

# The package of the verbs, and the library's Python binding
python_folders := $(CURDIR)/trace-tools:$(CURDIR)/userspace/python

# Tells the programs in the build directory where the package and its Python are.
$(plain_dir)/python-tools: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(python_folders)' "$$(selftests/install-packages --venv)" | \
		cmp -s - $@ || printf '%s\n' '$(python_folders)' \
		"$$(selftests/install-packages --venv)" >$@

figures: $(PROGRAM) $(python_programs) ## the papers' figures from scratch, as SVG and CSV: OUT=, FULL=1, SEEDS=N, TRACES=DIR
	@$(plain_dir)/approxftl-figures --papers \
		--output $(or $(OUT),$(O)/figures) $(if $(FULL),--full) \
		$(if $(SEEDS),--seeds '$(SEEDS)') $(if $(TRACES),--traces '$(TRACES)') \
		$(if $(wildcard $(O)/retention/*.json),--mounted '$(O)/retention')

drives: $(PROGRAM) $(python_programs) ## real drives beside their emulation (minutes): TABLES=DIR, NAMES='wd-zn540 ...', OUT=page.html
	@$(plain_dir)/approxftl-drives $(NAMES) $(if $(TABLES),--tables '$(TABLES)') --results '$(O)/drives' \
		--html '$(or $(OUT),$(O)/drives.html)'

worn: $(PROGRAM) $(python_programs) ## file systems and databases on failing flash (an hour; continues): CELL=STACK/LIFE, KERNEL=uml, SEED=N, STUDY=FILE, OUT=page.html
	@$(plain_dir)/approxftl-worn --progress --jobs $(or $(JOBS),2) $(if $(CELL),--cell '$(CELL)') $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(SEED),--seed '$(SEED)') $(if $(STUDY),--study '$(STUDY)') --results '$(O)/worn' --html '$(or $(OUT),$(O)/worn.html)'

.PHONY: drives figures worn
