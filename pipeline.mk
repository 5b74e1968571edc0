# SPDX-License-Identifier: Apache-2.0
# The loop of a campaign, for GNU make 4.3; a campaign's Makefile includes it and docs/pipeline.md explains it.
#
# What a person types (trial, campaign, status, …) goes to kcampaign, which holds the campaign's lock, makes the folders,
# and asks make for one trial at a time. The graph in the second half is what it asks for.
MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory --warn-undefined-variables
.SUFFIXES:
.DEFAULT_GOAL := help

here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
KILN_BUILD ?= $(wildcard $(here)/build)
export PATH := $(if $(KILN_BUILD),$(abspath $(KILN_BUILD)):)$(PATH)
export LC_ALL := C
# Every tool asks the kernel to end it with its parent, so nothing outlives a killed make.
export KILN_PIPELINE := 1

ifneq ($(origin FIRST),command line)
#: make trial                        run the next trial; with -j4, four branches at once
#: make trials N=3                   run the next three trials
#: make campaign                     run trials until a stop condition is met, then verify the best kernel
#: make baseline                     measure the reference: round 1 of a linear search
#: make shapes                       propose the shapes for every round of a linear search
#: make status                       show the state of the campaign and the next step
#: make best                         show the best kernel, how fast it is, and how that was measured
#: make report                       write a report of everything: report.html and report.md
#: make records                      write rounds/ and logs/, and make a commit for each accepted round
#: make proof                        check the records against the raw data, and claims for sources
#: make verify                       measure the best kernel again, in turns with the reference and the baselines
#: make views                        make scores, archives and gradients again from the stored evaluations
#: make redo CELL=007/02 FROM=eval   make one candidate again from a stage on, and the views that depend on it
#: make check                        check every field of campaign.json and task.json
.PHONY: help trial trials campaign status best verify views redo check report records proof baseline shapes
N    ?= 1
FROM ?= eval
CELL ?= missing

help:
	@sed -n 's/^#: //p' $(here)/pipeline.mk
trial:
	+@kcampaign run --trials 1
trials:
	+@kcampaign run --trials $(N)
campaign:
	+@kcampaign run
verify views baseline:
	+@kcampaign $@
redo:
	+@kcampaign redo --from $(FROM) $(CELL)
status best check shapes:
	@kcampaign $@
report:
	@kreport
records:
	@kround close
# Decisions, chain, logs and commits, memory, what of the gain is real, and figures in what people read.
proof:
	@kcampaign shapes --check
	@kscore --check -r trials/000/00/eval.ndjson -o .proof trials/*/score.ndjson; code=$$?; rm -f .proof; exit $$code
	@karchive --check
	@kround check
	@kmemory check
	@kaudit --report -o .proof; code=$$?; rm -f .proof; exit $$code
	@kspec check $(wildcard rounds/*.md rounds/*/summary.md logs/*.md memory/v*.json)

else
# From kcampaign: FIRST and LAST trial of the graph, the trial PREV before FIRST, BRANCHES as a list;
# LAUNCHER put before evaluations, ASK (empty: no model is asked for a reply), FEEDBACK (empty: nobody
# is for a digest), BEST to verify, KEY, a further variable that holds a key. A recipe is text for a
# shell, so what may be any text, such as a provider or a path, does not stand in one: the tool reads it
# from campaign.json, or the shell from its environment. LAUNCHER is a command, and does.
#
# Facts (sample, prompt, reply, eval) cost money or cannot be repeated: they hang on order-only prerequisites and are made
# once. Views (coords, audit, score, archive, gradient) are functions of facts and of the rules in trials/.rules: they hang on
# normal prerequisites and may be remade at any time. Tools commit by rename, so make need not delete what it was
# interrupted at, and must not: a reply is precious.
trials   := $(if $(filter $(FIRST),$(LAST)),$(FIRST),$(shell seq -f %03.0f $(FIRST) $(LAST)))
rules    := trials/.rules

# kcampaign writes these; without them, as in the plan of a fresh campaign, everything is still to be made.
$(rules)/classify $(rules)/audit $(rules)/roofline $(rules)/score $(rules)/archive $(rules)/gradient: ;

trials/000/machine.json:
	@$(LAUNCHER) kharness --machine -o $@
.PHONY: preflight
preflight:
	@$(LAUNCHER) keval --preflight
trials/000/00/eval.ndjson: | trials/000/machine.json
	@$(LAUNCHER) keval --thin --reference -o $@
# What the device can do at its best, where kharness can measure that: CEILINGS is the backend, or empty. Then what follows for
# each workload from that, from docs/hardware and from the task.
CEILINGS ?=
ifneq ($(CEILINGS),)
trials/000/ceilings.json: | trials/000/machine.json
	@$(LAUNCHER) kharness --ceilings --backend $(CEILINGS) --threads $(THREADS) -t "$$TASK" -o $@
trials/000/00/eval.ndjson trials/000/roofline.json: | trials/000/ceilings.json
.PRECIOUS: trials/000/ceilings.json
endif
trials/000/roofline.json: trials/000/00/eval.ndjson $(wildcard trials/000/ceilings.json) $(rules)/roofline
	@kspec roofline --tolerant -o $@
trials/000/coords.ndjson: trials/000/00/eval.ndjson $(rules)/classify
	@kclassify --thin -o $@ $<
trials/000/audit.ndjson: trials/000/coords.ndjson $(rules)/audit
	@kaudit --thin -o $@ $<
trials/000/score.ndjson: trials/000/audit.ndjson trials/000/00/eval.ndjson trials/000/roofline.json $(rules)/score
	@kscore --thin -r trials/000/00/eval.ndjson -o $@ $<
trials/000/archive.ndjson: trials/000/score.ndjson $(rules)/archive
	@karchive -o $@ $<
trials/000/gradient.ndjson: trials/000/score.ndjson trials/000/archive.ndjson $(rules)/gradient
	@kgrad -a trials/000/archive.ndjson -o $@ $<

# What earlier campaigns have left, as it stands before the first trial; TIPS says that the campaign asks for it.
TIPS ?=
trials/000/tips.md: | trials/000/machine.json
	@kmemory freeze

# What the campaign remembers. All of it is compared with the facts when a run begins; a trial adds its own record.
.PHONY: memory-all memory-add memory-restart tips-add library-add
memory-all:
	@kmemory build
memory-add:
	@kmemory build v$$(expr $(LAST) + 0)
memory-restart:
	@kmemory restart --due
tips-add:
	@kmemory tips add
library-add:
	@kmemory library
# An answer of another form than the one asked for (status 1) is set aside, and the campaign goes on without it.
memory/compact-$(LAST).ndjson: | memory-add
	@kmemory compact || test $$? -eq 1

# What people read of the rounds, and the commits of those that were accepted.
.PHONY: records
records:
	@kround close

# Trials before which rounds of a linear search failed in a row, so that they need another look at the last accepted program.
EVIDENCE ?=

# Trials before which the best, which anchors their scores, is raced against the reference again.
ANCHORS ?=

# A trial that was begun has as many branches as it was begun with.
folders = $(or $(patsubst %/,%,$(sort $(wildcard trials/$1/[0-9][0-9]/))),$(BRANCHES:%=trials/$1/%))

# In place of a model call where only views are made.
ASK ?=
FEEDBACK ?=
unpaid = echo "$$@: is missing, and views ask no model:" \
	"make redo CELL=$$(patsubst trials/%,%,$$*) FROM=reply makes it" >&2; exit 2

# $1 is a trial, $2 the one before it, $3 its branches' folders.
define trial
$(3:%=%/sample.ndjson): trials/$1/%/sample.ndjson: | trials/$2/archive.ndjson trials/$2/gradient.ndjson
	@ksample --thin --trial $1 --branch $$* -a trials/$2/archive.ndjson -g trials/$2/gradient.ndjson -o $$@
$(3:%=%/prompt.ndjson): %/prompt.ndjson: | %/sample.ndjson trials/000/roofline.json
	@kprompt --thin -o $$@ $$(filter %/sample.ndjson,$$|)
$(if $(TIPS),$(3:%=%/prompt.ndjson): | trials/000/tips.md)
$(if $(filter $1,$(EVIDENCE)),$(3:%=%/sample.ndjson): | trials/$1/evidence.ndjson
trials/$1/evidence.ndjson: | trials/$2/archive.ndjson
	@$$(LAUNCHER) keval --evidence $1 -a trials/$2/archive.ndjson -o $$@
.PRECIOUS: trials/$1/evidence.ndjson)
$(if $(filter $1,$(ANCHORS)),$(3:%=%/eval.ndjson) trials/$1/score.ndjson trials/$1/archive.ndjson: | trials/$1/anchor.ndjson
trials/$1/anchor.ndjson: | trials/$2/archive.ndjson
	@$$(LAUNCHER) keval --anchor $1 -a trials/$2/archive.ndjson -o $$@
.PRECIOUS: trials/$1/anchor.ndjson)
$(3:%=%/reply.ndjson): %/reply.ndjson: | %/prompt.ndjson
	@$(if $(ASK),kllm --thin -o $$@ $$|,$(unpaid))
$(3:%=%/eval.ndjson): %/eval.ndjson: | %/reply.ndjson
	@$$(LAUNCHER) keval --thin -a trials/$2/archive.ndjson -o $$@ $$(filter %/reply.ndjson,$$|)

# What a second model makes of the logs, where the campaign has one. The next trial's samples show it with the program.
$(if $(FEEDBACK),$(3:%=%/digest.ndjson): %/digest.ndjson: | %/eval.ndjson
	@kprompt --digest $$| | kllm --feedback -o $$@ -
trials/$1/archive.ndjson: | $(3:%=%/digest.ndjson)
.PRECIOUS: $(3:%=%/digest.ndjson))

trials/$1/coords.ndjson: $(3:%=%/eval.ndjson) $(rules)/classify
	@kclassify --thin -o $$@ $(3:%=%/eval.ndjson)
trials/$1/audit.ndjson: trials/$1/coords.ndjson $(rules)/audit
	@kaudit --thin -o $$@ $$<
trials/$1/score.ndjson: trials/$1/audit.ndjson trials/$2/archive.ndjson trials/000/00/eval.ndjson trials/000/roofline.json $(rules)/score
	@kscore --thin -r trials/000/00/eval.ndjson -a trials/$2/archive.ndjson -o $$@ $$<
trials/$1/archive.ndjson: trials/$1/score.ndjson trials/$2/archive.ndjson $(rules)/archive
	@karchive -a trials/$2/archive.ndjson -o $$@ $$<
trials/$1/gradient.ndjson: trials/$1/score.ndjson trials/$2/gradient.ndjson trials/$2/archive.ndjson $(rules)/gradient
	@kgrad -g trials/$2/gradient.ndjson -a trials/$2/archive.ndjson -o $$@ $$<
.PRECIOUS: $(foreach f,sample prompt reply eval,$(3:%=%/$f.ndjson)) $(foreach f,coords audit score archive gradient,trials/$1/$f.ndjson)

endef
prev := $(PREV)
$(foreach t,$(filter-out 000,$(trials)),\
	$(eval $(call trial,$t,$(prev),$(call folders,$t)))$(eval prev := $t))

trials/$(LAST)/verify.ndjson: | trials/$(LAST)/archive.ndjson
	@$(LAUNCHER) keval --verify $(BEST) -o $@
.PRECIOUS: trials/000/machine.json trials/000/roofline.json trials/000/00/eval.ndjson $(foreach f,coords audit score archive gradient,trials/000/$f.ndjson) \
	trials/$(LAST)/verify.ndjson

# Keys reach the model call and nothing else. A variable exported to a target is inherited by what is made on its behalf, so
# the prompts, which stand before the replies, get empty ones.
keys    := $(filter %_API_KEY %_AUTH_TOKEN $(KEY),$(.VARIABLES))
unexport $(keys)
define key
$(cells:%=%/reply.ndjson) $(cells:%=%/digest.ndjson) memory/compact-$(LAST).ndjson: export $1 := $$(value $1)
$(cells:%=%/prompt.ndjson) memory-add: export $1 :=

endef
cells   := $(foreach t,$(filter-out 000,$(trials)),$(call folders,$t))
$(foreach k,$(keys),$(eval $(call key,$k)))
endif
