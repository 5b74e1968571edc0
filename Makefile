# SPDX-License-Identifier: Apache-2.0
# kiln: build, test, install, and run campaigns. `make help` lists the targets.
#: make                       the tools, into build/
#: make setup                 install the Debian packages that are missing (ARGS='--tests --analysis': all there are)
#: make check                 all tests            make lint      style, manual pages, schemas
#: make asan                  tests with sanitizers     make valgrind  unit tests under valgrind
#: make fuzz FUZZ_S=60        every fuzz target for 60 s   make coverage  tests with line coverage of tools/ and adopt/
#: make cheats                the corpus of cheats in C (BACKEND=cuda: on a device; FILES=REGEX)
#: make bench                 the figures of this machine     make kill      kill -9 and resume, 200 times
#: make faults N=2000         2000 failing system calls, one by one, in every tool of a campaign (needs strace)
#: make adopt-kill N=100      kill -9 of an adoption at random moments
#: make remote                the tests of evaluations elsewhere: sshd and Slurm on the loopback
#: make campaigns-check       every campaign that ships, as far as this machine can run or build it
#: make V=1                   show the compiler's commands
#: make install PREFIX=/usr/local DESTDIR=   and: make uninstall
#:
#: Campaigns: CAMPAIGN is a folder of campaigns/, or a path with a slash (default: attention).
VERSION := 0.1.0
O       ?= build
PREFIX  ?= /usr/local
DATADIR  = $(PREFIX)/share/kiln
MANDIR   = $(PREFIX)/share/man

TOOLS := kclassify kaudit kbench ksample kprompt kllm keval kscore karchive kgrad kcampaign kharness kprofile kremote kspec kreport krecords kadopt
# Programs that tools start themselves; installed below libexec.
RUNNERS := krun-c krun-gpu krun-opencl
HELPERS := $(RUNNERS) krtc kstep
# Preloaded into applications whose kernel is watched; built next to the helpers.
KWATCH := $(wildcard adopt/kwatch/*.c)

# core: mechanisms that know nothing of kiln's records; model: what kiln knows about them. All tools use both.
LIB_DIRS := core model

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wvla -Wundef -Wformat=2 -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
KFLAGS  := -std=gnu11 -D_GNU_SOURCE $(LIB_DIRS:%=-Itools/%) -I$O/gen \
	-DKILN_VERSION='"$(VERSION)"' $(WARN) $(WERROR)
LIBS    := -ljansson -lpcre2-8 -lffi -lseccomp -lmd -lm -ldl -pthread

# A line per file, so that what a campaign says is not buried; V=1 shows the commands.
V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %s %s\n' $1 $(@:$O/%=%))

# A tool is tools/NAME.c or, when it has outgrown one file, tools/NAME/*.c with everything that only it uses; kadopt is
# a package of its own, adopt/.
src_of   = $(or $(wildcard tools/$1.c),$(wildcard tools/$1/*.c),$(wildcard $(1:k%=%)/*.c))
LIB_SRC  := $(wildcard $(LIB_DIRS:%=tools/%/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$O/%.o)
HELPER_SRC := $(wildcard tools/helpers/*.c)
TOOL_SRC := $(foreach t,$(TOOLS),$(call src_of,$t))
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT     := $(UNIT_SRC:tests/unit/%.c=$O/unit/%.t)
TESTTOOL_SRC := $(wildcard tests/tools/*.c)
TESTTOOLS := $(TESTTOOL_SRC:tests/tools/%.c=$O/%)
# The benchmark of the search runs the tools in its own process, each with its main renamed.
SEARCH    := ksample karchive kgrad
BENCH_OBJ := $(patsubst %.c,$O/%.o,$(wildcard tests/bench/search/*.c)) $(SEARCH:%=$O/bench/%.o)
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
OBJ      := $(LIB_OBJ) $(TOOL_SRC:%.c=$O/%.o) $(HELPER_SRC:%.c=$O/%.o) $(UNIT_SRC:%.c=$O/%.o) $(TESTTOOL_SRC:%.c=$O/%.o) $(BENCH_OBJ)

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
campaign_targets := trial trials campaign status best verify views redo report watch records proof baseline shapes
.PHONY: all help setup check cheats lint asan valgrind fuzz coverage bench remote campaigns-check kill faults adopt-kill install uninstall clean FORCE $(campaign_targets)

all: $(TOOLS:%=$O/%) $(HELPERS:%=$O/%) $O/kwatch.so

define link_tool
$O/$1: $(patsubst %.c,$O/%.o,$(call src_of,$1)) $O/libkiln.a
endef
$(foreach t,$(TOOLS),$(eval $(call link_tool,$t)))
$(HELPERS:%=$O/%): $O/%: $O/tools/helpers/%.o $O/libkiln.a
$(RUNNERS:%=$O/%): $O/tools/helpers/krunner.o
# A candidate cannot put functions of its own in the place of those that they import.
$(RUNNERS:%=$O/%): LDFLAGS += -Wl,-z,relro,-z,now
$O/krun-opencl: $O/tools/helpers/kcl.o
# Functions that candidates find in their runner instead of the run-time library's.
$O/krun-gpu: LDFLAGS += -Wl,--export-dynamic-symbol='cuda*' -Wl,--export-dynamic-symbol=__cudaLaunchKernel
# These loops over tensors are only vectorised with this option.
$O/tools/kharness/values.o $O/tools/kharness/host.o: KFLAGS += -O3 -fopenmp-simd
# It talks to kiln through programs and files, so the model is not on its path.
$O/adopt/%.o: KFLAGS := $(filter-out -Itools/model,$(KFLAGS))
# Only this object knows where the data is, so another PREFIX compiles nothing else again.
$O/tools/core/kutil.o: private KFLAGS += -DKILN_DATADIR='"$(DATADIR)"'
$O/tools/core/kutil.o: $O/datadir
# Without sanitizers, because their library would have to be loaded first.
$O/kwatch.so: $(KWATCH) $(wildcard adopt/kwatch/*.h) adopt/wrapper.h tools/core/kutil.h $O/flags
	$(call say,LD)
	$(Q)$(CC) $(KFLAGS) $(CPPFLAGS) $(filter-out -fsanitize% -fno-sanitize% --coverage,$(CFLAGS)) -fPIC -shared -Wl,-z,defs \
		-o $@ $(KWATCH) -ldl -pthread
$(TESTTOOLS): $O/%: $O/tests/tools/%.o $O/libkiln.a
$(UNIT): $O/unit/%.t: $O/tests/unit/%.o $O/libkiln.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LIBS)
$O/search-bench: $(BENCH_OBJ) $(filter-out %/main.o,$(foreach t,$(SEARCH),$(patsubst %.c,$O/%.o,$(call src_of,$t)))) $O/libkiln.a
$(SEARCH:%=$O/bench/%.o): $O/bench/%.o: tools/%/main.c $O/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(KFLAGS) -Dmain=$*_main -Wno-missing-prototypes -MMD -MP -c -o $@ $<
# Programs that run for every candidate start faster without the dynamic linker; kllm, which loads libcurl, with fewer
# libraries. Where that is impossible they are linked like the others.
ifeq ($(findstring sanitize,$(CFLAGS)),)
$(patsubst %,$O/%,ksample kprompt keval kclassify kaudit kscore karchive kgrad): quick := -static
$O/kllm: quick := -Wl,-Bstatic -ljansson -lpcre2-8 -lmd -Wl,-Bdynamic
endif
quick :=
link = $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
$(TOOLS:%=$O/%) $(HELPERS:%=$O/%) $(TESTTOOLS) $O/search-bench:
	$(call say,LD)
	$(Q)$(if $(quick),$(link) $(quick) $(LIBS) 2>/dev/null ||) $(link) -Wl,--as-needed $(LIBS)

$O/libkiln.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)ar rcs $@ $^
$O/%.o: %.c $O/flags
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(KFLAGS) -MMD -MP -c -o $@ $<
# The table of knobs is made from their schema.
$O/gen/knobs.h: tools/model/knobs.jq docs/schemas/campaign-1.json
	@mkdir -p $(@D)
	$(call say,JQ)
	$(Q)jq -rf $^ >$@
# The tables of metrics and units are made from their list.
$O/gen/units.h: tools/model/units.jq docs/hardware/units.json
	@mkdir -p $(@D)
	$(call say,JQ)
	$(Q)jq -rf $^ >$@
# What a file may contain is made from its schema, too.
$O/gen/%.h: tools/model/form.jq docs/schemas/%-1.json
	@mkdir -p $(@D)
	$(call say,JQ)
	$(Q)jq -rf $^ >$@
$O/tools/model/kcamp.o: $O/gen/knobs.h $O/gen/campaign.h
$O/tools/model/ktask.o: $O/gen/task.h
$O/tools/model/khw.o: $O/gen/units.h
$O/tools/model/kplan.o: $O/gen/plan.h
$O/tools/kaudit/rules.o: $O/gen/audit-rules.h
$O/tools/kclassify/kpattern.o $O/tests/unit/kpattern.o: $O/gen/patterns.h
$O/tools/kllm/kusage.o $O/tests/unit/kusage.o $O/tests/unit/kanswer.o: $O/gen/models.h
$O/tools/kprompt/knowledge.o: $O/gen/routes.h
# Objects depend on the flags, not only on files.
$O/flags: FORCE
	@mkdir -p $O; f='$(CC) $(subst ','\'',$(KFLAGS)) $(CPPFLAGS) $(CFLAGS)'; \
	printf '%s\n' "$$f" | cmp -s - $@ || printf '%s\n' "$$f" >$@
$O/datadir: FORCE
	@mkdir -p $O; printf '%s\n' '$(DATADIR)' | cmp -s - $@ || printf '%s\n' '$(DATADIR)' >$@
-include $(OBJ:.o=.d)

# Tests see the fresh programs first and the data of this tree.
export KILN_DATA ?= $(CURDIR)
export KILN_BUILD := $(abspath $O)
TESTENV = PATH='$(abspath $O)':"$$PATH" KILN_DATA='$(CURDIR)'
# Kernels are timed in many tests, and a busy machine can make them fail: a file that fails runs once more, alone and in
# full, and that result counts.
check: all $(UNIT) $(TESTTOOLS) $O/search-bench
	@rm -f $O/prove; $(TESTENV) prove -j$$(($$(nproc) + 1)) --timer --state=save --statefile=$O/prove $(wildcard tests/*.t) $(UNIT) \
		</dev/null || { echo 'check: what failed runs once more, alone'; \
		$(TESTENV) prove -v --timer --state=failed --statefile=$O/prove </dev/null; }

help:
	@sed -n 's/^#: \{0,1\}//p' Makefile
	@sed -n '/make check/d; s/^#: //p' pipeline.mk
setup:
	@sh tools/setup.sh $(ARGS)
clean:
	rm -rf $O

# A campaign's own targets use this Makefile and not the one in its folder, which anybody may have written. N, CELL and
# FROM are passed on, because they are given on the command line.
CAMPAIGN ?= attention
$(campaign_targets): all
	+@$(MAKE) --no-print-directory -f '$(CURDIR)/pipeline.mk' \
		-C '$(if $(findstring /,$(CAMPAIGN)),$(CAMPAIGN),campaigns/$(CAMPAIGN))' $@

lint:
	@CC='$(CC)' KFLAGS='$(subst ','\'',$(KFLAGS))' sh tests/lint.sh
asan:
	@$(MAKE) O=$O/asan CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined' check
valgrind: $(UNIT)
	@$(TESTENV) KILN_NO_JIT=1 prove -e 'valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite' $(UNIT) </dev/null
# Code that never ran counts too; so does krun-c, which cannot write its counts in the sandbox: it counts as never run.
coverage:
	@mkdir -p $O/coverage && find $O/coverage -name '*.gcda' -delete
	-@$(MAKE) O=$O/coverage CFLAGS='-O0 -g --coverage' check
	@lcov -q -c -i -d $O/coverage/tools -d $O/coverage/adopt -o $O/coverage/none.info
	@lcov -q -c -d $O/coverage/tools -d $O/coverage/adopt -o $O/coverage/run.info
	@lcov -q -a $O/coverage/none.info -a $O/coverage/run.info -o $O/coverage/all.info
	@lcov -q -e $O/coverage/all.info '$(CURDIR)/tools/*' '$(CURDIR)/adopt/*' -o $O/coverage/tools.info
	@lcov -l $O/coverage/tools.info

FUZZ_S ?= 60
FUZZ   := $(FUZZ_SRC:tests/fuzz/%.c=$O/fuzz/%)
$(FUZZ): $O/fuzz/%: tests/fuzz/%.c $(LIB_SRC) | $O/gen/knobs.h $O/gen/campaign.h $O/gen/task.h $O/gen/patterns.h $O/gen/units.h $O/gen/plan.h $O/gen/models.h
	@mkdir -p $(@D)
	clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $(KFLAGS) $(CPPFLAGS) -o $@ $^ $(LIBS)
fuzz: $(FUZZ)
	@for f in $(FUZZ); do mkdir -p $$f.corpus && echo "$$f" && \
		$$f -max_total_time=$(FUZZ_S) -print_final_stats=1 -verbosity=0 -artifact_prefix=$$f. $$f.corpus || exit 1; done

bench: all $(TESTTOOLS) $O/search-bench
	@for b in $(wildcard tests/bench/*.sh); do $(TESTENV) sh $$b || exit 1; done
# The whole corpus in C, or its other half with BACKEND=cuda, or FILES=REGEX; make check takes a sample.
cheats: all
	@$(TESTENV) tests/cheats/run -b '$(or $(BACKEND),c)' -s $(if $(FILES),'$(FILES)')
remote: all
	@$(TESTENV) prove -v tests/remote.t tests/ssh.t tests/slurm.t </dev/null
campaigns-check: all
	@KILN_CAMPAIGNS=full $(TESTENV) prove -v tests/campaigns.t tests/hip.t </dev/null
kill: all
	@$(TESTENV) sh tests/kill.sh 200
faults: all
	@$(TESTENV) sh tests/faults.sh $(if $N,$N,2000)
adopt-kill: all
	@$(TESTENV) sh tests/adopt-kill.sh $(if $N,$N,100)

# Data that the tools search in PREFIX/share/kiln.
DATA := pipeline.mk tools/kernelbench.py adopt/wrapper.h adopt/ld.sh $(wildcard patterns/*.json patterns/profile/*.json docs/schemas/*.json docs/hardware/*.md docs/hardware/*.json tools/kllm/*.tsv tools/kllm/*.json tools/kreport/*.css tools/kreport/*.page) $(shell find prompts pages views campaigns skills -type f \
	-not -path '*/trials/*' -not -path '*/.run/*' -not -name campaign.mk -not -path '*/rounds/*' -not -path '*/logs/*' -not -name '.*' 2>/dev/null)
MAN1 := $(wildcard tools/*.1 tools/*/*.1 adopt/*.1)
MAN5 := $(wildcard docs/*.5)
MAN7 := $(wildcard docs/*.7)
INSTALL ?= install
install: all
	$(INSTALL) -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/libexec/kiln'
	$(INSTALL) $(TOOLS:%=$O/%) '$(DESTDIR)$(PREFIX)/bin'
	$(INSTALL) $(HELPERS:%=$O/%) $O/kwatch.so '$(DESTDIR)$(PREFIX)/libexec/kiln'
	$(INSTALL) -d '$(DESTDIR)$(MANDIR)/man1' '$(DESTDIR)$(MANDIR)/man5' '$(DESTDIR)$(MANDIR)/man7'
	$(if $(MAN1),$(INSTALL) -m 644 $(MAN1) '$(DESTDIR)$(MANDIR)/man1')
	$(if $(MAN5),$(INSTALL) -m 644 $(MAN5) '$(DESTDIR)$(MANDIR)/man5')
	$(if $(MAN7),$(INSTALL) -m 644 $(MAN7) '$(DESTDIR)$(MANDIR)/man7')
	$(INSTALL) -d '$(DESTDIR)$(DATADIR)'
	cp --parents $(DATA) '$(DESTDIR)$(DATADIR)'
	$(INSTALL) -d '$(DESTDIR)$(PREFIX)/share/bash-completion/completions' '$(DESTDIR)$(PREFIX)/share/zsh/site-functions'
	$(INSTALL) -m 644 docs/completion/kiln.bash '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/kcampaign'
	for t in $(filter-out kcampaign,$(TOOLS)); do \
		ln -sf kcampaign '$(DESTDIR)$(PREFIX)/share/bash-completion/completions/'$$t || exit 1; done
	$(INSTALL) -m 644 docs/completion/_kiln '$(DESTDIR)$(PREFIX)/share/zsh/site-functions'
uninstall:
	rm -rf '$(DESTDIR)$(DATADIR)' '$(DESTDIR)$(PREFIX)/libexec/kiln'
	rm -f $(TOOLS:%='$(DESTDIR)$(PREFIX)/bin/%') $(TOOLS:%='$(DESTDIR)$(PREFIX)/share/bash-completion/completions/%')
	rm -f $(patsubst %,'$(DESTDIR)$(MANDIR)/man1/%',$(notdir $(MAN1))) $(patsubst %,'$(DESTDIR)$(MANDIR)/man5/%',$(notdir $(MAN5)))
	rm -f $(patsubst %,'$(DESTDIR)$(MANDIR)/man7/%',$(notdir $(MAN7))) '$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_kiln'
