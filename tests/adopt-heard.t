#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kadopt: what the application says about a winner has consequences: it is no longer the incumbent, the next round is
# told, and it is not tried again unasked. And a function keeps its head: default value, attributes, comments.
# shellcheck disable=SC2016,SC2154
. "${0%/*}/lib.sh"
unset ANTHROPIC_API_KEY OPENAI_API_KEY
KILN_LOCK_DIR=$T
export KILN_LOCK_DIR

mkdir heard
cat >heard/k.cpp <<'EOF'
#include "k.hpp"
/* Neighbours, weighed. */
__attribute__((noinline)) void smooth(const float *in, float *out, int n, float w /* of the middle */ = 0.5f)
{
	for (int i = 1; i + 1 < n; i++) {
		float sum = 0;
		for (int r = 0; r < 20; r++)
			sum += (w * in[i] + (1 - w) * (in[i - 1] + in[i + 1])) / 20;
		out[i] = sum;
	}
	out[0] = in[0];
	out[n - 1] = in[n - 1];
}
#include <cstdio>
#include <vector>
int main()
{
	std::vector<float> a(4000), b(4000);
	for (int i = 0; i < 4000; i++)
		a[i] = static_cast<float>(i % 37);
	for (int r = 0; r < 20; r++) {
		smooth(a.data(), b.data(), 4000);
		a.swap(b);
	}
	for (int i = 0; i < 4000; i += 100)
		std::printf("%.4f\n", a[i]);
}
EOF
echo '#pragma once' >heard/k.hpp
cp -r heard one
cp -r heard two
# The last number is the rounding error itself: nearly 0, and another one for every order of summation.
sed -i 's/%.4f/%.9g/; s/% 37/% 37 * 0.37f/' two/k.cpp
cat >>two/k.cpp <<'EOF'
static double exact(int at, int steps)
{
	return steps ? 0.5 * exact(at, steps - 1) + 0.5 * (exact(at - 1, steps - 1) + exact(at + 1, steps - 1)) : at % 37 * 0.37f;
}
static struct last {
	~last()
	{
		std::vector<float> a(40), b(40);
		for (int i = 0; i < 40; i++)
			a[i] = static_cast<float>(i * 0.37f);
		for (int r = 0; r < 4; r++, a.swap(b))
			smooth(a.data(), b.data(), 40);
		std::printf("%.9g\n", a[20] - exact(20, 4));
	}
} last;
EOF
cat >smooth.cpp <<'EOF'
/* Neighbours, weighed: wins. It writes { to[0], to[1], ... }, elements 0...n - 1. */
extern "C" void
smooth(const float *__restrict__ from, float *__restrict__ to, int n, float w)
{
	for (int i = 1; i + 1 < n; i++)
		to[i] = w * from[i] + (1 - w) * (from[i - 1] + from[i + 1]);
	to[0] = from[0];
	to[n - 1] = from[n - 1];
}
EOF

ok 'a winner that the application rejects is rolled back, and that is recorded' '
	exits 0 kadopt adopt -o c -p heard --file k.cpp --kernel smooth --build "g++ -O1 -o app k.cpp" --run "./app >out.txt && ! test -e no" --outputs out.txt --compare float:1e-3 --threads 1 --runs 2 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/smooth.cpp"
	jq -e ".entry.prototype | endswith(\"void smooth(const float *in, float *out, int n, float w = 0.5f)\")" c/task.json
	brisk c
	kcampaign run -c c -n 1 >out; cat out
	exits 10 kadopt integrate -c c --gate 0.98; grep -q "^GATE: the best program, 001/01, takes" out
	exits 10 kadopt integrate -c c --gate 0.98; is SHORT_CIRCUIT "$(jq -r .outcome c/adopt/verdicts.ndjson)"
	# That is not a failure: the search continues from it.
	is "001/01 null" "$(ksample -c c --trial 2 -a c/archive.ndjson | jq -r ".sample | \"\(.incumbent) \(.application)\"")"
	touch heard/no
	exits 1 kadopt integrate -c c; grep -q "^ROLLED BACK" out
	python3 "$KILN_DATA/tests/schemas.py" "$KILN_DATA/docs/schemas" verdict-1 c/adopt/verdicts.ndjson
	jq -es ".[1] | .id == \"001/01\" and .good == false and (.why | contains(\"exited with status 1\"))" c/adopt/verdicts.ndjson
	exits 10 kadopt integrate -c c; grep -q "GATE: 001/01 has failed in the application before" out'
ok 'answers that do not affect results can be changed at any time' '
	exits 0 kadopt adopt -c c --flops "200*n" --compare float:1e-2; grep -q "^stored; the campaign in" out
	jq -e ".flops == \"200*n\"" c/task.json; jq -e ".outputs[0].compare == \"float:1e-2\" and .flops" c/adopt.json
	kadopt check -c c
	exits 2 kadopt adopt -c c --flops "200*q"; grep -q "q" err
	exits 2 kadopt adopt -c c --ncu out; grep -q "does not show which launches belong to a call of smooth" err
	jq ".ncu = \"/gone.csv\"" c/adopt.json >x.json && mv x.json c/adopt.json
	exits 0 kadopt adopt -c c --bytes "8*n"; jq -e ".bytes == \"8*n\"" c/task.json
	jq -e ".flops == \"200*n\"" c/task.json; kadopt check -c c'
ok 'the next round begins without it, and is told why' '
	kcampaign run -c c -n 1 >out; cat out
	jq -es "any(.sample.incumbent? == \"000/00\" and .sample.application[0].id == \"001/01\" and .sample.accepted == [])" c/trials/002/01/sample.ndjson
	(cd c; kprompt trials/002/01/sample.ndjson) | grep -q "put into the application, and failed there"
	karchive -c c --check c/archive.ndjson'
ok 'on request it is put in again: the head stays that of the project, with the names of the winner' '
	rm heard/no
	exits 0 kadopt integrate -c c --again --pairs 9; cat out err; grep -q "^ACCEPTED" out
	grep -qF "__attribute__((noinline)) void smooth(const float *__restrict__ from, float *__restrict__ to, int n, float w /* of the middle */ = 0.5f)" heard/k.cpp
	is 1 "$(grep -cF "Neighbours, weighed. " heard/k.cpp)"
	jq -es "map(.outcome) == [\"SHORT_CIRCUIT\", \"ROLLED_BACK\", \"DEPLOYED\"]" c/adopt/verdicts.ndjson'
ok 'memory, tips and library record it: below the gate, rolled back, deployed' '
	is "SHORT_CIRCUIT ROLLED_BACK DEPLOYED" "$(jq -r "[.application[].outcome] | join(\" \")" c/memory/v1.json)"
	krecords check -c c
	tips=$(find .data -name tips.md); is "SHORT_CIRCUIT ROLLED_BACK DEPLOYED" "$(sed -n "s/^- Takeaway: \([A-Z_]*\): .*/\1/p" "$tips" | xargs)"
	is DEPLOYED "$(jq -r "select(.id == \"001/01\").application" .data/kiln/tips/library/c-*.ndjson)"'
ok 'MAP-Elites uses it, too: no parent, no inspiration, not the best' '
	cp -r heard twin
	cp c/adopt/original/k.cpp twin/k.cpp
	exits 0 kadopt adopt -o m -p twin --file k.cpp --kernel smooth --mode map-elites --build "g++ -O1 -o app k.cpp" --run "./app >out.txt && ! test -e bad" --outputs out.txt --compare float:1e-3 --threads 1 --runs 1 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/smooth.cpp"
	brisk m ".eval.profile = \"off\" | .memory = {enabled: \"off\"}"
	kcampaign run -c m -n 1 >out; cat out
	touch twin/bad
	exits 1 kadopt integrate -c m; grep -q "^ROLLED BACK" out
	(cd m && ksample --trial 2) >sample.json
	jq -e ".sample | .application[0].id == \"001/01\" and .parent.id != \"001/01\" and .incumbent != \"001/01\" and .best == null and (.inspirations | map(.id) | index(\"001/01\") | not)" sample.json
	(cd m; kprompt ../sample.json) | grep -q "put into the application, and failed there"
	mv m/adopt/verdicts.ndjson v; (cd m && ksample --trial 2) | jq -e ".sample.parent.id == \"001/01\" and (.sample.application == null)"; mv v m/adopt/verdicts.ndjson'
ok 'the observation that the campaign rests on is not made again, although the sources have changed' '
	cp c/adopt/observed.ndjson was
	exits 2 kadopt observe -c c; grep -q "the campaign rests on it" err; cmp was c/adopt/observed.ndjson
	exits 2 kadopt observe -c c --force'
ok 'one command: it stops where a person has to decide, continues from there, and ends with the winner in place' '
	exits 2 kadopt go -o g -p one --file k.cpp --kernel rough --build "g++ -O1 -o app k.cpp" --run "./app >out.txt && ! test -e no" --outputs out.txt \
		--compare float:1e-3 --threads 1 --runs 2 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/smooth.cpp"
	grep -q "rough: it is not defined there" err
	exits 0 kadopt adopt -c g --kernel smooth; [ ! -e g/trials/001 ]
	brisk g ".eval.profile = \"off\" | .memory = {enabled: \"off\"} | .stop.trials = 2"
	touch one/no
	exits 1 kadopt go -c g; cat out err; grep -q "^ROLLED BACK" out; cmp one/k.cpp g/adopt/original/k.cpp
	rm one/no; jq -c ".good = true" g/adopt/verdicts.ndjson >x && mv x g/adopt/verdicts.ndjson
	exits 0 kadopt go -c g; cat out err; grep -q "^ACCEPTED: 001/01" out; is 0 "$(grep -c "preflight\|---------- observe" out)"
	exits 0 kadopt go -c g; grep -q "already in place" out'
ok 'digits of floating-point numbers alone: the message has the --compare that allows them, and with it the winner goes in' '
	exits 0 kadopt adopt -o d -p two --file k.cpp --kernel smooth --build "g++ -O1 -o app k.cpp" --run "./app >out.txt" --outputs out.txt \
		--compare exact --threads 1 --runs 1 --proxy 0.0001,10000 --provider "exec:sh $tests_dir/data/adopt/model.sh $T/smooth.cpp"
	brisk d ".eval.profile = \"off\" | .memory = {enabled: \"off\"} | .stop.trials = 1"
	exits 11 kadopt go -c d; cat out err; cmp two/k.cpp d/adopt/original/k.cpp
	command=$(sed -n "s/.* If that is acceptable, run: //p" out); is "kadopt go -c $T/d --compare float" "${command%:*:*}"
	jq -es ".[-1] | .good == false and (.compare | startswith(\"float:\"))" d/adopt/verdicts.ndjson
	exits 10 kadopt integrate -c d; grep -q "failed in the application before" out
	exits 0 kadopt adopt -c d --compare float:1e-12; exits 10 kadopt integrate -c d
	exits 0 $command; cat out; grep -q "^ACCEPTED: 001/01" out
	jq -es "map(.outcome) == [\"ROLLED_BACK\", \"ALLOWED\", \"DEPLOYED\"]" d/adopt/verdicts.ndjson
	python3 "$KILN_DATA/tests/schemas.py" "$KILN_DATA/docs/schemas" verdict-1 d/adopt/verdicts.ndjson'

done_testing
