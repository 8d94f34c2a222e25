# SPDX-License-Identifier: GPL-2.0-only
#
# make install: programs, library, manual pages, module sources for DKMS.
#
# INSTALLED lists all installed files as MODE:SOURCE:DESTINATION; the build.mk of each part adds its
# own. It may use BINDIR and the like, which are expanded when the rules run.

VERSION := $(shell sed -n 's/^\#define AFTL_VERSION "\(.*\)"/\1/p' dm-approxftl/release.h)

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
PKGCONFIGDIR = $(LIBDIR)/pkgconfig
PYTHONDIR = $(PREFIX)/lib/approxftl/python
DATADIR = $(PREFIX)/share
MANDIR = $(DATADIR)/man
# DKMS reads only /usr/src. Any other PREFIX, possibly without root, gets the sources below itself.
DKMSDIR = $(if $(filter /usr /usr/local,$(PREFIX)),/usr,$(PREFIX))/src/dm-approxftl-$(VERSION)

MANUALS := $(wildcard userspace/*/*.rst userspace/*/*/*.rst trace-tools/*/*.rst)
manual_of = $(plain_dir)/man/$(basename $(notdir $(1)))
section_of = $(subst .,,$(suffix $(basename $(1))))

PAGES := $(foreach m,$(MANUALS),$(call manual_of,$(m)))

$(foreach m,$(MANUALS),$(eval $(call manual_of,$(m)): $(m)))
$(PAGES): dm-approxftl/release.h
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$(Q)sed 's/^:Manual group:.*/&\n:Version: approxftl $(VERSION)/' $(filter %.rst,$^) | rst2man --strict - $@

# JSON schemas of the tools' output
FIELDS := $(wildcard userspace/*/*.fields trace-tools/*/*.fields)
schema_of = $(plain_dir)/schemas/$(basename $(notdir $(1))).schema.json
SCHEMAS := $(foreach f,$(FIELDS),$(call schema_of,$(f)))

$(foreach f,$(FIELDS),$(eval $(call schema_of,$(f)): $(f)))
$(SCHEMAS): packaging/make_schema.py dm-approxftl/core/base/mode-list.h
	@mkdir -p $(@D)
	$(call say,SCHEMA,$@)
	$(Q)python3 $< $(filter %.fields,$^) $@

MODULE_SOURCES := Kbuild $(sort $(shell find dm-approxftl -name '*.[ch]'))

INSTALLED += $(foreach p,$(PROGRAMS),755:$(p):$(BINDIR)/$(notdir $(p))) \
	$(foreach m,$(MANUALS),644:$(call manual_of,$(m)):$(MANDIR)/man$(call \
		section_of,$(m))/$(basename $(notdir $(m)))) \
	$(foreach f,$(wildcard fio-profiles/*.fio),644:$(f):$(DATADIR)/approxftl/$(f)) \
	$(foreach f,$(SCHEMAS),644:$(f):$(DATADIR)/approxftl/schemas/$(notdir $(f))) \
	$(foreach f,$(MODULE_SOURCES),644:$(f):$(DKMSDIR)/$(f)) \
	644:$(O)/dkms.conf:$(DKMSDIR)/dkms.conf \
	644:packaging/60-approxftl.rules:$(PREFIX)/lib/udev/rules.d/60-approxftl.rules \
	644:packaging/approxftl.sysusers:$(PREFIX)/lib/sysusers.d/approxftl.conf \
	644:packaging/completion/approxftl.bash:$(DATADIR)/bash-completion/completions/approxftl \
	644:packaging/completion/_approxftl:$(DATADIR)/zsh/site-functions/_approxftl

$(O)/dkms.conf: packaging/dkms.conf.in dm-approxftl/release.h
	@mkdir -p $(@D)
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@

field = $(word $(1),$(subst :, ,$(2)))

define newline


endef

install: all $(O)/dkms.conf $(PAGES) $(SCHEMAS) ## programs, manuals, module sources, into DESTDIR and PREFIX
	$(foreach f,$(INSTALLED),$(Q)install -D -m $(call field,1,$(f)) $(call field,2,$(f)) \
		'$(DESTDIR)$(call field,3,$(f))'$(newline)	)
	$(foreach l,$(INSTALLED_LINKS),$(Q)mkdir -p '$(DESTDIR)$(dir $(call field,2,$(l)))' && \
		ln -sf $(call field,1,$(l)) '$(DESTDIR)$(call field,2,$(l))'$(newline)	)
	@echo 'installed into $(DESTDIR)$(PREFIX), module sources into $(DESTDIR)$(DKMSDIR)'
	@[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || echo 'now, once: ldconfig; systemd-sysusers; udevadm control --reload'

uninstall: ## remove what install has put there, and the module that DKMS has of it
	$(Q)[ -n '$(DESTDIR)' ] || ! [ /usr/src/dm-approxftl-$(VERSION) -ef '$(DKMSDIR)' ] || \
		! [ -e /var/lib/dkms/dm-approxftl/$(VERSION) ] || dkms remove dm-approxftl/$(VERSION) --all
	$(Q)rm -f $(foreach f,$(INSTALLED),'$(DESTDIR)$(call field,3,$(f))') \
		$(foreach l,$(INSTALLED_LINKS),'$(DESTDIR)$(call field,2,$(l))')
	$(Q)for folder in '$(DESTDIR)$(DKMSDIR)' '$(DESTDIR)$(DATADIR)/approxftl'; do \
		[ ! -d "$$folder" ] || find "$$folder" -depth -type d -empty -delete; \
	done

install-module: ## build and install the module for the running kernel, or KERNEL=RELEASE, by DKMS
	$(if $(filter /usr/src/%,$(DKMSDIR)),,dkms add $(DKMSDIR))
	dkms install dm-approxftl/$(VERSION) $(if $(KERNEL),-k '$(KERNEL)')

.PHONY: install install-module uninstall
