# SPDX-License-Identifier: GPL-2.0-only
#
# The playground: core and simulator as WebAssembly, in one page. Needs clang, lld, wasi-libc and
# libclang-rt-dev-wasm32.

sees_userspace/playground := $(own) userspace/sim trace-tools/reader trace-tools/replay
sees_selftests/playground := $(own) trace-tools/reader userspace/sim userspace/playground \
	selftests/core/lib

playground_lacking := $(strip $(if $(shell command -v wasm-ld),,lld) \
	$(if $(shell command -v '$(CLANG)'),,clang) \
	$(if $(wildcard /usr/include/wasm32-wasi/stdio.h),,wasi-libc) \
	$(if $(wildcard /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a \
		/usr/lib/llvm-*/lib/clang/*/lib/wasm32-unknown-wasi/libclang_rt.builtins.a),,\
		libclang-rt-dev-wasm32))

wasm_dir := $(O)/wasm
wasm_cc = $(CLANG)
# Error numbers that WASI lacks have Linux's values.
wasm_flags = --target=wasm32-wasi -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS \
	-DEUCLEAN=117 -DENODATA=61 -I userspace/playground/wasi
wasm_link = $(wasm_cc) $(wasm_flags) -Wl,--gc-sections -Wl,--strip-all -Wl,-z,stack-size=1048576
wasm_libs := -lwasi-emulated-signal -lwasi-emulated-process-clocks -lm

$(eval $(call variant,wasm))
# CFLAGS and OPT are meant for the native compiler.
$(wasm_dir)/obj/%.o: override CFLAGS =
$(wasm_dir)/obj/%.o: OPT = -O2
$(wasm_dir)/obj/%.o: BASE_FLAGS += -g0

# The playground has no durable volumes.
wasm_core := $(filter-out %/remap.c %/volume.c %/volume-format.c %/volume-load.c,$(CORE))
# Leave out files that are replaced by wasi/ or need functions that WASI lacks.
wasm_lib := $(filter-out %/file-claims.c %/interruption.c %/nameless-file.c %/output-file.c \
	%/sibling-program.c %/standard-streams.c,$(LIB)) userspace/playground/wasi/files.c
wasm_sim := $(filter-out %/jobs.c %/parallel.c %/outcome.c %/pipeline.c \
	%/policy-load.c %/trace-import.c,$(SIM))
wasm_readers := $(filter-out %/trace-codec.c %/format-parquet.c %/trace-output.c,\
	$(wildcard trace-tools/reader/*.c)) trace-tools/replay/foreign-trace.c \
	userspace/playground/wasi/traces.c
playground_library := $(filter-out %/command.c,$(wildcard userspace/playground/*.c))

# Native tests use these sources as well, without traces.
tested_playground := $(filter-out %/convert.c,$(playground_library))

playground_names := $(shell sed '/^\#/d' userspace/playground/playground.map)

$(wasm_dir)/sim.wasm: $(call objects,wasm,userspace/playground/command.c $(wasm_core) $(wasm_sim) $(wasm_lib))
	$(call say,LINK,$@)
	$(Q)$(wasm_link) -o $@ $^ $(wasm_libs)

$(wasm_dir)/playground.wasm: $(call objects,wasm,$(playground_library) $(wasm_core) $(wasm_sim) $(wasm_lib) \
		$(wasm_readers)) userspace/playground/playground.map
	$(call say,LINK,$@)
	$(Q)$(wasm_link) -mexec-model=reactor $(addprefix -Wl$(comma)--export=,$(playground_names)) \
		-o $@ $(filter %.o,$^) $(wasm_libs)

playground_page := $(wildcard userspace/playground/page/*)
$(O)/playground.html: $(wasm_dir)/playground.wasm userspace/playground/bundle.py $(playground_page)
	$(call say,GEN,$@)
	$(Q)python3 userspace/playground/bundle.py userspace/playground/page $< $@

# Installed if its build tools are available
ifeq ($(playground_lacking),)
built_for_playground := $(O)/playground.html $(wasm_dir)/sim.wasm
INSTALLED += 644:$(O)/playground.html:$(DATADIR)/doc/approxftl/playground.html
install: $(O)/playground.html
else
LEFT_OUT += playground.html: $(playground_lacking);
endif

playground: ## the FTL in a web page, one file that needs no network
ifeq ($(playground_lacking),)
	+@$(MAKE) $(jobs) $(O)/playground.html
	@echo 'open $(O)/playground.html in a browser'
else
	@echo 'make playground needs packages that are not there: $(playground_lacking)' >&2; exit 1
endif

.PHONY: playground

docs/playground.png: $(O)/playground.html selftests/playground/picture.py
	@AFTL_BUILD=$(abspath $(O)) $(PYTHON) selftests/playground/picture.py
