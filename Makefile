# SPDX-License-Identifier: GPL-2.0-only
#
# Entry point for building and testing: `make` lists the targets.

O ?= build
CC = gcc
CLANG ?= clang
OPT ?= -O2
CFLAGS ?=
LDFLAGS ?=
LDLIBS ?= -lm -ldl
CLI_LIBS ?= -lblkid -ldevmapper
OBJCOPY ?= objcopy
SAN ?=
FUZZ_SECONDS ?= 1

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# Characters that make or the shell would interpret in a path
unusable = $(strip $(filter-out 1,$(words [$(1)])) $(foreach c,$(2),$(findstring $(c),$(1))))
reserved := : ' $$
reserved_in_rules := $(reserved) " ` & ; | < > ( ) \ = % \#
ifneq ($(call unusable,$(CURDIR),$(reserved)),)
$(error The name of this folder, $(CURDIR), has a blank, a colon, a quote or a $$ in it, and make \
	cannot work there. Move it to one without)
endif
# O= is not quoted in rules and recipes.
ifneq ($(call unusable,$(O),$(reserved_in_rules)),)
$(error O=$(O) has a blank, a colon, a quote or a $$ in it, or another letter that is the shell's \
	or make's own, and make cannot build there)
endif

# `make -n` prints, and does nothing.
dry_run = $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))

# `make clean` removes only a directory with this file: make created it or found it empty.
mark := $(O)/.approxftl-build
make_mark := mkdir -p '$(O)' && : >'$(mark)'
# These goals need no build directory. Without a goal, make prints help.
building := $(filter-out clean demo-deps deps help install-module,$(MAKECMDGOALS))
ifneq ($(if $(dry_run),,$(building)),)
$(shell { [ -n "$$(ls -A '$(O)')" ] || { $(make_mark); }; } 2>/dev/null)
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')
comma := ,

# ---------------------------------------------------------------- sources

CORE := $(wildcard dm-approxftl/core/*/*.c)
LIB := $(wildcard userspace/lib/*.c)
SIM := $(wildcard userspace/sim/*.c)
CLI := $(wildcard userspace/approxftl/*.c)
# Kernel code that also builds in user space, for the tests in selftests/target
tested_target := dm-approxftl/disk/ownership.c
TEST_PROGRAMS := $(patsubst %.c,%,$(wildcard selftests/*/test-*.c))
FUZZ_PROGRAMS := $(patsubst %.c,%,$(wildcard selftests/*/fuzz-*.c))
ASKED_AREAS := $(patsubst selftests/%/settings,%,$(shell grep -lx asked=yes selftests/*/settings))
AREAS := $(filter-out $(ASKED_AREAS),$(sort $(foreach kind,test-*.c fuzz-*.c test_*.py *.tap.sh *.tap.py,\
	$(patsubst selftests/%/,%,$(dir $(wildcard selftests/*/$(kind)))))))

# Sources linked with selftests/AREA/test-*.c: only the core for the core's tests, which proves
# that the core depends on nothing else; the core and the simulator for all others.
# A part's build.mk can add sources for its area as tested_AREA.
test_support = $(wildcard selftests/core/lib/*.c) $(filter-out selftests/core/lib/%,\
	$(wildcard $(dir $(1))lib/*.c)) $(CORE) \
	$(if $(filter selftests/core/%,$(1)),,$(LIB) $(SIM)) \
	$(tested_$(patsubst selftests/%/,%,$(dir $(1))))

# ---------------------------------------------------------------- flags

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wdeclaration-after-statement
# sees_PART: the include directories of a part, besides its own. Other parts set it in their
# build.mk. A header from any other directory is an error.
own := dm-approxftl userspace/host userspace/lib
sees_dm-approxftl/core := dm-approxftl userspace/host
sees_dm-approxftl/disk := dm-approxftl userspace/host
sees_userspace/lib := dm-approxftl userspace/host
sees_userspace/sim := $(own) trace-tools/reader
sees_userspace/approxftl := $(own) userspace/sim userspace/libapproxftl trace-tools/reader
sees_selftests/core := dm-approxftl userspace/host selftests/core/lib
sees_selftests/cli := $(own) selftests/core/lib
sees_selftests/sim := $(own) userspace/sim trace-tools/reader selftests/core/lib
sees_selftests/bench := $(own)
sees_selftests/volume := $(own) selftests/core/lib
sees_selftests/target := dm-approxftl userspace/host selftests/core/lib selftests/target/lib
sees_selftests/fuzz := $(own) trace-tools/reader userspace/apps userspace/libapproxftl

part_of = $(word 1,$(subst /, ,$(1)))/$(word 2,$(subst /, ,$(1)))
includes_of = $(addprefix -I ,$(sees_$(call part_of,$(1))))
seen = $(foreach v,$(sort $(filter sees_%,$(.VARIABLES))),$(v)=$($(v)))
# -g1: function names and lines, for sanitizers and profilers. Use CFLAGS=-g for a debugger.
BASE_FLAGS = -std=gnu11 $(OPT) -g1 $(WARNINGS) $(CFLAGS)
WERROR_FLAGS := $(if $(filter 1,$(WERROR)),-Werror)

# ---------------------------------------------------------------- variants
#
# Each variant compiles into its own directory: plain (installed, or with the sanitizers of SAN=),
# test and fuzz.

plain_dir := $(O)$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
plain_cc = $(CC)
plain_flags = $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)

# SAN=address,undefined has the same flags and shares this directory.
test_dir := $(O)/san-address-undefined
test_cc = $(CC)
test_flags = -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all
# gold links the seventy test programs in a third of the time.
test_linker := $(if $(shell command -v ld.gold),-fuse-ld=gold)

fuzz_dir := $(O)/fuzz
fuzz_cc = $(CLANG)
fuzz_flags = -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer \
	-fno-sanitize-recover=all

objects = $(patsubst %.c,$($(1)_dir)/obj/%.o,$(2))

# Name the target relatively and absolutely, as O= may be given in either form next time.
depends = -MMD -MP $(foreach name,$(sort $(patsubst $(CURDIR)/%,%,$@) $(abspath $@)),-MT $(name))

# A change of compiler or flags rebuilds the variant; -Werror changes no object.
define variant
$$($(1)_dir)/obj/%.o: %.c $$($(1)_dir)/flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$($(1)_cc) $$(BASE_FLAGS) $$($(1)_flags) $$(call includes_of,$$<) $$(WERROR_FLAGS) $$(depends) -c -o $$@ $$<

$$($(1)_dir)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$($(1)_cc) $$(BASE_FLAGS) $$($(1)_flags) $$(seen)' | cmp -s - $$@ || \
		echo '$$($(1)_cc) $$(BASE_FLAGS) $$($(1)_flags) $$(seen)' >$$@
endef
$(foreach v,$(if $(filter $(plain_dir),$(test_dir)),,plain) test fuzz,$(eval $(call variant,$(v))))

# Link-time optimisation and -O3, which saves a tenth of the processor time of steady garbage
# collection, for the code that runs for each simulated request. Not with a user's OPT=, and not
# with clang, whose linker is in another package.
ifeq ($(origin OPT)$(SAN)$(findstring clang,$(CC)),file)
hot_objects := $(foreach part,dm-approxftl/core userspace/host userspace/sim,obj/$(part)/%.o)
$(addprefix $(plain_dir)/,$(hot_objects)) $(addprefix $(plain_dir)/libsim/,$(hot_objects)): \
	private OPT := -O3 -flto=auto
endif

FORCE:

# ---------------------------------------------------------------- programs

PROGRAM := $(plain_dir)/approxftl
PROGRAMS := $(PROGRAM)

# Link scripts into the build directory. A script resolves the link to find its own directory.
define script
$(plain_dir)/$(notdir $(1)): $(1)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)ln -sfn '$(CURDIR)/$(1)' $$@
endef

# needing HEADER=PACKAGE...,PROGRAM: the program if all headers exist; else nothing, and `make all`
# names the missing packages
has_header = $(if $(filter undefined,$(origin has_$(1))),$(eval has_$(1) := $(shell \
	echo '\#include <$(1)>' | $(CC) $(CFLAGS) -x c -E - >/dev/null 2>&1 && echo yes)))$(has_$(1))
lacking = $(strip $(foreach n,$(1),$(if $(call has_header,$(word 1,$(subst =, ,$(n)))),,\
	$(word 2,$(subst =, ,$(n))))))
needing = $(if $(call lacking,$(1)),$(eval LEFT_OUT += $(notdir $(2)): $(call lacking,$(1));),$(2))
LEFT_OUT :=

# The build.mk of each other part adds to PROGRAMS, EXAMPLES (built like programs, but not installed
# in BINDIR) and tested_AREA, and sets sees_PART.
include $(wildcard userspace/*/build.mk trace-tools/*/build.mk)

EXAMPLES += $(plain_dir)/recovery-cost

include packaging/install.mk

# Manual pages need python3-docutils.
all: $(PROGRAMS) $(EXAMPLES) $(if $(shell command -v rst2man),$(PAGES)) ## build programs, library and manuals, in $(O)
	@[ -z '$(strip $(LEFT_OUT))' ] || echo 'left out, for lack of packages: $(strip $(LEFT_OUT))'

# The functions that a policy in a shared object may call
$(PROGRAM): $(call objects,plain,$(CORE) $(LIB) $(SIM) $(CLI)) userspace/sim/policy-services.list
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -Wl,--dynamic-list=$(filter %.list,$^) \
		-o $@ $(filter-out %.list,$^) $(LDLIBS) $(CLI_LIBS)

$(plain_dir)/recovery-cost: $(call objects,plain,selftests/bench/recovery-cost.c $(CORE) $(LIB))
	$(call say,LINK,$@)
	$(Q)$(plain_cc) $(plain_flags) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

define test_program
$(O)/$(1): $(call objects,test,$(1).c $(call test_support,$(1)))
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(test_cc) $$(test_flags) $$(test_linker) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach t,$(TEST_PROGRAMS),$(eval $(call test_program,$(t))))

define fuzz_program
$(O)/$(1): $(call objects,fuzz,$(1).c $(wildcard $(dir $(1))lib/*.c) selftests/core/lib/account.c \
	$(CORE) $(LIB) $(SIM) $(tested_fuzz))
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(fuzz_cc) -fsanitize=fuzzer,address,undefined $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach t,$(FUZZ_PROGRAMS),$(eval $(call fuzz_program,$(t))))

# ---------------------------------------------------------------- checks

RUN = CC="$(CC)" selftests/run --build $(O) \
	--fuzz-seconds $(FUZZ_SECONDS) $(if $(V),-v)
FAST_AREAS := $(filter-out reports playground fio-profiles kernel kernel-build fuzz claims determinism bench theory league,$(AREAS))
# These areas only read the sources and need no built program.
UNBUILT_AREAS := style runner kernel-build fio-profiles

# area_programs AREAS: the programs that the areas need. A part's build.mk can add programs as
# built_for_AREA. The runner reports a program that does not compile; the others still run.
area_programs = $(if $(filter-out $(UNBUILT_AREAS),$(1)),$(PROGRAMS) $(EXAMPLES)) \
	$(foreach a,$(1),$(built_for_$(a))) $(addprefix $(O)/,\
	$(filter $(addsuffix /%,$(addprefix selftests/,$(1))),$(TEST_PROGRAMS) $(FUZZ_PROGRAMS)))
# A build by clang without optimisation must give the same results. The area study uses it as well.
other_compiler := $(O)/determinism/clang
built_for_determinism := $(other_compiler)/approxftl
$(built_for_determinism): FORCE
	+$(Q)$(MAKE) -s O=$(other_compiler) CC=clang OPT=-O0 WERROR= $@

# One job per processor, unless the user gave -j.
jobs = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

build_and_run = $(if $(strip $(call area_programs,$(1))),\
	$(MAKE) -ks $(jobs) WERROR=1 $(call area_programs,$(1)) || failed=--build-failed;) \
	$(if $(dry_run),echo )$(RUN) $$failed $(2)
# The + of these recipes passes jobs to the submake, but makes `make -n` execute them: hence the
# echo under dry_run.

deps: ## install what building and checking need (says what; nothing twice)
	@selftests/install-packages

# Submakes, because this make looked for packages before they were installed. The programs are built
# while the other packages are installed; every-test reports those that do not compile.
check: ## install what is needed, then run every test
	@selftests/install-packages --building
	+@$(MAKE) $(jobs) deps meanwhile
	+@$(MAKE) every-test

check-all: export AFTL_ALL := 1
check-all: export FUZZ_SECONDS := 30
check-all: check ## the same with what takes long, all on every kernel: nightly (hours)

meanwhile:
	+@$(MAKE) -ks WERROR=1 $(PROGRAMS) $(EXAMPLES) $(addprefix $(O)/,$(TEST_PROGRAMS)) || :

every-test:
	+@$(call build_and_run,$(AREAS))

check-fast: ## the inner loop: no install, no fuzzing, no kernel, no slow test
	+@$(call build_and_run,$(FAST_AREAS),--fast $(FAST_AREAS))

check-%: ## one area:
	+@$(call build_and_run,$*,$*)

# Without permission to install a load generator, selftests/flaky runs without load and says so.
flaky: ## run TEST=AREA[/NAME] N=20 times on a busy machine and report how often it fails
	@[ -n '$(TEST)' ] || { echo 'make flaky: TEST=AREA or TEST=AREA/NAME is wanted' >&2; exit 2; }
	@selftests/run --list $(TEST) >/dev/null
	@selftests/install-packages --load || :
	+@$(if $(strip $(call area_programs,$(firstword $(subst /, ,$(TEST))))),$(MAKE) -ks $(jobs) WERROR=1 \
		$(call area_programs,$(firstword $(subst /, ,$(TEST)))))
	@selftests/flaky --build $(O) --runs $(or $(N),20) $(TEST)

# ---------------------------------------------------------------- the rest

# Python with the packages that `make deps` installed
PYTHON = PATH="$$(selftests/install-packages --venv)/bin:$$PATH" \
	PYTHONPATH=userspace/physics PYTHONPYCACHEPREFIX=$(O)/cache/python python3
PHYSICS = $(PYTHON) -m aftl_physics

demo-deps:
	@selftests/install-packages --demo

demo-programs: $(PROGRAM) $(addprefix $(plain_dir)/approxftl-,app compare demo lab report)
	@:

demo: ## a file system and two policies on an emulated SSD, in a virtual machine
	@selftests/install-packages --demo --building
	+@$(MAKE) $(jobs) demo-deps demo-programs
	@AFTL_BUILD=$(abspath $(plain_dir)) $(plain_dir)/approxftl-demo --output $(O)/demo

raid: deps $(PROGRAM) ## md's RAID-5 over MEMBERS=4 ReSSD devices, or 4,6,10, beside the simulator's (minutes)
	@APPROXFTL=$(abspath $(PROGRAM)) AFTL_BUILD=$(abspath $(O)) \
		userspace/raid/raid $(or $(MEMBERS),4) $(O)/raid

retention: deps all ## networks on a mounted device, over months: SEEDS=6 of each, beside simulated ones (minutes)
	@AFTL_BUILD=$(abspath $(O)) userspace/retention/run $(or $(SEEDS),6) $(O)/retention
	@$(O)/approxftl-figures --papers weights --mounted $(O)/retention --output $(or $(OUT),$(O)/figures)

selftests: ## the module in virtual machines with Debian's kernels; part of check
	+@$(call build_and_run,kernel,kernel)

selftests-debug: deps ## the same in a kernel that finds mistakes, built first (hours)
	@selftests/install-packages --debug-kernel
	+@$(call build_and_run,kernel-debug,kernel-debug)

# Test suites of other projects, from a built checkout
xfstests: ## that of others on our devices beside dm-linear: XFSTESTS=DIR TESTS='generic/001 ...' (hours)
blktests: ## the same: BLKTESTS=DIR TESTS='block ...'
dmtest: ## the same, dmtest-python: DMTEST=DIR TESTS='--rx thin/creation'
xfstests: others = $(abspath $(XFSTESTS)) $(or $(TESTS),-g quick)
blktests: others = $(abspath $(BLKTESTS)) $(or $(TESTS),block)
dmtest: others = $(abspath $(DMTEST)) $(or $(TESTS),--rx thin/)
xfstests blktests dmtest: deps $(PROGRAM)
	@AFTL_BUILD=$(abspath $(O)) ON='$(ON)' FSTYP=$(FSTYP) KERNEL=$(KERNEL) \
		selftests/kernel/run-others $@ $(others)

MANUALS := $(wildcard userspace/*/*.[1-8].rst trace-tools/*/*.[1-8].rst)
site: ## the documents and manual pages as a site with a search, in $(O)/site
	@sphinx-build --version >/dev/null 2>&1 || { \
		echo 'make site: apt-get install python3-sphinx python3-myst-parser' >&2; exit 1; }
	@rm -rf $(O)/site $(O)/site-source && mkdir -p $(O)/site-source/man
	@cp -r docs/. $(O)/site-source && cp $(MANUALS) $(O)/site-source/man
	@sphinx-build -q -W --keep-going $(O)/site-source $(O)/site && echo $(O)/site/index.html

# Passed in the environment, so that a command may contain any character
lab: export LAB_COMMAND := $(value CMD)
lab: ## approxftl lab of the tree, where time counts instructions: CMD='...', SCRIPT=FILE or a shell
	@AFTL_BUILD=$(abspath $(O)) userspace/lab/approxftl-lab $(if $(value CMD),\
		--timeout 3600 --cmd "$$LAB_COMMAND",$(if $(SCRIPT),\
		--timeout 3600 --script '$(SCRIPT)',--shell))

tables: ## recompute the tables of physics from the papers' models
	$(call say,GEN,dm-approxftl/core/nand/physics-tables)
	$(Q)$(PHYSICS) generate --out dm-approxftl/core/nand
	$(Q)$(PHYSICS) states >userspace/playground/cell-states.h

claims: $(PROGRAMS) ## the papers' figures beside ours; NAMES='AX-3 CU'; TRACES=DIR: on real traces; CONTROLS=1: where they must miss; UPDATE=1: into the register
	@AFTL_BUILD=$(abspath $(O)) APPROXFTL=$(PROGRAM) $(PYTHON) selftests/claims/claims.py $(NAMES) \
		$(if $(TRACES),--traces '$(TRACES)') $(if $(CONTROLS),--negative-controls) \
		$(if $(UPDATE),--update)

theory: $(PROGRAM) ## write amplification and waiting beside published forms (minutes); CONTROLS=1: where they must miss
	@APPROXFTL=$(PROGRAM) OPENBLAS_NUM_THREADS=1 $(PYTHON) selftests/theory/theory.py \
		$(NAMES) $(if $(CONTROLS),--controls)

peers: $(PROGRAMS) ## the same requests in MQSim, NVMeVirt, FEMU, checkouts in PEERS=DIR (minutes); NAMES='tpcc'
	@APPROXFTL=$(PROGRAM) $(PYTHON) selftests/peers/peers.py '$(or $(PEERS),$(error PEERS=DIR names a folder with checkouts of MQSim, nvmevirt or FEMU))' $(NAMES)

league: $(PROGRAM) $(if $(filter %.py,$(POLICIES)),$(plain_dir)/libapproxftl-sim.so) ## policies ranked by write amplification beside the optimum (minutes): POLICIES='mine.c mine.py' TRACES=DIR SEEDS=3
	@AFTL_BUILD=$(abspath $(O)) APPROXFTL=$(PROGRAM) OPENBLAS_NUM_THREADS=1 $(PYTHON) selftests/league/league.py --output $(O)/league \
		$(addprefix --policy ,$(POLICIES)) $(if $(TRACES),--traces '$(TRACES)') $(if $(SEEDS),--seeds $(SEEDS)) $(NAMES)

bench: $(PROGRAM) ## what a simulated request costs, beside the bars and BESIDE=/an/older/approxftl
	@AFTL_BUILD=$(O) APPROXFTL=$(PROGRAM) $(PYTHON) selftests/bench/bench.py \
		$(if $(BESIDE),--beside "$(BESIDE)")

bench-kernel: ## what a request costs in the kernel, beside dm-linear and null_blk (minutes)
	@AFTL_BUILD=$(abspath $(O)) $(PYTHON) selftests/bench/bench_kernel.py

bench-nbd: all ## speed and lateness of the nbdkit plugin, beside nbdkit's memory plugin
	@AFTL_BUILD=$(abspath $(O)) $(PYTHON) selftests/bench/bench_nbd.py

bench-python: all ## processor time of the Python library beside the command
	@AFTL_BUILD=$(abspath $(O)) $(PYTHON) selftests/bench/bench_python.py

bench-recovery: $(plain_dir)/recovery-cost ## what it takes to find a volume again after a crash
	@AFTL_BUILD=$(abspath $(O)) $(PYTHON) selftests/bench/bench_recovery.py

bench-shards: $(PROGRAM) ## one simulated run on two processors, and what a shard costs in one
	@AFTL_BUILD=$(O) APPROXFTL=$(PROGRAM) $(PYTHON) selftests/bench/bench_shards.py

mutants: deps ## break the code on purpose and see the tests notice; NAMES='volume kernel/... docs/systems/agcr.md' (long)
	@selftests/mutants/run $(NAMES)

mutants-random: deps ## N=20 operator mutants of the C files that differ from SINCE=COMMIT; SEED=1 draws others
	@selftests/mutants/run --random $(or $(N),20) --seed $(or $(SEED),1) --since '$(SINCE)'

lines: ## count the lines of the tree, beside those of the last tag
	@selftests/lines

clean: ## remove everything that was built
	@[ -e '$(mark)' ] || [ ! -e '$(O)' ] || { echo 'make clean: $(O) had other files in it before' \
		'make did: nothing is removed; what may go is for you to say' >&2; exit 1; }
	$(call say,CLEAN,$(O))
	$(Q)rm -rf '$(O)'$(if $(building), && $(make_mark))

help: ## print this
	@echo 'dm-approxftl: an emulator of 3D-NAND SSDs with approximate storage'
	@echo
	@sed -n 's/^\([a-z%-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile packaging/install.mk $(wildcard */*/build.mk) | while IFS='|' read -r name text; do \
		[ "$$name" != check-% ] || { name=check-AREA text="$$text $(AREAS)"; }; \
		printf '  make %-15s %s\n' "$$name" "$$text"; \
	done | sed 's,\$$(O),$(O),'
	@echo
	@echo '  O=DIR          build there; default build, may be outside the tree'
	@echo '  V=1            print commands, and name the tests that passed'
	@echo '  CC= OPT=-O2    compiler and optimisation; CFLAGS= adds to the flags (-g for a debugger)'
	@echo '  SAN=address,undefined   sanitizers, in a build directory of their own'
	@echo '  WERROR=1       warnings are errors, as in the checks'
	@echo '  FUZZ_SECONDS=1          time of each fuzz harness'

.PHONY: all bench bench-kernel bench-nbd bench-python bench-recovery bench-shards blktests check check-all check-fast claims clean \
	demo demo-deps demo-programs deps dmtest every-test flaky help lab league mutants peers raid retention selftests selftests-debug site tables xfstests \
	FORCE

-include $(shell find $(O) -type f -name '*.d' 2>/dev/null)
