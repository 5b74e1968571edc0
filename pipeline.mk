# SPDX-License-Identifier: Apache-2.0
# The loop of a campaign, for GNU make 4.3; a campaign's Makefile includes it and docs/pipeline.md explains it.
#
# The targets that a person types (trial, campaign, status, …) go to kcampaign, which holds the campaign's lock, makes
# the folders, and asks make for one trial at a time. It asks for the graph in the second half.
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
#: make watch                        keep report.html up to date in a browser while a campaign runs
#: make records                      write rounds/ and logs/, and make a commit for each accepted round
#: make proof                        check the records against the raw data, and claims for sources
#: make verify                       measure the best kernel again, in turns with the reference and the baselines
#: make views                        make scores, archives and gradients again from the stored evaluations
#: make redo CELL=007/02 FROM=eval   make one candidate again from a stage on, and the views that depend on it
#: make check                        check every field of campaign.json and task.json
.PHONY: help trial trials campaign status best verify views redo check report watch records proof baseline shapes
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
status best check shapes watch:
	@kcampaign $@
report:
	@kreport
records:
	@krecords close
# Commands that check: decisions, chain, logs and commits, memory, how much of the gain is real, and figures in texts
# for people.
proof:
	@kcampaign shapes --check
	@kscore --check -r trials/000/00/eval.ndjson -o .proof trials/*/score.ndjson; code=$$?; rm -f .proof; exit $$code
	@karchive --check
	@krecords check
	@kaudit --report -o .proof; code=$$?; rm -f .proof; exit $$code
	@kspec check $(wildcard rounds/*.md rounds/*/summary.md logs/*.md memory/v*.json)

else
# kcampaign calls this half with the FIRST and LAST trial of the graph, the trial PREV before FIRST, the candidate BEST
# to verify, EVIDENCE and ANCHORS (see below), and ASK, which says which models may be asked for what is missing: none,
# the model for replies, or both, the second one being for digests. The values of campaign.json are in campaign.mk,
# which kcampaign rewrites whenever it changes: BRANCHES as a list; LAUNCHER, put before evaluations; CEILINGS, set if
# the backend has them; THREADS; KEY, another variable that holds a key; TARGET, LINEAR, FEEDBACK, MEMORY: whether they
# exist; RESTART and COMPACT: after how many trials; and STEP, see below. A recipe is text for a shell, so arbitrary
# text, such as a provider or a path, does not appear in one: the tool reads it from campaign.json, or the shell from
# its environment. LAUNCHER is a command, and may appear.
#
# Facts (sample, prompt, reply, eval) cost money or cannot be repeated: they have order-only prerequisites and are made
# once. Views (score, archive, gradient) are functions of facts and of the rules in trials/.rules: they have normal
# prerequisites and may be remade at any time. A score contains coords and audit, so make removes their files. Tools
# commit by rename, so make need not delete a target when it is interrupted, and must not: a reply is precious.
include campaign.mk
# kiln's programs themselves report to kcampaign what they make, and how they end; STEP does it for other programs.
export KILN_TARGET = $@
launch := $(if $(LAUNCHER),$(STEP) env $(LAUNCHER))
# A make inside a recipe is not part of this graph.
MAKEOVERRIDES :=
trials   := $(if $(filter $(FIRST),$(LAST)),$(FIRST),$(shell seq -f %03.0f $(FIRST) $(LAST)))
rules    := trials/.rules

# kcampaign writes these; without them, as in the plan of a fresh campaign, nothing has been made yet.
$(rules)/classify $(rules)/audit $(rules)/roofline $(rules)/score $(rules)/archive $(rules)/gradient: ;

trials/000/machine.json:
	@$(launch) kharness --machine -o $@
.PHONY: preflight
preflight:
	@$(launch) keval --preflight
# A target that the known figures of the device cannot support is refused before anything is measured.
trials/000/00/eval.ndjson: | trials/000/machine.json
	@$(if $(TARGET),kspec roofline >/dev/null)
	@$(launch) keval --thin --reference -o $@
# The best that the device can do, if kharness can measure that; not remade after the reference of a campaign that has
# begun. Then the bounds of each workload, from these figures, docs/hardware and the task.
ifneq ($(and $(CEILINGS),$(if $(wildcard trials/000/00/eval.ndjson),$(wildcard trials/000/ceilings.json),new)),)
trials/000/ceilings.json: | trials/000/machine.json
	@$(launch) kharness --ceilings --backend $(CEILINGS) --threads $(THREADS) -t "$$TASK" -o $@
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
	@karchive --thin -o $@ $<
trials/000/gradient.ndjson: trials/000/score.ndjson trials/000/archive.ndjson $(rules)/gradient
	@kgrad --thin -a trials/000/archive.ndjson -o $@ $<

# What earlier campaigns have left, frozen before the first trial together with the memory.
trials/000/tips.md: | trials/000/machine.json
	@krecords freeze

# Records of the rounds are kept at six moments: when a run begins; when only views are made; when the shapes of a
# linear search have been chosen; before and after a trial; and when the campaign is over. LAST is complete. The records
# and commits of rounds come first, because the memory names them; the shapes of a linear search may be changed until
# they are written down, and only then is round 1 closed.
.PHONY: at-begin at-views at-round at-before at-after at-end records memory-all memory-add memory-restart tips-add library-add
searched := $(filter-out 000,$(LAST))
# A line of the seal records that.
frozen   := $(findstring "kind":"frozen",$(file <seal.ndjson))
records  := $(if $(and $(LINEAR),$(frozen)),records)
# The whole memory is compared with the facts when a run begins; a trial adds its own record.
memory   := $(if $(MEMORY),memory-$(if $(and $(filter at-after,$(MAKECMDGOALS)),$(filter-out 001,$(searched))),add,all))
compact  := $(if $(and $(MEMORY),$(COMPACT),$(searched)),$(if $(filter 0,$(shell expr $(LAST) % $(COMPACT))),memory/compact-$(LAST).ndjson))
at-begin: $(records) $(memory) $(compact)
at-views: $(records) $(memory)
at-round: $(records)
at-before: $(if $(and $(MEMORY),$(RESTART),$(searched)),memory-restart)
at-after: $(records) $(memory) $(compact) $(if $(and $(MEMORY),$(searched)),tips-add)
at-end: $(if $(and $(MEMORY),$(searched)),library-add)

records:
	@krecords close
memory-all memory-add tips-add: | $(records)
memory-all:
	@krecords remember
memory-add:
	@krecords remember v$$(expr $(LAST) + 0)
memory-restart:
	@krecords restart --due
tips-add:
	@krecords tips add
library-add:
	@krecords library
# An answer in another form than requested (status 1) is renamed, and the campaign continues without it.
memory/compact-$(LAST).ndjson: | $(memory)
	@$(STEP) sh -c 'krecords compact || test $$? -eq 1'

# Trials before which several rounds of a linear search failed in a row, so that the last accepted program must be
# examined again.
EVIDENCE ?=

# Trials before which the best program, which anchors their scores, is raced against the reference again.
ANCHORS ?=

# A trial that has begun keeps its number of branches.
folders = $(or $(patsubst %/,%,$(sort $(wildcard trials/$1/[0-9][0-9]/))),$(BRANCHES:%=trials/$1/%))

# Instead of a model call, when only views are made.
ASK ?= nobody
unpaid = $(STEP) sh -c 'echo "$$@: is missing, and views ask no model:" \
	"make redo CELL=$$(patsubst trials/%,%,$$*) FROM=reply makes it" >&2; exit 2'

# One program makes the samples of all branches, and another one their prompts: those that are missing.
missing = $(filter-out $(wildcard $(1:%=%/$2.ndjson)),$(1:%=%/$2.ndjson))
define grouped
$(if $1,$1 &: | $2
	@$3)
endef

# $1 is a trial, $2 the one before it, $3 its branches' folders.
define trial
$(call grouped,$(call missing,$3,sample),trials/$2/archive.ndjson trials/$2/gradient.ndjson,\
	ksample --thin --trial $1 -a trials/$2/archive.ndjson -g trials/$2/gradient.ndjson \
		--branch '$(patsubst trials/$1/%/sample.ndjson,%,$(call missing,$3,sample))')
$(call grouped,$(call missing,$3,prompt),$(3:%=%/sample.ndjson) trials/000/roofline.json,\
	kprompt --thin $(patsubst %/prompt.ndjson,%/sample.ndjson,$(call missing,$3,prompt)))
$(if $(MEMORY),$(3:%=%/prompt.ndjson): | trials/000/tips.md)
$(if $(filter $1,$(EVIDENCE)),$(3:%=%/sample.ndjson): | trials/$1/evidence.ndjson
trials/$1/evidence.ndjson: | trials/$2/archive.ndjson
	@$$(launch) keval --evidence $1 -a trials/$2/archive.ndjson -o $$@
.PRECIOUS: trials/$1/evidence.ndjson)
$(if $(filter $1,$(ANCHORS)),$(3:%=%/eval.ndjson) trials/$1/score.ndjson trials/$1/archive.ndjson: | trials/$1/anchor.ndjson
trials/$1/anchor.ndjson: | trials/$2/archive.ndjson
	@$$(launch) keval --anchor $1 -a trials/$2/archive.ndjson -o $$@
.PRECIOUS: trials/$1/anchor.ndjson)
$(3:%=%/reply.ndjson): %/reply.ndjson: | %/prompt.ndjson
	@$(if $(filter-out nobody,$(ASK)),kllm --thin -o $$@ $$|,$(unpaid))
$(3:%=%/eval.ndjson): %/eval.ndjson: | %/reply.ndjson
	@$$(launch) keval --thin -a trials/$2/archive.ndjson -o $$@ $$(filter %/reply.ndjson,$$|)

# A second model's summaries of the logs, if the campaign has one. The next trial's samples show them with the program.
$(if $(and $(FEEDBACK),$(filter both,$(ASK))),$(3:%=%/digest.ndjson): %/digest.ndjson: | %/eval.ndjson
	@$(STEP) sh -c 'kprompt --digest $$| | kllm --feedback -o $$@ -'
trials/$1/archive.ndjson: | $(3:%=%/digest.ndjson)
.PRECIOUS: $(3:%=%/digest.ndjson))

trials/$1/coords.ndjson: $(3:%=%/eval.ndjson) $(rules)/classify
	@kclassify --thin -o $$@ $(3:%=%/eval.ndjson)
trials/$1/audit.ndjson: trials/$1/coords.ndjson $(rules)/audit
	@kaudit --thin -o $$@ $$<
trials/$1/score.ndjson: trials/$1/audit.ndjson trials/$2/archive.ndjson trials/000/00/eval.ndjson trials/000/roofline.json $(rules)/score
	@kscore --thin -r trials/000/00/eval.ndjson -a trials/$2/archive.ndjson -o $$@ $$<
trials/$1/archive.ndjson: trials/$1/score.ndjson trials/$2/archive.ndjson $(rules)/archive
	@karchive --thin -a trials/$2/archive.ndjson -o $$@ $$<
trials/$1/gradient.ndjson: trials/$1/score.ndjson trials/$2/gradient.ndjson trials/$2/archive.ndjson $(rules)/gradient
	@kgrad --thin -g trials/$2/gradient.ndjson -a trials/$2/archive.ndjson -o $$@ $$<
.PRECIOUS: $(foreach f,sample prompt reply eval,$(3:%=%/$f.ndjson)) $(foreach f,score archive gradient,trials/$1/$f.ndjson)
.INTERMEDIATE: trials/$1/coords.ndjson trials/$1/audit.ndjson

endef
prev := $(PREV)
$(foreach t,$(filter-out 000,$(trials)),\
	$(eval $(call trial,$t,$(prev),$(call folders,$t)))$(eval prev := $t))

trials/$(LAST)/verify.ndjson: | trials/$(LAST)/archive.ndjson
	@$(launch) keval --verify $(BEST) -o $@
.PRECIOUS: trials/000/machine.json trials/000/roofline.json trials/000/00/eval.ndjson $(foreach f,score archive gradient,trials/000/$f.ndjson) \
	trials/$(LAST)/verify.ndjson
.INTERMEDIATE: trials/000/coords.ndjson trials/000/audit.ndjson

# Keys reach the model call and nothing else. Variables exported to a target are inherited by its prerequisites, so the
# prompts, which are made before the replies, get empty ones.
keys    := $(filter %_API_KEY %_AUTH_TOKEN $(KEY),$(.VARIABLES))
unexport $(keys)
define key
$(cells:%=%/reply.ndjson) $(cells:%=%/digest.ndjson) memory/compact-$(LAST).ndjson: export $1 := $$(value $1)
$(cells:%=%/prompt.ndjson) $(memory) $(records): export $1 :=

endef
cells   := $(foreach t,$(filter-out 000,$(trials)),$(call folders,$t))
$(foreach k,$(keys),$(eval $(call key,$k)))
endif
