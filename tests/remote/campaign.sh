# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# A campaign of real kernels whose times are a line of their source, so that nothing in it is left to the machine's mood but what is
# about the run itself: it can be made in several places and compared.

# reply CELL NS FLAGS...: the recorded reply of a cell: the task's reference changed by sed's FLAGS, with its time on top.
reply() {
	mkdir -p "replies/${1%/*}"
	{ printf '```c\n/* ns %s */\n' "$2" && sed "$3" reference.c && echo '```'; } |
		jq -Rsc '{text: ., finish: "stop", model: "recorded", usage: {input_tokens: 10, output_tokens: 10}}' >"replies/$1.ndjson"
}

# small_campaign FOLDER LAUNCHER: two trials of four branches: parallel, wrong, not C, no code, vectors, a twin, a crash.
small_campaign() {
	kcampaign new "$1" --task "$KILN_DATA/tests/tasks/affine" >/dev/null
	(
		cd "$1" || exit
		jq --arg launcher "$2" '.name = "small" | .model = {provider: "replay"} | .stop = {trials: 2, patience: 0}
			| .eval = {launcher: $launcher, seeds: 1, threads: 1, timing: {format: "json", command:
				"sed -n \"s@^/[*] ns \\([0-9]*\\) .*@{\\\"timing\\\":[{\\\"workload\\\":\\\"main\\\",\\\"samples_ns\\\":[\\1]}]}@p\" \"$KILN_CODE\""}}' \
			campaign.json >new.json
		mv new.json campaign.json
		sed '1i /* ns 100000 */' "$KILN_DATA/tests/tasks/affine/reference.c" >reference.c
		reply 001/01 50000 '1d; s/^\tfor (.*rows.*/#pragma omp parallel for\n&/'
		reply 001/02 80000 '1d; s/scale \*/1 + &/'
		reply 001/03 80000 '1d; s/;/,/'
		reply 001/04 70000 '1d; s/int64_t j = 0; j < cols; j++/int64_t j = cols; j-- > 0;/'
		reply 002/01 20000 '1d; s/^\t\tfor (.*cols.*/#pragma omp simd\n&/'
		reply 002/02 50000 '1d; s/^\tfor (.*rows.*/#pragma omp parallel for\n&/'
		reply 002/03 10000 '1d; s/^{/{\n\t__builtin_trap();/'
		jq -c '.text = "Nothing comes to mind."' replies/001/01.ndjson >replies/002/04.ndjson
	)
}

# same_campaign A B: what both have found is the same: every archive and gradient byte for byte; of every candidate where it came from
# and where it was sent, its verdict and what followed from it. Left out: moments, durations, load, seeds, and the errors that depend on
# the seed, as the distributions of some cases do.
same_campaign() {
	for view in archive gradient; do
		for trial in 000 001 002; do
			cmp "$1/trials/$trial/$view.ndjson" "$2/trials/$trial/$view.ndjson" || return 1
		done
	done
	for folder in "$1" "$2"; do
		for id in 001/01 001/02 001/03 001/04 002/01 002/02 002/03 002/04; do
			[ ! -e "$folder/trials/$id" ] || kcampaign record -c "$folder" "$id"
		done | jq -cS '{id, sample: (.sample | {strategy, parent: .parent.id, incumbent, target, inspirations: [.inspirations[]?.id]}),
			eval: (.eval | {status, tier, code_sha256, tokens, duplicate_of, files, timing, sandbox, build: .build.command,
				cases: ([.correctness.cases[]? | {workload, ok}] | unique), reasons: [.reasons[]?.check]}),
			coords, audit, score}' >"$folder/found"
	done
	diff "$1/found" "$2/found"
}

# kinds: campaigns whose evaluations read more than a task and its reference: one with an oracle and a
# baseline, one whose task lies in the other's folder, one with commands of its own.
kinds() {
	for c in softmax softmax_linear; do
		shipped $c
		make_small $c
	done
	kcampaign new own --task "$KILN_DATA/tests/tasks/affine" >/dev/null
	mkdir own/judge
	echo 'gcc -O1 -shared -fPIC -o candidate.so candidate.c' >own/judge/build.sh
	echo 'test -s candidate.so && grep -q affine task.json && grep -q good judge/word' >own/judge/check.sh
	echo "echo '{\"timing\":[{\"workload\":\"main\",\"samples_ns\":[5000]}]}'" >own/judge/time.sh
	echo good >own/judge/word
	edit own/campaign.json '.eval = {build: {command: "sh judge/build.sh", files: ["judge/build.sh"]},
		correctness: {command: "sh judge/check.sh", files: ["judge/check.sh", "judge/word"]},
		timing: {format: "json", command: "sh judge/time.sh", files: ["judge/time.sh"]}}'
}

# adopted: a campaign made of a function of an application.
adopted() {
	cp -r "$KILN_DATA/tests/apps/heat" heat
	printf 'die 128 128 9\n' >heat/some.conf
	kcampaign adopt -o adopted -p heat --file src/diffuse.c --kernel heat_diffuse --build make \
		--run './heat -n 2 some.conf heat.out' --outputs heat.out --threads 1 --runs 2 --top 1 \
		--proxy 0.0001,10000 >adopt.log 2>&1 || cat adopt.log
	edit adopted/task.json "del(.workloads[].values)"
	make_small adopted
}

# kinds_by WAY...: they come to what they should by that way; so does an adopted one, where there is one.
kinds_by() {
	for c in softmax softmax_linear; do
		"$@" keval -c $c --reference -o "$c.out"
		is "correct 5000 openmp" \
			"$(jq -r '.eval | "\(.status) \(.timing[0].median_ns) \(.baselines[0].name)"' "$c.out")"
	done
	"$@" keval -c softmax_linear softmax_linear/replies/001/01.ndjson -o out
	is correct "$(jq -r .eval.status out)"
	if [ -e adopted ]; then
		"$@" keval -c adopted --reference -o out
		is correct "$(jq -r .eval.status out)"
	fi
	"$@" keval -c own --code own/reference.c -o out
	is "correct 5000" "$(jq -r '.eval | "\(.status) \(.timing[0].median_ns)"' out)"
}
