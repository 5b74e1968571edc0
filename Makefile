# SPDX-License-Identifier: Apache-2.0
# kiln: build, test, install, and run campaigns. `make help` lists the targets.
VERSION := 0.1.0
O       ?= build
PREFIX  ?= /usr/local
DATADIR  = $(PREFIX)/share/kiln
MANDIR   = $(PREFIX)/share/man

TOOLS := kclassify ksample kprompt kllm keval kscore karchive kgrad kcampaign kharness
# Programs that tools start themselves; installed below libexec.
HELPERS := krun-c

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wvla -Wundef -Wformat=2 -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
KFLAGS  := -std=gnu11 -D_GNU_SOURCE -Itools/lib -DKILN_VERSION='"$(VERSION)"' -DKILN_DATADIR='"$(DATADIR)"' $(WARN) $(WERROR)
LIBS    := -ljansson -lpcre2-8 -lcurl -lffi -lseccomp -lmd -lm -ldl -pthread

# A tool is tools/NAME.c or, when it has outgrown one file, tools/NAME/*.c; helpers live in the folder of their tool.
src_of   = $(or $(wildcard tools/$1.c),$(wildcard tools/$1/*.c))
LIB_SRC  := $(wildcard tools/lib/*.c)
LIB_OBJ  := $(LIB_SRC:%.c=$O/%.o)
HELPER_SRC := $(wildcard tools/helpers/*.c)
TOOL_SRC := $(foreach t,$(TOOLS),$(call src_of,$t))
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$O/unit/%.t)
TESTTOOL_SRC := $(wildcard tests/tools/*.c)
TESTTOOLS := $(TESTTOOL_SRC:tests/tools/%.c=$O/%)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
OBJ      := $(LIB_OBJ) $(TOOL_SRC:%.c=$O/%.o) $(HELPER_SRC:%.c=$O/%.o) $(UNIT_SRC:%.c=$O/%.o) $(TESTTOOL_SRC:%.c=$O/%.o)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help setup check lint asan valgrind fuzz coverage bench install uninstall clean FORCE \
	trial trials campaign status redo views best

all: $(TOOLS:%=$O/%) $(HELPERS:%=$O/%)

define link_tool
$O/$1: $(patsubst %.c,$O/%.o,$(call src_of,$1)) $O/libkiln.a
endef
$(foreach t,$(TOOLS),$(eval $(call link_tool,$t)))
$(HELPERS:%=$O/%): $O/%: $O/tools/helpers/%.o $O/libkiln.a
$(TESTTOOLS): $O/%: $O/tests/tools/%.o $O/libkiln.a
$(UNIT): $O/unit/%.t: $O/tests/unit/%.o $O/libkiln.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LIBS)
$(TOOLS:%=$O/%) $(HELPERS:%=$O/%) $(TESTTOOLS):
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LIBS)

$O/libkiln.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^
$O/%.o: %.c $O/flags
	@mkdir -p $(@D)
	$(CC) $(KFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
# Objects depend on the flags, not only on files.
$O/flags: FORCE
	@mkdir -p $O; f='$(CC) $(subst ','\'',$(KFLAGS)) $(CPPFLAGS) $(CFLAGS)'; \
	printf '%s\n' "$$f" | cmp -s - $@ || printf '%s\n' "$$f" >$@
-include $(OBJ:.o=.d)

# Tests see the fresh programs first and the data of this tree.
export KILN_DATA ?= $(CURDIR)
TESTENV = PATH='$(abspath $O)':"$$PATH" KILN_BUILD='$(abspath $O)' KILN_DATA='$(CURDIR)'
check: all $(UNIT) $(TESTTOOLS)
	@$(TESTENV) prove -j4 --timer $(wildcard tests/*.t) $(UNIT) </dev/null
